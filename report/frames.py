"""Code frames: the source line a finding points at, with carets under what is meant."""

from __future__ import annotations

import stat
from itertools import islice
from pathlib import Path
from unicodedata import east_asian_width

from .finding import Location
from .style import Style, printable

_MAX_LINE = 140
_MAX_FILE = 16 * 1024 * 1024


class Frames:
    """Draws frames; keeps the lines of the file read last, since findings come sorted by file."""

    def __init__(self) -> None:
        self._path = ""
        self._lines: list[str] = []

    def frame(self, where: Location, style: Style) -> list[str]:
        """The line with a caret run under it; nothing where the source is not a text file that can be read again."""
        if where.line is None or (source := self._source(where.path, where.line)) is None:
            return []
        number = str(where.line)
        column = where.column if where.column is not None and 1 <= where.column <= len(source) else None
        # A long line is shown around the column, so that the carets are in sight.
        start = max(0, column - _MAX_LINE // 2) if column is not None and column > _MAX_LINE - 20 else 0
        shown = source[start : start + _MAX_LINE]
        before, after = "…" if start else "", "…" if start + _MAX_LINE < len(source) else ""
        lines = [f" {style(number, 'blue')} {style('|', 'blue')} {before}{printable(shown)}{after}"]
        if column is not None:
            same = where.end_line in (None, where.line)
            end = where.end_column if where.end_column is not None and same else len(source) + 1
            pad = len(before) * " " + _blank(shown[: column - 1 - start])
            meant = shown[column - 1 - start : max(column, end - 1) - start]
            lines.append(f" {' ' * len(number)} {style('|', 'blue')} {pad}{style('^' * _width(meant), 'yellow')}")
        return lines

    def _source(self, path: str, line: int) -> str | None:
        if path != self._path:
            self._path, self._lines = path, []
        if len(self._lines) < line:
            self._lines = _read(path, line + 500)
        return self._lines[line - 1] if 1 <= line <= len(self._lines) else None


def _read(path: str, lines: int) -> list[str]:
    """The first lines of a regular file of moderate size; none otherwise.

    The frame is an extra: the finding itself was made from a read that worked (stdin, an archive, a rendered chart).
    """
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_FILE:
            return []
        with Path(path).open(encoding="utf-8-sig", errors="replace") as stream:
            return [text.rstrip("\r\n") for text in islice(stream, lines)]
    except (OSError, ValueError):
        return []


def _blank(text: str) -> str:
    """Blanks as wide as the text; tabs stay tabs."""
    return "".join("\t" if c == "\t" else " " * _width(c) for c in text)


def _width(text: str) -> int:
    """Terminal columns of a text as `printable` shows it."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in printable(text))
