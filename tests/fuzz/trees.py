"""Changes to JSON as a tree: it stays JSON, so that they reach what stands behind the parser."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from random import Random
from typing import Any

from .mutate import Mutator, edge, scramble


class Raw(str):
    """Text that is written into JSON as it is: what `json.dumps` would not write."""


class Twice(str):
    """A key that may stand beside an equal one."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


_ATOMS: tuple[Any, ...] = (
    *(None, True, False, "", "a", " ", "\0", "é", "\U0001f600", "../x", "/etc/passwd", "a/b", "x" * 5000),
    *([], {}, [[]], [None], {"": None}, 0.5, -1, 1 << 70, ["a", "b"], {"a": {"a": {}}}),
    *(
        Raw("NaN"),
        Raw("-Infinity"),
        Raw("1e999"),
        Raw('"\\ud800"'),
        Raw("[" * 300 + "]" * 300),
        Raw("9" * 5000),
        10**4000,
    ),
    *(Raw('{"a":' * 150 + "1" + "}" * 150), Raw('{"a":1,"a":2}'), Raw("1.0"), Raw('"\\u0000"')),
)


def write(value: Any) -> str:
    """`value` as JSON with its Raw parts as they are."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(str(k))}:{write(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every (container, key or index) below."""
    stack = [value]
    while stack:
        item = stack.pop()
        keys = list(item) if isinstance(item, dict) else range(len(item)) if isinstance(item, list) else ()
        for key in keys:
            found.append((item, key))
            stack.append(item[key])
    return found


def _atom(draw: Random) -> Any:
    return deepcopy(draw.choice(_ATOMS))


def change(value: Any, draw: Random, names: Sequence[str] = ()) -> Any:
    """One change somewhere in a parsed document, in place where that is possible."""
    places = _places(value, [])
    if not places or draw.random() < 0.01:
        return _atom(draw)
    holder, key = draw.choice(places)
    match draw.randrange(8):
        case 0 | 1:
            holder[key] = _atom(draw)
        case 2:
            holder[key] = edge(draw)
        case 3:
            del holder[key]
        case 4:
            other, place = draw.choice(places)
            holder[key] = deepcopy(other[place]) if place in _keys(other) else None
        case 5:
            item = deepcopy(holder[key])
            if isinstance(holder, list):
                holder.insert(key, item)
            else:
                holder[Twice(key) if draw.random() < 0.3 else draw.choice([*names, key + "x"])] = item
        case 6:
            holder[key] = [holder[key]] if draw.random() < 0.5 else {str(draw.choice([*names, "a"])): holder[key]}
        case _:
            name = draw.choice([*names, "type"])
            if isinstance(holder, dict):
                holder[name] = _atom(draw)
            else:
                holder[key] = name
    return value


def _keys(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))


def json_tree(*names: str) -> Mutator:
    """A mutator of JSON documents; `names` are keys and words of the format."""

    def mutate(data: bytes, draw: Random, pool: Sequence[bytes]) -> bytes:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return scramble(data, draw, pool)
        try:
            for _ in range(draw.choice((1, 1, 2, 3))):
                value = change(value, draw, names)
            return write(value).encode("utf-8", "surrogatepass")
        except RecursionError:
            return data

    return mutate


def within(cut: Callable[[bytes], tuple[bytes, Callable[[bytes], bytes]] | None], inner: Mutator) -> Mutator:
    """A mutator of one part: `cut` gives that part and how to put it back, None where there is none."""

    def mutate(data: bytes, draw: Random, pool: Sequence[bytes]) -> bytes:
        part = cut(data)
        if part is None:
            return scramble(data, draw, pool)
        return part[1](inner(part[0], draw, pool))

    return mutate
