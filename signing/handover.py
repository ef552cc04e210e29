"""A private copy that is verified itself: what was hashed is what gets loaded, with no window in between."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ..report.errors import BadInput
from . import atomic
from .hashing import open_listed
from .manifest import SIGNATURE
from .tree import Tree
from .verify import inside

_FICLONE = 0x40049409  # linux/fs.h: share the extents of another file, copied on write
_PIECE = 1 << 30


@contextmanager
def private_copy(tree: Tree, signature: str, target: Path) -> Generator[tuple[Path, str]]:
    """(folder, bundle) of a copy that only this user enters, beside `target`; gone again unless `publish` took it.

    `signature` is the bundle of the original; it comes along as `model.sig` unless the model has a file of that name.
    Raises BadInput where the target is taken or the copy cannot be made.
    """
    if tree.single:
        raise BadInput(tree.path, "is a single file", hint="--into takes a model directory")
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise BadInput(target, "already exists and is not empty", hint="name a new directory")
    draft = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        try:
            draft.mkdir(mode=0o700)
            _fill(tree, draft)
            inner = inside(tree, signature)
            bundle = str(draft / inner) if inner else signature
            if not inner and not (draft / SIGNATURE).exists():
                bundle = str(draft / SIGNATURE)
                shutil.copyfile(signature, bundle)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise BadInput(target, f"the copy cannot be made: {reason}", hint="nothing was left behind") from error
        yield draft, bundle
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def publish(draft: Path, target: Path) -> None:
    """Make the copy durable, readable, and visible under its name at once. Raises BadInput."""
    try:
        for folder, _, files in os.walk(draft, topdown=False):
            for name in files:
                path = Path(folder, name)
                path.chmod(0o444)
                _sync(path)
            atomic.sync_folder(Path(folder))
        draft.chmod(0o755)
        draft.rename(target)
        atomic.sync_folder(target.parent)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadInput(target, f"cannot be made visible: {reason}", hint="nothing was left behind") from error


def _fill(tree: Tree, draft: Path) -> None:
    listing = tree.scan()
    for name, stamp in listing.files.items():
        path = draft / name
        path.parent.mkdir(parents=True, exist_ok=True)
        source = open_listed(tree, name, stamp)
        try:
            with path.open("xb") as stream:
                _copy(source, stream.fileno())
        finally:
            os.close(source)
    # Links and special files come along as what they are, so that verification names them.
    for name, kind in listing.odd.items():
        path = draft / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "symlink":
            path.symlink_to("refused")
        else:
            os.mkfifo(path)


def _copy(source: int, target: int) -> None:
    """Share the blocks where the file system can, else copy them in the kernel, else by hand."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(target, _FICLONE, source)
        return
    try:
        while os.copy_file_range(source, target, _PIECE):
            pass
    except (OSError, AttributeError):
        os.lseek(source, 0, os.SEEK_SET)
        os.ftruncate(target, 0)
        os.lseek(target, 0, os.SEEK_SET)
        while data := os.read(source, 1 << 20):
            view = memoryview(data)
            while view:
                view = view[os.write(target, view) :]


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
