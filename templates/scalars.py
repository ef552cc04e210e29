"""Values as YAML that cannot mean anything else.

JSON is YAML, so a value written as JSON cannot end a scalar, add a key or open a document. What YAML 1.1 and 1.2
readers disagree on (`y`, `1e3`, `0o10`, `1:20`, dates) is always quoted.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, cast

# JSON writes these as they are; YAML forbids them or takes them for a line break.
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# Letter first, so that no reader sees a number; no blank, colon or hash, so that nothing else starts here.
_PLAIN = re.compile(r"/?[A-Za-z][A-Za-z0-9_./-]*(:[A-Za-z0-9_./-]+)*(@sha256:[0-9a-f]{64})?")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "inf", "nan"})


def encode(value: Any) -> str:
    """`value` (string, number, bool, None, list or dict with string keys) on one line, as JSON that every YAML reads.

    Raises ValueError on a lone surrogate, NaN or infinity, TypeError on anything else.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, check_circular=True)
    text.encode("utf-8")
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
            return value
        return encode(value)
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return json.dumps(value)
    raise TypeError(f"{type(value).__name__} has no YAML form")


def dump(document: Any) -> str:
    """A document in block style, two blanks an indent, keys in the given order: equal data gives equal bytes."""
    return "\n".join(_block(document)) + "\n"


def _block(value: Any) -> list[str]:
    if isinstance(value, dict) and value:
        lines: list[str] = []
        for key, item in cast("dict[str, Any]", value).items():
            lines.extend(_attached(f"{_scalar(key)}:", item))
        return lines
    if isinstance(value, list) and value:
        lines = []
        for item in cast("list[Any]", value):
            first, *rest = _block(item)
            lines += [f"- {first}", *(f"  {line}" for line in rest)]
        return lines
    return [_empty(value) or _scalar(value)]


def _attached(head: str, value: Any) -> list[str]:
    if isinstance(value, dict | list) and value:
        return [head, *(f"  {line}" for line in _block(value))]
    return [f"{head} {_empty(value) or _scalar(value)}"]


def _empty(value: Any) -> str:
    return {dict: "{}", list: "[]"}.get(cast("type[Any]", type(value)), "")
