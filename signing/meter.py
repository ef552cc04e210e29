"""How far hashing is, on the terminal's stderr, for anything that takes more than a second."""

from __future__ import annotations

import sys
import threading
import time

_AFTER = 1.0
_EVERY = 0.1


class Meter:
    """Called with (bytes read just now, bytes in all) from several threads; draws one line and wipes it at the end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._start = time.monotonic()
        self._drawn = 0.0
        self._read = 0

    def __call__(self, count: int, total: int) -> None:
        with self._lock:
            self._read += count
            now = time.monotonic()
            done = self._read >= total
            if now - self._start < _AFTER or (now - self._drawn < _EVERY and not done):
                return
            rate = self._read / (now - self._start) / 1e9
            share = self._read / max(total, 1)
            bar = ("#" * round(30 * share)).ljust(30, ".")
            line = f"\r{bar} {share:4.0%} of {total / 1e9:.2f} GB, {rate:.2f} GB/s "
            if done:
                line = "\r" + " " * len(line) + "\r"
                self._start, self._read = now, 0
            self._drawn = now
            sys.stderr.write(line)
            sys.stderr.flush()


def meter() -> Meter | None:
    """A meter where stderr is a terminal, else None."""
    return Meter() if sys.stderr.isatty() else None
