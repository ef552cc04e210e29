"""A remote file read by ranges, kept as a sparse local one: what was read is there, the rest is a hole.

Any reader can run on it first and on the local file after, so that nothing is fetched twice and a header costs a few
requests whatever the size of the file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

from .errors import UnreadableModel

# The first 100 kB hold the header of nearly every safetensors file; later reads are as large as what is asked for.
FIRST = 100_000
BLOCK = 1 << 14
MAX_REQUESTS = 5_000
MAX_BYTES = 256 << 20


class RangeSource:
    """Bytes of `name` through `fetch(offset, length)`, written to `path` at their place.

    `fetch` returns exactly the bytes asked for. Raises UnreadableModel where a header asks for more than
    MAX_REQUESTS requests or MAX_BYTES bytes.
    """

    def __init__(self, name: str, size: int, fetch: Callable[[int, int], bytes], path: Path) -> None:
        self.name = name
        self.size = size
        self.requests = 0
        self.fetched = 0
        self._fetch = fetch
        self._starts: list[int] = []
        self._parts: list[bytes] = []
        self._path = path
        with path.open("wb") as stream:
            stream.truncate(size)

    def read(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`; fewer only at the end."""
        length = min(length, self.size - offset)
        if length <= 0:
            return b""
        i = bisect_right(self._starts, offset) - 1
        if i >= 0 and offset + length <= self._starts[i] + len(self._parts[i]):
            begin = offset - self._starts[i]
            return self._parts[i][begin : begin + length]
        wanted = min(self.size - offset, max(length, BLOCK if self.requests else FIRST))
        self.requests += 1
        self.fetched += wanted
        if self.requests > MAX_REQUESTS or self.fetched > MAX_BYTES:
            reason = f"has a header of more than {MAX_BYTES >> 20} MiB or {MAX_REQUESTS:,} pieces"
            raise UnreadableModel(self.name, reason, offset=offset)
        data = self._fetch(offset, wanted)
        self._starts.insert(i + 1, offset)
        self._parts.insert(i + 1, data)
        with self._path.open("r+b") as stream:
            stream.seek(offset)
            stream.write(data)
        return data[:length]
