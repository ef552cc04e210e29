"""One line on stderr that says what is being measured: on a terminal only, erased at the end."""

from __future__ import annotations

import sys
from types import TracebackType


class Ticker:
    """A progress callback for texts, used as a context manager."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> Ticker:
        return self

    def __call__(self, text: str) -> None:
        """Show `text` in place of the last one."""
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
