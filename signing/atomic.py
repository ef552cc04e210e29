"""Write a file whole or not at all: a crash or a full disk leaves what was there before."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from ..report.errors import BadInput


def write(path: str | os.PathLike[str], data: bytes, *, mode: int = 0o644, replace: bool = True) -> None:
    """Write beside the target, flush to the disk, then rename. Raises BadInput; the draft never stays behind."""
    target = Path(path)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        with os.fdopen(fd, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if replace:
            draft.replace(target)
        else:
            os.link(draft, target)  # unlike rename, fails where the target exists
        sync_folder(target.parent)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "choose another name; nothing was overwritten" if isinstance(error, FileExistsError) else ""
        raise BadInput(target, f"cannot be written: {reason}", hint=hint or "nothing was left behind") from error
    finally:
        with contextlib.suppress(OSError):  # gone after the rename, or never made
            draft.unlink()


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
