"""Which modules PEFT gives an adapter to, and with what numbers, by the keys of adapter_config.json."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any, cast

from ....models.numerals import whole
from ....models.strict_json import items_of

# Keys and names come from strangers, and Python's matching takes exponential time on some expressions.
_PLAIN = re.compile(r"[\w.^$\\-]+")
_REPEATS = re.compile(r"(?<!\\)[*+{]")
_MOST_REPEATS = 3
_LONGEST = 200


def pattern_values(pattern: object, module: str, default: object) -> list[Any]:
    """The values that a pattern of expressions may give a module: PEFT takes the first key that matches the end of
    its name, else `default`. More than one where a key has repetitions, which are not matched here."""
    found: list[Any] = []
    entries: Mapping[str, Any] = cast("Mapping[str, Any]", pattern) if isinstance(pattern, dict) else {}
    for key, value in entries.items():
        if not isinstance(value, int | float):
            continue
        if _PLAIN.fullmatch(key) is None:
            found.append(value)
        elif _ends(key, module):
            return [*found, value]
    return [*found, default] if default is not None else found


def _ends(key: str, module: str) -> bool:
    try:
        return re.match(rf"(?:.*\.)?(?:{key})$", module) is not None
    except re.error:
        return module == key or module.endswith(f".{key}")


def reaches(config: Mapping[str, Any], module: str) -> bool | None:
    """Whether PEFT puts an adapter on a module of the base, None where the keys do not tell."""
    wanted, excluded = config.get("target_modules"), config.get("exclude_modules")
    if wanted is None or config.get("target_parameters"):
        return None
    out = _names(excluded, module) if excluded else False
    if out is not False:
        return None if out is None else False
    if any(f".{name}." in f".{module}." for name in items_of(config.get("modules_to_save"))):
        return False
    if wanted == "all-linear":
        return True
    found = _names(wanted, module)
    layers = config.get("layers_to_transform")
    if not found or isinstance(wanted, str) or layers is None or layers == []:
        return found
    index = layer_of(config, module)
    return index in items_of(layers)


def layer_of(config: Mapping[str, Any], module: str) -> int | None:
    """The index of the layer that a module lies in: the first number below a list of layers, as PEFT finds it."""
    patterns = items_of(config.get("layers_pattern"))
    parts = module.split(".")
    for at, part in enumerate(parts[:-1]):
        number = whole(part)
        if number is None:
            continue
        if (patterns and at >= 1 and parts[at - 1] in patterns) or (not patterns and at >= 2):
            return number
    return None


def _names(value: object, module: str) -> bool | None:
    """Whether a list of endings, or one expression for the whole name, names a module."""
    if isinstance(value, str):
        return _full(value, module)
    return any(f".{module}".endswith(f".{name}") for name in map(str, items_of(cast("Any", value))))


def _full(pattern: str, module: str) -> bool | None:
    """Whether an expression matches the whole name; None for one that could take long, or is none."""
    if len(module) > _LONGEST or len(_REPEATS.findall(pattern)) > _MOST_REPEATS or re.search(r"\)[*+{]", pattern):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # on sets that a later Python may read otherwise
            return re.fullmatch(pattern, module) is not None
    except re.error:
        return None
