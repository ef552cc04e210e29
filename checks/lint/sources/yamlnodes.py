"""YAML as plain Python containers that remember where every key and value stands: `Map` and `Seq`, a dict and a list
with the positions of their entries in a compact array. `yamlreader` makes them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .text import TextFile

WIDTH = 8
"""Numbers kept per entry: key line, key column, key end column, line, column, end line, end column, style."""


@dataclass(frozen=True, slots=True)
class Span:
    """Where a key and its value stand; lines and columns from 1, ends exclusive. `style` is the scalar's: `'"|>`."""

    key_line: int
    key_column: int
    key_end_column: int
    line: int
    column: int
    end_line: int
    end_column: int
    style: str


class Map(dict[str, Any]):
    """A mapping. Keys are text; values are Map, Seq, str, int, float, bool or None."""

    __slots__ = ("key", "marks", "parent")

    parent: Map | Seq | None
    key: str | int
    marks: array[int]

    def span(self, key: str) -> Span:
        """Where the entry `key` stands. Raises KeyError when there is none."""
        for index, name in enumerate(self):
            if name == key:
                return _span(self.marks, index)
        raise KeyError(key)

    def get_maps(self, key: str) -> list[Map]:
        """The mappings in the list under `key`; anything else there is left out."""
        value = self.get(key)
        return [item for item in value if isinstance(item, Map)] if isinstance(value, Seq) else []

    def get_map(self, key: str) -> Map:
        """The mapping under `key`, an empty one when there is none."""
        value = self.get(key)
        return value if isinstance(value, Map) else EMPTY

    def get_str(self, key: str) -> str:
        """The scalar under `key` as text, empty when there is none."""
        return text(self.get(key))


class Seq(list[Any]):
    """A sequence of the same kinds of values."""

    __slots__ = ("key", "marks", "parent")

    parent: Map | Seq | None
    key: str | int
    marks: array[int]

    def span(self, index: int) -> Span:
        """Where an item stands; its key position is the item's own start."""
        return _span(self.marks, index)


def _span(marks: array[int], index: int) -> Span:
    values = marks[index * WIDTH : (index + 1) * WIDTH]
    a, b, c, d, e, f, g, style = values
    return Span(a, b, c, d, e, f, g, " '\"|>"[style].strip())


def _empty() -> Map:
    empty = Map()
    empty.parent, empty.key, empty.marks = None, "", array("I")
    return empty


EMPTY = _empty()


def text(value: Any) -> str:
    """A scalar as text; containers and null are empty."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else ""


def dig(value: Any, *path: str | int) -> Any:
    """What lies under `path`, None when any step is missing or of another type."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, Map) else None
        else:
            value = value[step] if isinstance(value, Seq) and -len(value) <= step < len(value) else None
    return value


def pointer(node: Map | Seq, *more: str | int) -> str:
    """The JSON pointer (RFC 6901) of a container, or of what lies below it."""
    parts: list[str | int] = list(more)
    while node.parent is not None:
        parts.insert(0, node.key)
        node = node.parent
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def walk(value: Any, limit: int = 20_000) -> Iterator[tuple[Map, str]]:
    """(mapping, key) of every entry below `value`, at most `limit` of them."""
    stack = [value]
    count = 0
    while stack:
        item = stack.pop()
        if isinstance(item, Map):
            for key in item:
                count += 1
                if count > limit:
                    return
                yield item, key
            stack.extend(reversed([child for child in item.values() if isinstance(child, Map | Seq)]))
        elif isinstance(item, Seq):
            stack.extend(reversed([child for child in item if isinstance(child, Map | Seq)]))


@dataclass(slots=True)
class Document:
    """One YAML document of a file; `line` is its first line."""

    file: TextFile
    line: int
    root: Any
    duplicates: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])
