"""Protocol Buffers wire format, streamed: fields of a message without loading what is skipped.

Format: https://protobuf.dev/programming-guides/encoding. A message is a run of (key, value); the key is a varint of
`number << 3 | wire`, wire 0 is a varint, 1 and 5 are 8 and 4 bytes, 2 is a length and that many bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from .errors import UnreadableModel
from .source import Window, ends_early

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

# (number, wire, value, end): value is the integer of a varint or fixed field and the first offset of a bytes field.
Field = tuple[int, int, int, int]


def fields(window: Window, begin: int, end: int) -> Iterator[Field]:
    """The fields of the message in [begin, end). Raises UnreadableModel on anything malformed."""
    position = begin
    data, base = b"", 0
    while position < end:
        i = position - base
        if i < 0 or i + 32 > len(data):
            data, base = window.near(position)
            i = position - base
        window.left -= 1
        if window.left < 0:
            raise UnreadableModel(window.source.name, "holds more fields than a model's structure", offset=position)
        try:
            key = data[i]
            i += 1
            if key > 127:
                key, i = _varint(data, i - 1, window, base)
            wire = key & 7
            if wire == BYTES:
                value = data[i]
                i += 1
                if value > 127:
                    value, i = _varint(data, i - 1, window, base)
                position = base + i + value
                value = base + i
            elif wire == VARINT:
                value = data[i]
                i += 1
                if value > 127:
                    value, i = _varint(data, i - 1, window, base)
                position = base + i
            elif wire in (FIXED32, FIXED64):
                width = 4 if wire == FIXED32 else 8
                value = int.from_bytes(data[i : i + width], "little")
                position = base + i + width
            else:
                raise UnreadableModel(window.source.name, f"has a field of wire type {wire}", offset=base + i - 1)
        except IndexError:
            raise ends_early(window.source, position) from None
        if position > end or key < 8:
            if end == window.source.size and position > end:
                raise ends_early(window.source, end)
            raise UnreadableModel(window.source.name, "has a field that leaves its message", offset=base + i)
        yield key >> 3, wire, value, position


def _varint(data: bytes, i: int, window: Window, base: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[i]
        i += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFF_FFFF_FFFF_FFFF, i
        shift += 7
        if shift > 63:
            raise UnreadableModel(window.source.name, "has a number of more than ten bytes", offset=base + i)


def signed(value: int) -> int:
    """A varint as int64."""
    return value - (1 << 64) if value >> 63 else value


def text(window: Window, begin: int, end: int, limit: int = 1 << 20) -> str:
    """A string field. Raises UnreadableModel where it is longer than `limit` bytes: names are not."""
    if end - begin > limit:
        raise UnreadableModel(window.source.name, f"has a name of {end - begin:,} bytes", offset=begin)
    return window.take(begin, end - begin).decode("utf-8", "replace")


def integers(window: Window, field: Field, limit: int = 1 << 20) -> list[int]:
    """A repeated int64 field, packed or not, as signed values; a packed one of more than `limit` bytes is refused."""
    _, wire, value, end = field
    if wire == VARINT:
        return [signed(value)]
    if wire != BYTES:
        return []
    if end - value > limit:
        raise UnreadableModel(window.source.name, f"has a list of {end - value:,} bytes", offset=value)
    data = window.take(value, end - value)
    result: list[int] = []
    i = 0
    try:
        while i < len(data):
            number, i = _varint(data, i, window, value)
            result.append(signed(number))
    except IndexError:
        raise UnreadableModel(window.source.name, "has a number that leaves its list", offset=end) from None
    return result
