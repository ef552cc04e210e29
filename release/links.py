"""A version as a directory, without its bytes a second time: hard links to blobs.

    <state>/views/<hex>/    made under a lock at the first look, and kept

They are kept because making and removing links changes the times of the blobs, and whoever hashes a file at that moment
would have to say that it changed under its eyes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from . import durable
from .lock import exclusive

_WAIT = 30.0


def view(state: Path, name: str, files: Mapping[str, Path]) -> Path | None:
    """The directory that shows `files` (path inside it to blob), None where it can be neither found nor made: state
    that may not be written, another user's blobs, a file system without links."""
    folder = state / "views" / name
    if _shows(folder, files):
        return folder
    with suppress(OSError):
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(folder.parent, os.W_OK):
            return None
        with exclusive(state / "views.lock", f"view {name[:12]}", doing="linking", wait=_WAIT):
            if not _shows(folder, files):
                _make(folder, files)
        return folder
    return None


def _shows(folder: Path, files: Mapping[str, Path]) -> bool:
    """Whether a folder holds exactly these files, each the very blob: one that was replaced since is another."""
    count = 0
    try:
        if not all((folder / path).samefile(blob) for path, blob in files.items()):
            return False
        for inner, folders, names in os.walk(folder):
            count += len(names) + sum(Path(inner, name).is_symlink() for name in folders)
    except OSError:
        return False
    return count == len(files)


def _make(folder: Path, files: Mapping[str, Path]) -> None:
    durable.sweep(folder.parent)
    with durable.draft_folder(folder.parent) as draft:
        for path, blob in files.items():
            target = draft / "view" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.hardlink_to(blob)
        if folder.exists():
            folder.rename(draft / "old")
        (draft / "view").rename(folder)
