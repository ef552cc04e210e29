"""Changes to bytes and lines that know nothing of the format, and numbers that break careless readers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

# (input, random, corpus) → changed input
Mutator = Callable[[bytes, Random, Sequence[bytes]], bytes]

EDGES = (
    *(0, 1, 2, 7, 16, 31, 32, 63, 64, 127, 128, 255, 256, 1000, 4096, 65535, 65536, 100_001),
    *((1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, (1 << 53) + 1, 1 << 60, 1 << 62),
    *((1 << 63) - 1, 1 << 63, (1 << 64) - 1, -1, -2, -(1 << 31), -(1 << 63)),
)
_NUMBERS = (*(str(edge).encode() for edge in EDGES), b"1e999", b"-0", b"0.5", b"1e-999", b"9" * 5000, b"0x10", b"08")


def edge(draw: Random) -> int:
    """A number at which something overflows or wraps."""
    return draw.choice(EDGES) + draw.choice((0, 0, 0, 1, -1))


def scramble(data: bytes, draw: Random, pool: Sequence[bytes]) -> bytes:
    """Bits, bytes, words and blocks changed, dropped, doubled, moved, or taken from another input."""
    result = bytearray(data)
    at = draw.randrange(len(result) + 1)
    length = draw.choice((1, 1, 1, 2, 4, 8, 16, 64, 256))
    match draw.randrange(9):
        case 0:
            if at < len(result):
                result[at] ^= 1 << draw.randrange(8)
        case 1:
            result[at : at + 1] = bytes([draw.randrange(256)])
        case 2 | 3:
            width = draw.choice((1, 2, 4, 4, 8, 8))
            word = (edge(draw) % (1 << 8 * width)).to_bytes(width, draw.choice(("little", "little", "big")))
            result[at : at + width] = word
        case 4:
            del result[at : at + length]
        case 5:
            result[at:at] = result[at : at + length] * draw.choice((1, 1, 2, 50))
        case 6:
            other = draw.choice(pool)
            start = draw.randrange(len(other) + 1)
            result[at : at + draw.choice((0, length))] = other[start : start + length]
        case 7:
            del result[at:]
        case _:
            result += bytes(draw.choice((1, 8, 100)))
    return bytes(result)


def numbers(data: bytes, draw: Random, pool: Sequence[bytes]) -> bytes:
    """A number that is written out becomes another one."""
    places = list(re.finditer(rb"-?\d+", data))
    if not places:
        return data
    place = draw.choice(places)
    return data[: place.start()] + draw.choice(_NUMBERS) + data[place.end() :]


def lines(data: bytes, draw: Random, pool: Sequence[bytes]) -> bytes:
    """Lines dropped, doubled, swapped, cut, indented, or taken from another input."""
    parts = data.split(b"\n")
    at, other = draw.randrange(len(parts)), draw.randrange(len(parts))
    match draw.randrange(7):
        case 0:
            del parts[at]
        case 1:
            parts[at:at] = [parts[at]] * draw.choice((1, 1, 300))
        case 2:
            parts[at], parts[other] = parts[other], parts[at]
        case 3:
            parts[at] = parts[at][: draw.randrange(len(parts[at]) + 1)]
        case 4:
            parts[at] = b" " * draw.choice((1, 2, 4)) + parts[at]
        case 5:
            parts[at] = parts[at].lstrip() if draw.random() < 0.5 else parts[at][1:]
        case _:
            parts.insert(at, draw.choice(draw.choice(pool).split(b"\n")))
    return b"\n".join(parts)


def words(*dictionary: bytes) -> Mutator:
    """A mutator that writes words of a format into the input, in place of others or between them."""

    def mutate(data: bytes, draw: Random, pool: Sequence[bytes]) -> bytes:
        places = [found.span() for found in re.finditer(rb"[A-Za-z_0-9]+|[^\sA-Za-z_0-9]", data)]
        if not places:
            return draw.choice(dictionary)
        start, end = draw.choice(places)
        return data[:start] + draw.choice(dictionary) + data[end if draw.random() < 0.5 else start :]

    return mutate


COMMON = (scramble, numbers)
