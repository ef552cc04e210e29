"""Which version answered: a fingerprint of the answer, by JSON pointer, by header, or of the whole body."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, cast

from ..report.errors import BadInput
from .http1 import Response

Reader = Callable[[Response], str]
ABSENT = "(absent)"


def reader(option: str, how: str) -> Reader:
    """A function from an answer to its fingerprint.

    `how` is a JSON pointer (RFC 6901, `/model_version`), `header:NAME`, or `body` (its SHA-256). A value is compared
    as compact JSON with sorted keys; where the place is absent the fingerprint is `(absent)`. Raises BadInput on
    anything else.
    """
    if how == "body":
        return lambda response: "sha256:" + hashlib.sha256(response.body).hexdigest()[:16]
    if how.startswith("header:") and len(how) > 7:
        name = how[7:].strip().lower()
        return lambda response: response.headers.get(name, ABSENT)
    if how.startswith("/"):
        steps = [step.replace("~1", "/").replace("~0", "~") for step in how[1:].split("/")]
        return lambda response: _at(response.body, steps)
    raise BadInput(
        f"{option} {how}", "neither a JSON pointer, a header nor body", hint="write /model_version, header:NAME or body"
    )


def places(response: Response, how: str) -> str:
    """What an answer has instead of the place `how`, for a person to choose from: headers, keys, or its start."""
    if how.startswith("header:"):
        return ", ".join(f"header:{name}" for name in sorted(response.headers)) or "no header at all"
    try:
        value: Any = json.loads(response.body)
    except (ValueError, RecursionError):
        return "no JSON in them; use header:NAME or body"
    if not isinstance(value, dict | list) or not value:
        return f"only {json.dumps(value)[:60]}; use header:NAME or body"
    keys = cast("Iterable[object]", value if isinstance(value, dict) else range(len(value)))  # pyright: ignore
    steps = [str(key).replace("~", "~0").replace("/", "~1")[:40] for key in islice(keys, 8)]
    return ", ".join(f"/{step}" for step in steps)


def _at(body: bytes, steps: list[str]) -> str:
    try:
        value: Any = json.loads(body)
        for step in steps:
            key: Any = int(step) if isinstance(value, list) else step
            value = value[key]  # pyright: ignore[reportUnknownVariableType]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return ABSENT
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
    return text if len(text) <= 64 else "sha256:" + hashlib.sha256(text.encode()).hexdigest()[:16]
