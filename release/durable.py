"""Writes that survive a crash: temporary name, fsync, rename, fsync of the folder; and errors a person can act on."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from ..report.errors import BadInput

CHUNK = 1 << 20
# A draft older than this belongs to a run that was killed; a younger one may be at work on another machine.
STALE_SECONDS = 24 * 3600
DRAFT = ".draft-"

_HINTS = {
    errno.ENOSPC: "free some space and run the same command again",
    errno.EDQUOT: "free some of your quota and run the same command again",
    errno.EFBIG: "raise the file size limit (ulimit -f) and run the same command again",
    errno.EACCES: "give this user {} access and run the same command again",
    errno.EPERM: "give this user {} access and run the same command again",
    errno.EROFS: "mount it writable, or choose another place",
    errno.ENOENT: "check that it is there, and that nothing removes it meanwhile",
    errno.EMFILE: "raise the limit of open files (ulimit -n) and run the same command again",
    errno.EIO: "the disk reports an error: check it before anything else",
}

_WORKERS = 4
_WORTH_THREADS = 8 << 20

Progress = Callable[[int], None]
Item = TypeVar("Item")
Result = TypeVar("Result")


def quiet(_: int) -> None:
    """The progress callback of those who do not watch; the others get the bytes done since the last call."""


@contextmanager
def explained(action: str, place: Path) -> Generator[None]:
    """Turn an operating system error inside the block into BadInput that names the file and the next step."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = _HINTS.get(error.errno or 0, "look at this path: ls -ld, then run the same command again")
        hint = hint.format("read" if action.startswith("read") else "write")
        raise BadInput(error.filename or place, f"cannot {action}: {reason}", hint=hint) from error


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(folder: Path) -> None:
    """Make a folder and those above it that are missing, each durable before the next."""
    missing: list[Path] = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        sync_folder(path.parent)


def sync_tree(folder: Path) -> None:
    """Make the names in a folder and all folders below it durable; files are synced when they are written."""
    for inner, _, _ in os.walk(folder):
        sync_folder(Path(inner))


def write(path: Path, data: bytes, *, mode: int = 0o644, drafts: Path | None = None) -> None:
    """Replace a whole file or nothing: a reader sees the old bytes or the new ones. `drafts` is a folder of the same
    file system where the draft is made, instead of beside the file."""
    draft = new_draft(drafts or path.parent)
    try:
        with draft.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        draft.chmod(mode)
        draft.replace(path)
    except BaseException:  # a half-written draft must go whatever ended the write, Ctrl-C included
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def new_draft(folder: Path) -> Path:
    """A new empty file whose name begins with a dot, so that watchers of the folder leave it alone."""
    descriptor, name = tempfile.mkstemp(prefix=DRAFT, dir=folder)
    os.close(descriptor)
    return Path(name)


@contextmanager
def draft_folder(parent: Path) -> Generator[Path]:
    """A folder to build in, gone after the block unless the block renamed it."""
    folder = Path(tempfile.mkdtemp(prefix=DRAFT, dir=parent))
    try:
        yield folder
    finally:
        remove(folder)


def remove(folder: Path) -> None:
    """Remove a draft, whatever is in it. What cannot be removed stays: it is hidden and swept later."""
    shutil.rmtree(folder, ignore_errors=True)


def sweep(parent: Path) -> None:
    """Remove drafts that killed runs left in a folder a day ago or more."""
    with suppress(OSError):
        for entry in os.scandir(parent):
            if (
                entry.name.startswith(DRAFT)
                and time.time() - entry.stat(follow_symlinks=False).st_mtime > STALE_SECONDS
            ):
                if entry.is_dir(follow_symlinks=False):
                    remove(Path(entry.path))
                else:
                    Path(entry.path).unlink(missing_ok=True)


def hash_file(path: Path, progress: Progress = quiet) -> tuple[str, int]:
    """SHA-256 as `sha256:<hex>` and the size in bytes of a regular file.

    Raises BadInput when the file changed while it was read: a digest of two halves of two versions is of neither.
    """
    with _opened(path) as source:
        return _pump(source, None, path, progress)


def copy_file(source_path: Path, target: Path, progress: Progress = quiet) -> tuple[str, int]:
    """Copy a regular file to a new name, synced, and return the digest and size of what was copied."""
    with _opened(source_path) as source, target.open("xb", buffering=0) as sink:
        result = _pump(source, sink.fileno(), source_path, progress)
        os.fsync(sink.fileno())
        return result


@contextmanager
def _opened(path: Path) -> Generator[int]:
    # O_NONBLOCK: opening a FIFO must not hang; it changes nothing for regular files.
    with explained("read", path):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise BadInput(path, "not a regular file", hint="leave pipes, sockets and devices out of a model")
        yield descriptor
    finally:
        os.close(descriptor)


def _pump(source: int, sink: int | None, path: Path, progress: Progress) -> tuple[str, int]:
    before = os.fstat(source)
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(CHUNK))
    size = 0
    while count := os.readv(source, [buffer]):
        digest.update(buffer[:count])
        if sink is not None:
            write_all(sink, buffer[:count])
        size += count
        progress(count)
    after = os.fstat(source)
    if size != before.st_size or (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise BadInput(path, "changed while it was read", hint="stop what writes to it and run the command again")
    return f"sha256:{digest.hexdigest()}", size


def write_all(descriptor: int, data: memoryview) -> None:
    """Write every byte: `os.write` may stop short."""
    while data:
        data = data[os.write(descriptor, data) :]


def each(work: Callable[[Item], Result], items: Sequence[Item], size: int) -> list[Result]:
    """`work` on every item, in order of items; on several threads when `size`, the bytes in all, is worth it (hashing
    and copying run outside the interpreter's lock). The first error stops what has not begun and is raised."""
    workers = min(_WORKERS, os.cpu_count() or 1, len(items))
    if workers < 2 or size < _WORTH_THREADS:
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:  # Ctrl-C too: what has not begun must not begin
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def ensure_space(place: Path, size: int) -> None:
    """Raise BadInput when the file system at `place` has less than `size` bytes free: say so before the copy."""
    free = shutil.disk_usage(place).free
    if size > free:
        raise BadInput(
            place,
            f"not enough space: {human_size(size)} needed, {human_size(free)} free",
            hint=_HINTS[errno.ENOSPC],
        )


def human_size(size: float) -> str:
    """Bytes with a decimal unit, such as 2.3 MB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def read_bounded(path: Path, limit: int) -> bytes:
    """The bytes of a small file. Raises BadInput when it is larger than `limit` bytes or not a regular file."""
    with _opened(path) as descriptor:
        size = os.fstat(descriptor).st_size
        if size > limit:
            reason = f"{human_size(size)}, more than the {human_size(limit)} such a file may have"
            raise BadInput(path, reason, hint="this is not a file that interlock wrote: restore it from a backup")
        data = os.read(descriptor, limit + 1)
        while len(data) < size and (more := os.read(descriptor, limit + 1 - len(data))):
            data += more
        return data
