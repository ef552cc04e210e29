"""The tree as it was at a Git revision, to tell what a change introduced."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ...report.errors import BadInput


@contextmanager
def checkout(revision: str, paths: Sequence[str]) -> Generator[tuple[str, list[str], str]]:
    """(folder, the paths in it that existed then, root of the working tree) for `revision`; the folder goes away.

    Raises BadInput outside a Git working tree and on an unknown revision.
    """
    if "-" in paths:
        raise BadInput(f"--since {revision}", "standard input has no revision", hint="give files or folders")
    start = paths[0] if paths else "."
    folder = start if Path(start).is_dir() else str(Path(start).parent)
    root = _git(folder, ["rev-parse", "--show-toplevel"], revision).decode().strip()
    commit = _git(root, ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"], revision)
    inside = [os.path.relpath(Path(path).resolve(), Path(root).resolve()) for path in paths]
    for given, path in zip(paths, inside, strict=True):
        if path.startswith(".."):
            raise BadInput(given, f"outside the Git working tree {root}", hint="lint its repository on its own")
    listed = _git(root, ["ls-tree", "-rz", "--name-only", commit.decode().strip(), "--", *inside], revision)
    names = [name for name in listed.decode("utf-8", "surrogateescape").split("\0") if name]
    with TemporaryDirectory(prefix="interlock-since-") as temporary:
        if names:
            archive = _git(
                root, ["archive", "--format=tar", commit.decode().strip(), "--", *_existing(inside, names)], revision
            )
            with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
                tar.extractall(temporary, filter="data")
        there = [str(Path(temporary, path)) for path in inside]
        yield temporary, [path for path in there if os.path.lexists(path)], root


def _existing(inside: Sequence[str], names: Sequence[str]) -> list[str]:
    """Git refuses a path that the revision does not have."""
    return [p for p in inside if p == "." or any(name == p or name.startswith(p + "/") for name in names)]


def _git(folder: str, arguments: list[str], revision: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, check=False)
    except FileNotFoundError as error:
        raise BadInput("--since", "git is not installed", hint="install git, or use --baseline") from error
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = words[0].removeprefix("fatal: ") if words else "unknown revision"
        raise BadInput(
            f"--since {revision}", reason.lower().rstrip("."), hint="give a commit, branch or tag that exists here"
        )
    return done.stdout
