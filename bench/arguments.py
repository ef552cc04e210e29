"""Options of the form NAME=VALUE,VALUE."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..report.errors import BadInput

T = TypeVar("T", int, float)


def named(option: str, items: Sequence[str] | None) -> dict[str, str]:
    """`["p50=5%"]` -> `{"p50": "5%"}`. Raises BadInput on one without a name or a value, or named twice."""
    found: dict[str, str] = {}
    for item in items or ():
        name, equals, value = item.partition("=")
        if not (name and equals and value):
            raise BadInput(f"{option} {item}", "not of the form NAME=VALUE", hint=f"such as {option} input=1,512")
        if name in found:
            raise BadInput(f"{option} {item}", f"{name} is given twice", hint="keep one of them")
        found[name] = value
    return found


def lists(option: str, items: Sequence[str] | None, kind: Callable[[str], T]) -> dict[str, list[T]]:
    """`["input=1,512"]` -> `{"input": [1, 512]}` with numbers read by `kind` (int or float).

    Raises BadInput on anything that is not a number, infinity and NaN included.
    """
    found: dict[str, list[T]] = {}
    for name, text in named(option, items).items():
        try:
            values = [kind(part) for part in text.split(",")]
        except ValueError:
            word = "whole numbers" if kind is int else "numbers"
            hint = f"such as {option} {name}={'1,512' if kind is int else '0.5,1.5'}"
            raise BadInput(f"{option} {name}={text}", f"not {word} separated by commas", hint=hint) from None
        if not all(map(math.isfinite, values)):
            raise BadInput(f"{option} {name}={text}", "not finite", hint="leave out inf and nan")
        found[name] = values
    return found


def fields(items: Sequence[str] | None) -> dict[str, str]:
    """`["X-Key: 1"]` -> `{"X-Key": "1"}`. Raises BadInput on one without a name."""
    found: dict[str, str] = {}
    for item in items or ():
        name, colon, value = item.partition(":")
        if not colon or not name or not all(c.isalnum() or c in "!#$%&'*+-.^_`|~" for c in name):
            hint = 'such as --header "Authorization: Bearer …"'
            raise BadInput(f"--header {item}", "not of the form NAME: VALUE", hint=hint)
        found[name] = value.strip()
    return found


def body(data: str) -> bytes:
    """The bytes of `--data`: the text, or with a leading @ the file's content (`@-`: stdin).

    Raises BadInput when the file cannot be read.
    """
    if not data.startswith("@"):
        return data.encode()
    if data == "@-":
        return sys.stdin.buffer.read()
    try:
        return Path(data[1:]).read_bytes()
    except OSError as error:
        hint = "name the file with the body after the @, or give the body itself without one"
        raise BadInput(f"--data {data}", (error.strerror or str(error)).lower(), hint=hint) from error
