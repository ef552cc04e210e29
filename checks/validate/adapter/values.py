"""Values of adapter_config.json that no LoRA server can work with."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, cast

# Expressions come from strangers; what is longer than this is left to the server.
_LONGEST = 1000


def faults(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(key, what is wrong with its value), of the keys that PEFT calculates with or compiles."""
    if "r" in config and not _rank(config["r"]):
        yield "r", f"{_short(config['r'])} is no whole number above zero"
    if "lora_alpha" in config and not _number(config["lora_alpha"]):
        yield "lora_alpha", f"{_short(config['lora_alpha'])} is no number"
    for key, fits, kind in (
        ("rank_pattern", _rank, "a whole number above zero"),
        ("alpha_pattern", _number, "a number"),
    ):
        entries = config.get(key)
        if not entries:
            continue
        if not isinstance(entries, dict):
            yield key, f"{_short(entries)} is no mapping of modules to values"
            continue
        for name, value in cast("dict[str, Any]", entries).items():
            if not fits(value):
                yield key, f"{_short(value)} for {_short(name)} is not {kind}"
            elif not _compiles(name):
                yield key, f"{_short(name)} is no regular expression"
    for key in ("target_modules", "exclude_modules"):
        value = config.get(key)
        if isinstance(value, str) and not _compiles(value):
            yield key, f"{_short(value)} is no regular expression"


def _rank(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compiles(expression: str) -> bool:
    if len(expression) > _LONGEST:
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # on sets that a later Python may read otherwise
            re.compile(expression)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _short(value: object) -> str:
    return json.dumps(value)[:80]
