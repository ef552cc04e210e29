"""The files of a model directory as they are published: sorted relative paths of regular files."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..report.errors import BadInput, NothingToCheck
from .durable import explained

# The one thing left out. A signature covers everything else that lies in the directory, so everything else is carried.
SKIP_FOLDERS = frozenset({".git"})
# Beside a signed single file lies FILE.sig; it travels with the file.
SIGNATURE_SUFFIX = ".sig"


@dataclass(frozen=True, slots=True)
class File:
    """A file to publish: its path inside the model, where it lies, and its size in bytes."""

    path: str
    source: Path
    size: int


def files_of(model: Path) -> list[File]:
    """Every file of a model directory, or the one file that `model` is and its signature, by path.

    Links to files inside the model are followed; a link that leaves it is refused, because it would publish something
    its author did not put there. Raises BadInput on that, on dangling links, special files, and names that cannot be
    written down portably; NothingToCheck on a directory without files.
    """
    if model.is_file():
        pair = [model, model.with_name(f"{model.name}{SIGNATURE_SUFFIX}")]
        check_path(model.name, str(model))
        return [File(path.name, path, path.stat().st_size) for path in pair if path.is_file()]
    if not model.is_dir():
        reason = "no such file or directory" if not os.path.lexists(model) else "neither a file nor a directory"
        raise BadInput(model, reason, hint="give a model directory, a model file or a reference")
    root = model.resolve()
    found: list[File] = []
    folders = [(root, "")]
    while folders:
        folder, prefix = folders.pop()
        with explained("read", folder), os.scandir(folder) as entries:
            for entry in entries:
                path, here = f"{prefix}{entry.name}", Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIP_FOLDERS:
                        folders.append((here, f"{path}/"))
                    continue
                check_path(path, str(root))
                found.append(File(path, here, _size(here, entry.is_symlink(), root)))
    if not found:
        raise NothingToCheck(model, "the directory holds no files", hint="point at the folder with the weights")
    return sorted(found, key=lambda file: file.path.encode())


def _size(path: Path, link: bool, root: Path) -> int:
    """The size of a regular file, or of the one inside the model that a link points to."""
    try:
        target = path.resolve(strict=True) if link else path
        info = target.stat()
    except (OSError, RuntimeError) as error:
        reason = "dangling or circular link" if link else "vanished while the model was read"
        raise BadInput(path, reason, hint="replace it by the file it should be") from error
    if link and not target.is_relative_to(root):
        raise BadInput(path, f"the link leaves the model: it points to {target}", hint="copy the file into the model")
    if stat.S_ISDIR(info.st_mode):
        raise BadInput(path, "a link to a folder", hint="replace it by the folder: only links to files are followed")
    if not stat.S_ISREG(info.st_mode):
        raise BadInput(path, "not a regular file", hint="leave pipes, sockets and devices out of a model")
    return info.st_size


def check_path(path: str, what: str) -> None:
    """Raise BadInput unless `path` is a plain relative path below the model: what makes `pull` safe on any input."""
    reason = ""
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        raise BadInput(what, f"file name {path!r} is not UTF-8", hint="rename the file") from None
    parts = path.split("/")
    if not path or path.startswith("/"):
        reason = "is not relative"
    elif ".." in parts:
        reason = "leaves the model directory"
    elif "" in parts or "." in parts:
        reason = "is not in its shortest form"
    elif "\\" in path or any(ord(character) < 32 or ord(character) == 127 for character in path):
        reason = "holds a backslash or control character"
    elif any(len(part.encode()) > 255 for part in parts) or len(encoded) > 3000:
        reason = "is too long"
    if reason:
        raise BadInput(what, f"file name {path[:200]!r} {reason}", hint="such a model is neither published nor pulled")


def check_paths(paths: list[str], what: str) -> None:
    """Raise BadInput unless all paths are safe, each stands once, and none is both a file and a folder."""
    seen: set[str] = set()
    for path in paths:
        check_path(path, what)
        if path in seen:
            raise BadInput(what, f"file name {path!r} stands twice", hint="the artefact is damaged: publish it again")
        seen.add(path)
    for path in paths:
        for parent in PurePosixPath(path).parents:
            if str(parent) in seen:
                raise BadInput(what, f"{str(parent)!r} is both a file and a folder", hint="publish the model again")
