"""JSON for security decisions: read with one meaning only, written the same bytes every time."""

from __future__ import annotations

import json
from typing import Any

from ..models.errors import UnreadableModel
from ..models.strict_json import loads
from .reasons import refusal


def parse(data: bytes, what: str) -> Any:
    """`data` as Python data. Raises Refused (VER-MALFORMED, VER-DUPLICATE-KEY) where readers could disagree on it."""
    try:
        return loads(data, what)
    except UnreadableModel as error:
        code = "VER-DUPLICATE-KEY" if error.reason.startswith("duplicate key") else "VER-MALFORMED"
        at = "" if error.offset is None else f" at byte {error.offset}"
        raise refusal(code, what, error.reason + at) from error


def canonical(value: Any) -> bytes:
    """The shortest UTF-8 JSON of a value with sorted keys: what is signed is the same bytes every time."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
