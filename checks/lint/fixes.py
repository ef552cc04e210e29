"""Text edits for fixes: they touch the characters of one value or add whole lines, so comments and layout stay."""

from __future__ import annotations

import json
import re
from typing import Any

from ...report.finding import Edit
from .sources.kubernetes import Resource
from .sources.yamlnodes import Map, Seq


def replace_value(holder: Map | Seq, key: str | int, text: str) -> Edit | None:
    """Write `text` in place of a scalar on one line; None for containers and block scalars."""
    span = holder.span(key)  # pyright: ignore[reportArgumentType]
    if span.line != span.end_line or isinstance(holder[key], Map | Seq):  # pyright: ignore
        return None
    return Edit(span.line, span.column, span.end_line, span.end_column, text)


def is_flow(resource: Resource, holder: Map) -> bool:
    """Whether a mapping is written in braces: then lines cannot be added to it."""
    if not holder:
        return True
    first = holder.span(next(iter(holder)))
    before = resource.document.file.lines[first.key_line - 1][: first.key_column - 1]
    return before.rstrip().endswith(("{", ","))


def add_entry(resource: Resource, holder: Map, after: str, lines: list[str]) -> Edit | None:
    """Add an entry to a block mapping below its entry `after`; `lines` are indented relative to the mapping.

    None where the mapping is written in braces or comes from an anchor, whose text serves several places.
    """
    if is_flow(resource, holder) or after not in holder:
        return None
    span = holder.span(after)
    indent = " " * (span.key_column - 1)
    last = _last_line(resource, holder[after], span.end_line if span.end_column > 1 else span.end_line - 1)
    if last < span.key_line:
        return None
    text = resource.document.file.lines[last - 1]
    addition = "".join(f"\n{indent}{line}" for line in lines)
    return Edit(last, len(text) + 1, last, len(text) + 1, addition)


def block(value: Any, indent: int = 0) -> list[str]:
    """A plain value as YAML block lines; texts are quoted where they could be read as anything else."""
    pad = " " * indent
    if isinstance(value, Map):
        lines: list[str] = []
        for key, item in value.items():
            if isinstance(item, Map | Seq) and item:
                lines += [f"{pad}{_inline(key)}:", *block(item, indent + 2)]
            else:
                lines.append(f"{pad}{_inline(key)}: {_inline(item)}")
        return lines
    if isinstance(value, Seq):
        return [f"{pad}- {_inline(item)}" for item in value]
    return [pad + _inline(value)]


def _inline(value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z/][\w./-]*", value) and value.lower() not in _WORDS:
        return value
    if isinstance(value, str):
        return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in value) + '"'
    return json.dumps(value)


_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


def _last_line(resource: Resource, value: object, end: int) -> int:
    """The last line of a value with text on it: the parser ends a block at the next token, past blanks and comments."""
    lines = resource.document.file.lines
    last = min(end, len(lines))
    if isinstance(value, Map | Seq):
        deepest = _deepest(value)
        last = min(last, deepest) if deepest else last
    while last > 1 and not lines[last - 1].strip():
        last -= 1
    return last


def _deepest(value: Map | Seq) -> int:
    """The line on which the last scalar of a container ends."""
    keys = list(value) if isinstance(value, Map) else list(range(len(value)))
    deepest = 0
    for key in keys[-1:]:
        item = value[key]  # pyright: ignore
        span = value.span(key)  # pyright: ignore
        if isinstance(item, Map | Seq) and item:
            deepest = _deepest(item)
        elif span.style in ("|", ">"):
            deepest = span.end_line - 1 if span.end_column == 1 else span.end_line
        else:
            deepest = span.end_line
    return deepest
