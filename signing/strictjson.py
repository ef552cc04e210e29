"""JSON for security decisions: one meaning only. Duplicate keys, NaN, trailing data and deep nesting are refused."""

from __future__ import annotations

import json
from typing import Any

from .reasons import refusal


def parse(data: bytes, what: str) -> Any:
    """`data` as Python data. Raises Refused (VER-MALFORMED) with the reason and, where known, line and column."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refusal("VER-MALFORMED", what, f"not UTF-8 at byte {error.start}") from error

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) != len(items):
            names = [name for name, _ in items]
            twice = next(name for name in names if names.count(name) > 1)
            raise refusal("VER-DUPLICATE-KEY", what, f"JSON key '{twice}' stands twice in one object")
        return result

    def constant(name: str) -> Any:
        raise refusal("VER-MALFORMED", what, f"{name} is not JSON")

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        trailing = error.msg == "Extra data"
        reason = "data after the end of the JSON document" if trailing else f"invalid JSON: {error.msg.lower()}"
        raise refusal("VER-MALFORMED", what, reason, line=error.lineno, column=error.colno) from error
    except RecursionError as error:
        raise refusal("VER-MALFORMED", what, "JSON nested too deeply") from error
    except ValueError as error:  # an integer of thousands of digits
        raise refusal("VER-MALFORMED", what, "a number too long to be meant") from error


def canonical(value: Any) -> bytes:
    """The shortest UTF-8 JSON of a value with sorted keys: what is signed is the same bytes every time."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
