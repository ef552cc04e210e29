"""One writer at a time. The lock is the kernel's (flock), so a killed holder never leaves it behind."""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import json
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ..report.errors import InterlockError
from .durable import explained

_PAUSE = 0.02


def actor() -> str:
    """Who runs this, as `user@host`."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container without a passwd entry
        user = str(os.getuid())
    return f"{user}@{os.uname().nodename}"


def now() -> str:
    """The time in UTC, to the millisecond, as RFC 3339 writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@contextmanager
def exclusive(path: Path, what: str, *, doing: str, wait: float = 0.0) -> Generator[None]:
    """Hold the lock file `path` during the block, waiting up to `wait` seconds for it.

    Raises InterlockError (exit 2) naming `what`, who holds it and since when. The file stays: removing it would let
    two processes lock two files of the same name.
    """
    with explained("lock", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _acquire(descriptor, what, wait)
        holder = {"actor": actor(), "pid": os.getpid(), "doing": doing, "since": now()}
        with explained("lock", path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps(holder).encode(), 0)
        try:
            yield
        finally:
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def held_by(path: Path) -> str:
    """Who holds a lock file now, empty when nobody does. Needs read access only."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder(descriptor)
    else:
        return ""
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, what: str, wait: float) -> None:
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                reason = f"busy: {_holder(descriptor)}"
                raise InterlockError(
                    what, reason, hint="wait until it is done and run it again", code="REL-BUSY"
                ) from None
            time.sleep(_PAUSE)
        else:
            return


def _holder(descriptor: int) -> str:
    with contextlib.suppress(ValueError, KeyError, TypeError):
        holder = json.loads(os.pread(descriptor, 4096, 0))
        return f"{holder['doing']} by {holder['actor']} (process {holder['pid']}) since {holder['since']}"
    return "another interlock is at work"
