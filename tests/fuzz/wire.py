"""Changes to binary formats that keep their frame: protobuf messages, GGUF records, a header after its length."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from .mutate import edge, scramble

Message = list[tuple[int, int, Any]]


def varint(value: int) -> bytes:
    """A number as protobuf writes it."""
    value %= 1 << 64
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128 or shift > 63:
            return value, at


def parse(data: bytes, depth: int = 0) -> Message | None:
    """The fields of a message, those of bytes that look like a message parsed as well; None where it is none."""
    found: Message = []
    at = 0
    try:
        while at < len(data):
            key, at = _number(data, at)
            wire = key & 7
            if wire == 0:
                value, at = _number(data, at)
            elif wire == 2:
                length, at = _number(data, at)
                raw = data[at : at + length]
                if len(raw) < length:
                    return None
                at += length
                value = (parse(raw, depth + 1) if length > 1 and depth < 12 else None) or raw
            elif wire in (1, 5):
                width = 8 if wire == 1 else 4
                value = data[at : at + width]
                if len(value) < width:
                    return None
                at += width
            else:
                return None
            if not key >> 3:
                return None
            found.append((key >> 3, wire, value))
    except IndexError:
        return None
    return found


def build(message: Message) -> bytes:
    """The bytes of a parsed message."""
    out = b""
    for number, wire, value in message:
        out += varint(number << 3 | wire)
        if wire == 0:
            out += varint(value)
        elif wire == 2:
            raw = build(value) if isinstance(value, list) else value
            out += varint(len(raw)) + raw
        else:
            out += value
    return out


def _all(message: Message, found: list[tuple[Message, int]]) -> list[tuple[Message, int]]:
    for index, (_, _, value) in enumerate(message):
        found.append((message, index))
        if isinstance(value, list):
            _all(value, found)
    return found


def protobuf(data: bytes, draw: Random, pool: Sequence[bytes]) -> bytes:
    """Fields dropped, doubled, moved, renumbered, given other values, or nested in themselves; lengths stay right."""
    message = parse(data)
    if not message:
        return scramble(data, draw, pool)
    places = _all(message, [])
    holder, index = draw.choice(places)
    number, wire, value = holder[index]
    match draw.randrange(9):
        case 0:
            del holder[index]
        case 1:
            holder[index:index] = [holder[index]] * draw.choice((1, 1, 2, 200))
        case 2:
            other, place = draw.choice(places)
            item = other[place] if place < len(other) else holder[index]
            holder.insert(index, _copy(item))
        case 3:
            holder[index] = (draw.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 22, 25)), wire, value)
        case 4:
            inner: Any = _copy(holder[index])
            for _ in range(draw.choice((1, 2, 8, 30, 70, 120))):
                inner = (number, 2, [inner])
            holder[index] = inner
        case 5 | 6 if wire == 0:
            holder[index] = (number, 0, edge(draw))
        case 5 | 6 if wire == 2 and not isinstance(value, list):
            holder[index] = (number, 2, scramble(value, draw, pool))
        case 5 | 6 if wire != 2:
            holder[index] = (number, wire, scramble(value, draw, pool)[: len(value)].ljust(len(value), b"\0"))
        case 7:
            holder[index] = (number, 2, draw.choice((b"", b"\x80", b"\xff" * 12, b"\0" * 9, b"x" * 3000, b"../../x")))
        case _:
            holder[index] = (number, 0, edge(draw))
    return build(message)


def _copy(field: tuple[int, int, Any]) -> tuple[int, int, Any]:
    number, wire, value = field
    return (number, wire, [_copy(each) for each in value] if isinstance(value, list) else value)


Cut = tuple[bytes, Callable[[bytes], bytes]] | None


def sized_header(data: bytes) -> Cut:
    """The JSON of a safetensors file, put back with its length, which is right most of the time."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        return None
    rest = data[8 + length :]
    return data[8 : 8 + length], lambda part: len(part).to_bytes(8, "little") + part + rest


def payload(data: bytes) -> Cut:
    """The base64 payload of an envelope, or of the envelope in a signature bundle."""
    try:
        whole = json.loads(data)
        envelope = whole.get("dsseEnvelope", whole)
        part = base64.b64decode(envelope["payload"])
    except (AttributeError, ValueError, KeyError, TypeError, RecursionError):
        return None

    def back(part: bytes) -> bytes:
        envelope["payload"] = base64.b64encode(part).decode()
        return json.dumps(whole).encode()

    return part, back


_WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


class _Walk:
    """Steps over the records of a GGUF file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 24

    def number(self, code: str) -> int:
        value = struct.unpack_from("<" + code, self.data, self.at)[0]
        self.at += struct.calcsize("<" + code)
        return value

    def text(self) -> None:
        self.at += self.number("Q")

    def value(self, kind: int) -> None:
        if kind == 8:
            self.text()
        elif kind == 9:
            inner, count = self.number("I"), self.number("Q")
            for _ in range(min(count, 100_000)):
                self.value(inner)
        else:
            self.at += _WIDTHS[kind]


def gguf(data: bytes, draw: Random, pool: Sequence[bytes]) -> bytes:
    """Keys and tensors of a GGUF file dropped, doubled, moved, exchanged with another file's, their bytes changed."""
    parts = _records(data)
    if parts is None:
        return scramble(data, draw, pool)
    keys, tensors, rest = parts
    group = draw.choice([group for group in (keys, tensors) if group] or [keys])
    at = draw.randrange(len(group)) if group else 0
    match draw.randrange(6):
        case 0 if group:
            del group[at]
        case 1 if group:
            group.insert(at, group[at])
        case 2:
            other = _records(draw.choice(pool))
            group[at:at] = draw.sample(other[group is tensors], 1) if other and other[group is tensors] else []
        case 3:
            draw.shuffle(group)
        case _ if group:
            group[at] = scramble(group[at], draw, pool)
        case _:
            pass
    head = struct.pack("<QQ", len(tensors), len(keys))
    if draw.random() < 0.05:
        head = scramble(head, draw, pool)
    body = data[:8] + head + b"".join(keys) + b"".join(tensors)
    return body + bytes(-len(body) % 32) + rest


def _records(data: bytes) -> tuple[list[bytes], list[bytes], bytes] | None:
    walk = _Walk(data)
    found: tuple[list[bytes], list[bytes]] = ([], [])
    try:
        tensors, keys = struct.unpack_from("<QQ", data, 8)
        for _ in range(min(keys, 1000)):
            start = walk.at
            walk.text()
            walk.value(walk.number("I"))
            found[0].append(data[start : walk.at])
        for _ in range(min(tensors, 1000)):
            start = walk.at
            walk.text()
            walk.at += 8 * walk.number("I") + 12
            found[1].append(data[start : walk.at])
    except (struct.error, KeyError, RecursionError, OverflowError):
        return None
    if walk.at > len(data):
        return None
    return (*found, data[-(-walk.at // 32) * 32 :])
