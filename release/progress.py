"""A byte counter on stderr, for a terminal only, and only when the work takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

from .durable import Progress, human_size

_AFTER = 1.0
_EVERY = 0.1


@contextmanager
def watched(doing: str, total: int) -> Generator[Progress]:
    """A progress callback for `total` bytes; the line is erased when the block ends."""
    started = last = time.monotonic()
    done = 0
    shown = False
    terminal = sys.stderr.isatty()

    def progress(count: int) -> None:
        nonlocal done, last, shown
        done += count
        moment = time.monotonic()
        if terminal and moment - started > _AFTER and moment - last > _EVERY:
            last, shown = moment, True
            rate = human_size(done / (moment - started))
            percent = min(100, 100 * done // max(total, 1))
            sys.stderr.write(f"\r\x1b[K{doing} {percent:3d}%  {human_size(done)} of {human_size(total)}  {rate}/s")
            sys.stderr.flush()

    try:
        yield progress
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
