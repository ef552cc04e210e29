"""What every source starts from: one file's text, and the error for what cannot be read."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from ....report.finding import Location

MAX_BYTES = 16 * 2**20
"""Larger files are not read: the largest hand-written manifest seen in public repositories has 0.2 MB."""
_LARGE = f"larger than {MAX_BYTES // 2**20} MiB"
STDIN = "<stdin>"
"""The path of standard input wherever one is shown; on the command line it is `-`."""


class Unreadable(Exception):
    """A file that cannot be read as what it claims to be; becomes an HU000 notice, never a crash or a pass."""

    def __init__(self, reason: str, *, line: int | None = None, column: int | None = None, hint: str = "") -> None:
        self.reason = reason
        self.line = line
        self.column = column
        self.hint = hint
        super().__init__(reason)


@dataclass
class TextFile:
    """A file's text under the path that reports show.

    `origin` maps a line of rendered text back to (path, line) of the template it came from. `notices` collects what
    was odd but did not stop the reading. `template` marks a Helm template read without its values, with `holes` where
    blocks are poured in.
    """

    path: str
    text: str
    origin: Callable[[int], tuple[str, int]] | None = None
    notices: list[Unreadable] = field(default_factory=list[Unreadable])
    holes: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    template: bool = False

    @cached_property
    def lines(self) -> list[str]:
        """The lines as YAML and editors count them, without their ends."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def location(
        self,
        line: int,
        column: int | None = None,
        end_line: int | None = None,
        end_column: int | None = None,
        *,
        object: str = "",  # noqa: A002
        pointer: str = "",
    ) -> Location:
        """A location in this file; in rendered text it points into the template, where only the line is known."""
        if self.origin is None:
            return Location(self.path, line, column, end_line, end_column, object, pointer)
        path, template_line = self.origin(line)
        return Location(path, template_line, object=object, pointer=pointer)


def read_bytes(path: str) -> bytes:
    """A file, or standard input for STDIN. Raises Unreadable on what is too large or special."""
    if path == STDIN:
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
    else:
        status = os.stat(path)  # noqa: PTH116 - pathlib costs ten times as much, for tens of thousands of files
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("not a regular file")
        if status.st_size > MAX_BYTES:
            raise Unreadable(_LARGE, hint="leave it out with lint.exclude")
        with open(path, "rb") as stream:  # noqa: PTH123
            data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise Unreadable(_LARGE, hint="lint its parts")
    return data


def decode(data: bytes) -> str:
    """Bytes as text: UTF-8 with or without BOM, or UTF-16 with BOM. Raises Unreadable."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"not UTF-8 at byte {error.start}", line=line, hint="save the file as UTF-8") from error
    nul = text.find("\0")
    if nul >= 0:
        raise Unreadable("holds NUL bytes: not a text file", line=text.count("\n", 0, nul) + 1)
    return text
