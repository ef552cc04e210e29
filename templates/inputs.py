"""Reads values: a YAML file, then --set KEY=VALUE over it, typed by the fields of `Values`."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast, get_args, get_origin, get_type_hints

from ..config.load import Marks, build, parse
from ..report.errors import BadInput
from .values import Values

_SOURCE = "values"
_LIST = "interlock render PROFILE --show-values > values.yaml writes one with every key"


def read(file: str | None, given: Mapping[str, Any] | None, sets: Sequence[str]) -> tuple[Values, Marks, str]:
    """Values, where each key of the file stands, and what to call their source. Raises BadInput."""
    tree: dict[str, Any] = {}
    marks: Marks = {}
    if file is not None:
        tree, marks = parse(file, hint=_LIST)
    tree.update(copy.deepcopy(dict(given or {})))
    for item in sets:
        path, value = _assignment(item)
        _put(tree, path, value, item)
        marks = {pointer: mark for pointer, mark in marks.items() if not _below(pointer, path)}
    source = file if file is not None else _SOURCE
    return build(Values, tree, source, marks), marks, source


def _below(pointer: str, path: list[str]) -> bool:
    own = "/" + "/".join(path)
    return pointer == own or pointer.startswith(own + "/")


def _assignment(item: str) -> tuple[list[str], Any]:
    """The path and the typed value of KEY=VALUE. A dot in a map key is written `\\.`."""
    what = f"--set {item}"
    key, equals, text = item.partition("=")
    if not equals or not key:
        raise BadInput(what, "not KEY=VALUE", hint="write --set model.version=1.4.0")
    path = [part.replace("\0", ".") for part in key.replace("\\.", "\0").split(".")]
    kind: Any = Values
    known: list[str] = []
    for depth, part in enumerate(path):
        if is_dataclass(kind):
            hints = get_type_hints(kind)
            known = [field.name for field in fields(kind)]
            if part not in known:
                close = difflib.get_close_matches(part, known, n=1)
                hint = (
                    f"did you mean '{'.'.join([*path[:depth], close[0]])}'?" if close else f"keys: {', '.join(known)}"
                )
                raise BadInput(what, f"unknown key '{'.'.join(path[: depth + 1])}'", hint=hint)
            kind = hints[part]
        elif get_origin(kind) is dict and depth == len(path) - 1:
            kind = get_args(kind)[1]
        else:
            raise BadInput(what, f"'{'.'.join(path[:depth])}' has no keys below it", hint=_LIST)
    return path, _typed(kind, text, what)


def _typed(kind: Any, text: str, what: str) -> Any:
    """A string stays what it is (`1e3` is the text 1e3); lists and maps are written as YAML flow."""
    if kind is str:
        return text
    if kind is bool:
        if text not in ("true", "false"):
            raise BadInput(what, "must be true or false", hint="write true or false")
        return text == "true"
    if kind is int:
        if not text.removeprefix("-").isascii() or not text.removeprefix("-").isdigit():
            raise BadInput(what, "must be a whole number", hint="digits only")
        return int(text)
    import yaml

    try:
        value = yaml.load(text, yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        raise BadInput(what, "invalid YAML", hint="write a list as [a, b] and a map as {a: b}") from error
    if not isinstance(value, list | dict):
        raise BadInput(
            what, f"must be a {'list' if get_origin(kind) is list else 'mapping'}", hint="write [a, b] or {a: b}"
        )
    return cast("Any", value)


def _put(tree: dict[str, Any], path: list[str], value: Any, item: str) -> None:
    place = tree
    for part in path[:-1]:
        inner = place.setdefault(part, {})
        if not isinstance(inner, dict):
            raise BadInput(f"--set {item}", f"'{part}' is not a mapping in the values file", hint="give it keys there")
        place = cast("dict[str, Any]", inner)
    place[path[-1]] = value
