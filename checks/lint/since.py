"""The tree as it was at a Git revision, to tell what a change introduced."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ...report.errors import BadInput
from ...report.finding import Finding
from . import baseline


@dataclass(frozen=True)
class Earlier:
    """What `paths` were at a revision: the folder that holds them now, those that existed then, the root of the working
    tree, and where files have moved since, from old to new path below the root."""

    folder: str
    paths: list[str]
    root: str
    moved: Mapping[str, str]

    def count(self, findings: Iterable[Finding]) -> Counter[str]:
        """The findings of the earlier tree as a baseline of today's: a file that moved keeps what it had."""
        return baseline.count((self._today(finding) for finding in findings), self.folder)

    def _today(self, finding: Finding) -> Finding:
        where = finding.where
        new = self.moved.get(os.path.relpath(where.path, self.folder)) if where and self.moved else None
        return replace(finding, where=replace(where, path=str(Path(self.folder, new)))) if where and new else finding


@contextmanager
def checkout(revision: str, paths: Sequence[str]) -> Generator[Earlier]:
    """What `paths` were at `revision`; the folder that holds it goes away afterwards.

    Raises BadInput outside a Git working tree and on an unknown revision.
    """
    if "-" in paths:
        raise BadInput(f"--since {revision}", "standard input has no revision", hint="give files or folders")
    start = paths[0] if paths else "."
    folder = start if Path(start).is_dir() else str(Path(start).parent)
    root = _git(folder, ["rev-parse", "--show-toplevel"], revision).decode().strip()
    verify = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    commit = _git(root, verify, revision).decode().strip()
    inside = [os.path.relpath(Path(path).resolve(), Path(root).resolve()) for path in paths]
    for given, path in zip(paths, inside, strict=True):
        if path.startswith(".."):
            raise BadInput(given, f"outside the Git working tree {root}", hint="lint its repository on its own")
    with TemporaryDirectory(prefix="interlock-since-") as temporary:
        moved = {old: new for old, new in _moved(root, commit, temporary, revision) if _below(new, inside)}
        # What came in from elsewhere had its findings there.
        wanted = [*inside, *(old for old in moved if not _below(old, inside))]
        listed = _git(root, ["ls-tree", "-rz", "--name-only", commit, "--", *wanted], revision)
        names = _names(listed)
        tree = Path(temporary, "tree")
        tree.mkdir()
        if names:
            there = ["--", *_existing(wanted, names)]
            archive = _git(root, ["archive", "--format=tar", commit, *there], revision)
            with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
                tar.extractall(tree, filter="data")
        held = [str(tree / path) for path in wanted]
        yield Earlier(str(tree), [path for path in held if os.path.lexists(path)], root, moved)


def _moved(root: str, commit: str, scratch: str, revision: str) -> list[tuple[str, str]]:
    """(old, new) of every file that was renamed since `commit`, committed or not.

    Git only sees the new name of a file that its index knows, so new files are added to a copy of the index.
    """
    index = Path(root, _git(root, ["rev-parse", "--git-path", "index"], revision).decode().strip())
    copy = Path(scratch, "index")
    if index.is_file():
        shutil.copyfile(index, copy)
    environment = {"GIT_INDEX_FILE": str(copy)}
    _git(root, ["add", "--intent-to-add", "--", "."], revision, environment)
    options = ["-z", "--find-renames", "--diff-filter=R", "--name-status", "--no-relative", "--ignore-submodules"]
    fields = _names(_git(root, ["diff", *options, commit, "--"], revision, environment))
    return list(zip(fields[1::3], fields[2::3], strict=True))


def _names(listed: bytes) -> list[str]:
    return [name for name in listed.decode("utf-8", "surrogateescape").split("\0") if name]


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(folder in (".", path) or path.startswith(folder + "/") for folder in folders)


def _existing(inside: Sequence[str], names: Sequence[str]) -> list[str]:
    """Git refuses a path that the revision does not have."""
    return [path for path in inside if any(_below(name, (path,)) for name in names)]


def _git(folder: str, arguments: list[str], revision: str, environment: Mapping[str, str] | None = None) -> bytes:
    variables = {**os.environ, "LC_ALL": "C", **(environment or {})}
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, check=False, env=variables)
    except FileNotFoundError as error:
        raise BadInput("--since", "git is not installed", hint="install git, or use --baseline") from error
    if done.returncode:
        raise _refusal(revision, Path(folder).resolve(), done.stderr.decode("utf-8", "replace").strip())
    return done.stdout


def _refusal(revision: str, folder: Path, message: str) -> BadInput:
    """What git said, in words that say what to do."""
    what = f"--since {revision}"
    if "not a git repository" in message:
        hint = "lint a clone of the repository, or accept today's findings with --update-baseline"
        return BadInput(what, f"{folder} is not in a git repository", hint=hint)
    if "dubious ownership" in message:
        hint = f"if it is yours: git config --global --add safe.directory {folder}"
        return BadInput(what, f"git does not trust {folder}: it belongs to another user", hint=hint)
    reason = message.splitlines()[0].removeprefix("fatal: ").lower().rstrip(".") if message else "unknown revision"
    hint = "give a commit, branch or tag that exists here; a shallow clone has to fetch it first"
    return BadInput(what, reason, hint=hint)
