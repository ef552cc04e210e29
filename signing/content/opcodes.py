"""A walk over pickle opcodes that finds what a pickle would import, in constant memory and without running any of it.

Opcodes and their arguments are the standard library's table (`pickletools`, PEP 307, 3154, 574). Payloads are skipped,
not read. The stack is followed only as far as names need it: a name whose strings were not pushed right before is
reported as unknown, so that juggling the stack hides nothing.
"""

from __future__ import annotations

import pickletools
from dataclasses import dataclass, field

from ...models.source import Source

MAX_NAME = 1024
MAX_OPCODES = 20_000_000
_WINDOW = 1 << 16

_TABLE = {ord(op.code): op for op in pickletools.opcodes}
_STRINGS = {"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE", "SHORT_BINSTRING", "BINSTRING", "STRING"}
_GETS = {"GET", "BINGET", "LONG_BINGET"}
_PUTS = {"PUT", "BINPUT", "LONG_BINPUT"}
_SILENT = {"PROTO", "FRAME"}
_WIDTH = {
    pickletools.TAKEN_FROM_ARGUMENT1: (1, False),
    pickletools.TAKEN_FROM_ARGUMENT4: (4, True),
    pickletools.TAKEN_FROM_ARGUMENT4U: (4, False),
    pickletools.TAKEN_FROM_ARGUMENT8U: (8, False),
}


@dataclass(slots=True)
class Walk:
    """Imports as `module.name`, `?` where the name is made at run time; `end` is the offset after STOP, or -1."""

    imports: set[str] = field(default_factory=set[str])
    end: int = -1


class _Bytes:
    """A window over a source that moves forward."""

    def __init__(self, source: Source, offset: int) -> None:
        self._source = source
        self._start = offset
        self._data = b""
        self.position = offset

    def take(self, count: int) -> bytes:
        """The next bytes; raises EOFError where there are fewer."""
        begin = self.position - self._start
        if begin + count > len(self._data):
            self._start, begin = self.position, 0
            self._data = self._source.read(self.position, max(count, _WINDOW))
            if len(self._data) < count:
                raise EOFError
        self.position += count
        return self._data[begin : begin + count]

    def skip(self, count: int) -> None:
        """Pass over bytes without reading them."""
        if self.position + count > self._source.size:
            raise EOFError
        self.position += count

    def line(self) -> bytes:
        """The next line without its end; at most MAX_NAME bytes are kept."""
        kept = b""
        while True:
            byte = self.take(1)
            if byte == b"\n":
                return kept
            if len(kept) < MAX_NAME:
                kept += byte


def walk(source: Source, offset: int = 0) -> Walk:
    """Follow one pickle from `offset`. A `Walk` with `end` -1 is of something that is no whole pickle."""
    result = Walk()
    data = _Bytes(source, offset)
    pushed: list[str | None] = [None, None]
    memo: dict[int, str | None] = {}
    try:
        for _ in range(MAX_OPCODES):
            op = _TABLE.get(data.take(1)[0])
            if op is None:
                return result
            argument = _argument(op, data)
            name = op.name
            if name == "STOP":
                result.end = data.position
                return result
            if name in ("GLOBAL", "INST"):
                result.imports.add(argument.replace("\n", "."))
                pushed = [None, None]
            elif name == "STACK_GLOBAL":
                module, attribute = pushed
                result.imports.add(f"{module}.{attribute}" if module is not None and attribute is not None else "?")
                pushed = [None, None]
            elif name in ("EXT1", "EXT2", "EXT4"):
                result.imports.add("?")
                pushed = [None, None]
            elif name == "MEMOIZE":
                memo[len(memo)] = pushed[1]
            elif name in _PUTS:
                memo[int(argument)] = pushed[1]
            elif name in _GETS:
                pushed = [pushed[1], memo.get(int(argument))]
            elif name in _STRINGS:
                pushed = [pushed[1], argument]
            elif name not in _SILENT:
                pushed = [pushed[1], None]
    except (EOFError, ValueError):
        pass
    return result


def _argument(op: pickletools.OpcodeInfo, data: _Bytes) -> str:
    """An opcode's argument where it is a name, an index or a short string; other arguments are passed over."""
    if op.arg is None:
        return ""
    size = op.arg.n
    if size == pickletools.UP_TO_NEWLINE:
        first = data.line()
        if op.arg.name == "stringnl_noescape_pair":
            first += b"\n" + data.line()
        text = first.decode("utf-8", "replace")
        return text.strip("'\"") if op.name == "STRING" else text
    if size >= 0:
        raw = data.take(size)
        return str(int.from_bytes(raw, "little")) if op.name in _GETS | _PUTS else ""
    width, signed = _WIDTH[size]
    length = int.from_bytes(data.take(width), "little", signed=signed)
    if length < 0:
        raise ValueError(op.name)
    if op.name in _STRINGS and length <= MAX_NAME:
        return data.take(length).decode("utf-8", "replace")
    data.skip(length)
    return "…"
