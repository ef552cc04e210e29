"""Lengths and largest entries of long attribute lists of an ONNX model, without reading them number by number.

Field numbers are those of AttributeProto in onnx.proto, which writes lists unpacked: a tag before every entry. Both
that and the packed form are read.
"""

from __future__ import annotations

import re

from .onnx import Attribute
from .protobuf import BYTES, fields
from .source import Source, Window

_MOST = 16 << 20
_FLOATS, _INTS, _STRINGS = 7, 8, 9
# The tag of an unpacked float: field number and wire type.
_FLOAT_TAG = b"\x3d"
_INT = re.compile(rb"\x40([\x80-\xff]{0,9}[\x00-\x7f])")
_RUN = re.compile(rb"(?:\x40[\x80-\xff]{0,9}[\x00-\x7f])+")
# A negative number takes this many bytes.
_NEGATIVE = 10
_PACKED = re.compile(rb"[\x80-\xff]{0,9}[\x00-\x7f]")


def length(source: Source, attribute: Attribute) -> int | None:
    """How many numbers or strings a list has; None where it is too long to look at."""
    if attribute.end - attribute.begin > _MOST or attribute.reference:
        return None
    window, count = Window(source), 0
    for number, wire, value, stop in fields(window, attribute.begin, attribute.end):
        if number == _FLOATS and wire == BYTES:
            count += (stop - value) // 4
        elif number == _FLOATS:
            tags = source.read(stop, attribute.end - stop)[::5]
            return count + 1 + len(tags) - len(tags.lstrip(_FLOAT_TAG))
        elif number == _INTS:
            return (wire != BYTES) + len(_entries(source, attribute, wire, value, stop))
        elif number == _STRINGS:
            count += 1
    return count


def largest(source: Source, attribute: Attribute) -> int | None:
    """The largest of a list of whole numbers that are not negative; None where it is empty or too long to look at."""
    if attribute.end - attribute.begin > _MOST or attribute.reference:
        return None
    for number, wire, value, stop in fields(Window(source), attribute.begin, attribute.end):
        if number == _INTS:
            seen = set(_entries(source, attribute, wire, value, stop))
            first = [value] if wire != BYTES and value < 1 << 63 else []
            return max([*first, *(_number(each) for each in seen if len(each) < _NEGATIVE)], default=None)
    return None


def _entries(source: Source, attribute: Attribute, wire: int, value: int, stop: int) -> list[bytes]:
    """The encoded entries, without the first one of an unpacked list."""
    if wire == BYTES:
        return _PACKED.findall(source.read(value, stop - value))
    run = _RUN.match(source.read(stop, attribute.end - stop))
    return _INT.findall(run[0]) if run else []


def _number(data: bytes) -> int:
    return sum((byte & 127) << 7 * i for i, byte in enumerate(data))
