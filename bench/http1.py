"""HTTP/1.1 on the client's side (RFC 9112): one request's bytes, and a parser fed as bytes arrive.

Written for measuring: no redirects, no retries, no decoding; every oddity of an answer is an error with a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

MAX_HEAD = 64 << 10
MAX_BODY = 64 << 20
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*", re.S)
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?")


class Malformed(ValueError):
    """An answer that is not HTTP/1.1, said in a few words."""


def request(method: str, host: str, target: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """The bytes of a request. Host and Content-Length are added."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body or method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


class Response:
    """One answer, parsed as it arrives.

    After `feed` or `end` returned True: `status`, `headers` (names in lower case, repeated ones joined by commas),
    `body`, and `keep_alive`. `started` is True once any byte of the answer arrived.
    """

    def __init__(self, *, head_only: bool = False) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.keep_alive = False
        self.started = False
        self._head_only = head_only
        self._buffer = bytearray()
        self._parts: list[bytes] = []
        self._size = 0
        self._left = 0
        self._state = "head"

    def feed(self, data: bytes) -> bool:
        """Take bytes; True when the answer is complete. Raises Malformed."""
        self.started = self.started or bool(data)
        self._buffer += data
        while self._step():
            if self._state == "done":
                if self._buffer:
                    raise Malformed("bytes after the end of the answer")
                self.body = b"".join(self._parts)
                return True
        return False

    def end(self) -> bool:
        """The connection was closed; True when that is how this answer ends."""
        if self._state != "close":
            return False
        self.body = b"".join(self._parts)
        self._state = "done"
        self.keep_alive = False
        return True

    def _step(self) -> bool:
        """Make progress on the buffer; False when more bytes are needed."""
        match self._state:
            case "head":
                return self._head()
            case "length" | "chunk":
                return self._data()
            case "size":
                return self._chunk_size()
            case "gap":
                line = self._line(2)
                if line is None:
                    return False
                if line:
                    raise Malformed("a chunk that is longer than it said")
                self._state = "size"
                return True
            case "trailer":
                line = self._line(MAX_HEAD)
                if line is None:
                    return False
                if not line:
                    self._state = "done"
                return True
            case "close":
                taken = bool(self._buffer)
                self._take(len(self._buffer))
                return taken
            case _:
                return True

    def _line(self, limit: int) -> bytes | None:
        at = self._buffer.find(b"\r\n")
        if at > limit or (at < 0 and len(self._buffer) > limit + 1):
            raise Malformed("a line that is too long")
        if at < 0:
            return None
        line = bytes(self._buffer[:at])
        del self._buffer[: at + 2]
        return line

    def _take(self, count: int) -> None:
        self._size += count
        if self._size > MAX_BODY:
            raise Malformed(f"a body of more than {MAX_BODY >> 20} MiB")
        if count:
            self._parts.append(bytes(self._buffer[:count]))
            del self._buffer[:count]

    def _data(self) -> bool:
        count = min(self._left, len(self._buffer))
        self._take(count)
        self._left -= count
        if self._left:
            return False
        self._state = "done" if self._state == "length" else "gap"
        return True

    def _chunk_size(self) -> bool:
        line = self._line(1024)
        if line is None:
            return False
        match = _CHUNK.fullmatch(line)
        if not match:
            raise Malformed("a chunk without a size")
        self._left = int(match[1], 16)
        self._state = "chunk" if self._left else "trailer"
        return True

    def _head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MAX_HEAD:
                raise Malformed(f"a head of more than {MAX_HEAD >> 10} KiB")
            if len(self._buffer) >= 7 and not self._buffer.startswith(b"HTTP/1."):
                raise Malformed("not HTTP/1.1")
            return False
        lines = bytes(self._buffer[:end]).split(b"\r\n")
        del self._buffer[: end + 4]
        status = _STATUS.fullmatch(lines[0])
        if not status:
            raise Malformed("not HTTP/1.1")
        self.status = int(status[2])
        if self.status == 101:
            raise Malformed("a switch of protocols nobody asked for")
        if self.status < 200:
            return True  # 100 Continue, 103 Early Hints: the answer itself follows
        self.headers = _fields(lines[1:])
        connection = {word.strip().lower() for word in self.headers.get("connection", "").split(",")}
        self.keep_alive = "keep-alive" in connection if status[1] == b"0" else "close" not in connection
        self._frame()
        return True

    def _frame(self) -> None:
        """How the body ends: RFC 9112, 6.3."""
        coding = self.headers.get("transfer-encoding", "").lower()
        length = self.headers.get("content-length")
        if self._head_only or self.status in (204, 304):
            self._state = "done"
        elif coding:
            self._state = "size" if coding.rpartition(",")[2].strip() == "chunked" else "close"
        elif length is not None:
            same = {part.strip() for part in length.split(",")}
            if len(same) != 1 or not re.fullmatch(r"\d{1,18}", next(iter(same))):
                raise Malformed("a content-length that is no number")
            self._left = int(same.pop())
            self._state = "length"
        else:
            self._state = "close"
            self.keep_alive = False


def _fields(lines: list[bytes]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        match = _FIELD.fullmatch(line)
        if not match:
            raise Malformed("a header line without a name")
        name, value = match[1].decode("ascii").lower(), match[2].decode("latin-1")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found
