"""Where a reader's bytes come from: positioned reads with bounds, so that a header never costs the whole file."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from .errors import UnreadableModel

WINDOW = 4096
# The next step for every file that ends too early; validate tells such files apart by it.
TRUNCATED = "the file is truncated or damaged; fetch it again"


class Source(Protocol):
    """Bytes of a known `size`; `name` is how messages call it."""

    name: str
    size: int

    def read(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`; fewer only at the end."""
        ...


class FileSource:
    """An open file read with pread. Mapping it instead would count its pages as our memory."""

    def __init__(self, descriptor: int, name: str) -> None:
        self.name = name
        self.size = os.fstat(descriptor).st_size
        self._descriptor = descriptor

    def read(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`; fewer only at the end."""
        data = os.pread(self._descriptor, length, offset)
        if len(data) == length or offset + len(data) >= self.size:
            return data
        parts = [data]  # a single pread returns at most 2 GiB, and less on some file systems
        while length > (have := sum(map(len, parts))):
            more = os.pread(self._descriptor, length - have, offset + have)
            if not more:
                break
            parts.append(more)
        return b"".join(parts)


class MemorySource:
    """Bytes at hand."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.size = len(data)
        self._data = data

    def read(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`; fewer only at the end."""
        return self._data[offset : offset + length]


@contextmanager
def open_file(path: str | Path) -> Generator[FileSource]:
    """A file as a source. Raises UnreadableModel where it cannot be opened."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise UnreadableModel(path, (error.strerror or str(error)).lower()) from error
    try:
        yield FileSource(descriptor, str(path))
    finally:
        os.close(descriptor)


class Window:
    """A small moving window over a source: header fields are near each other, so most reads cost no system call.

    It grows while it is moved forward without gaps and shrinks at a jump, so that skipping over weights reads little
    of them. `left` bounds the work: readers count their fields down in it.
    """

    __slots__ = ("_data", "_size", "_start", "left", "source")

    def __init__(self, source: Source, left: int = 4_000_000) -> None:
        self.source = source
        self.left = left
        self._size = WINDOW
        self._data = b""
        self._start = 0

    def near(self, offset: int) -> tuple[bytes, int]:
        """Bytes around `offset` and where they start; at least 32 bytes from `offset` show, or all up to the end."""
        begin = offset - self._start
        if begin < 0 or begin + 32 > len(self._data):
            ahead = begin - len(self._data)
            self._size = min(self._size * 2, 1 << 16) if -32 <= ahead <= WINDOW else WINDOW
            self._data = self.source.read(offset, self._size)
            self._start = offset
        return self._data, self._start

    def take(self, offset: int, length: int) -> bytes:
        """Exactly `length` bytes from `offset`. Raises UnreadableModel where the source ends before."""
        begin = offset - self._start
        if begin >= 0 and begin + length <= len(self._data):
            return self._data[begin : begin + length]
        data = self.source.read(offset, length) if length <= self.source.size - offset else b""
        if len(data) < length:
            raise ends_early(self.source, offset)
        return data


def ends_early(source: Source, offset: int) -> UnreadableModel:
    """The error of a file that ends inside its header."""
    return UnreadableModel(
        source.name,
        f"ends inside its header: it is {source.size:,} bytes long",
        offset=offset,
        hint=TRUNCATED,
    )
