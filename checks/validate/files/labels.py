"""Lists of labels as models carry them: one a line, a JSON list or object, or a Python dict of class names."""

from __future__ import annotations

import ast
import json
import re
from typing import Any, cast

_MAX = 16 << 20
_MAX_LITERAL = 2 << 20  # Python's parser takes hundreds of bytes for each of these


def labels(text: str) -> list[str] | None:
    """The labels in order of their index; None where the text is no list of labels."""
    if len(text) > _MAX:
        return None
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        value = _literal(stripped)
        try:
            return _listed(value)
        except _NO_TEXT:
            return None
    # Nothing else ends a line where labels are read: the other separators of Unicode may be labels themselves.
    return re.split(r"\r\n|\r|\n", text.rstrip("\r\n")) if stripped else None


# What no index and no label can be made of: other types, infinity, numbers of thousands of digits, deep nesting.
_NO_TEXT = (TypeError, ValueError, OverflowError, RecursionError)


def _listed(value: Any) -> list[str] | None:
    if isinstance(value, dict):
        table = cast("dict[Any, Any]", value)
        try:
            return [str(table[key]) for key in sorted(table, key=int)]
        except _NO_TEXT:  # label → index
            return [str(key) for key, _ in sorted(table.items(), key=lambda item: int(item[1]))]
    return [str(item) for item in cast("list[Any]", value)] if isinstance(value, list) else None


def _literal(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if len(text) > _MAX_LITERAL:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def difference(old: list[str], new: list[str]) -> str:
    """What changed, for people; empty where nothing did."""
    if old == new:
        return ""
    moved = [(i, a, b) for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b]
    if moved:
        i, a, b = moved[0]
        return f"{len(moved)} of {len(old)} labels differ, index {i}: {a[:40]!r} → {b[:40]!r}"
    if len(new) < len(old):
        return f"{len(old) - len(new)} of {len(old)} labels are gone"
    return f"{len(new) - len(old)} labels are new at the end"
