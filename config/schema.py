"""JSON Schema (draft 2020-12) of interlock.yaml, generated from the settings."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

from .settings import Limits, Settings

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema() -> dict[str, Any]:
    """The schema as Python data."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "interlock.yaml",
        **_schema(Settings),
    }


def _schema(kind: Any) -> dict[str, Any]:
    origin = get_origin(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        properties: dict[str, Any] = {}
        for f in fields(kind):
            entry = {**_schema(hints[f.name]), "description": f.metadata["doc"]}
            limits = cast("Limits | None", f.metadata.get("limits"))
            if limits is not None:
                entry.get("additionalProperties", entry).update(_limits(limits))
            if f.default is not MISSING and f.default not in ("", None):
                entry["default"] = f.default
            properties[f.metadata.get("key") or f.name] = entry
        doc = (kind.__doc__ or "").strip().splitlines()[0]
        return {"type": "object", "description": doc, "properties": properties, "additionalProperties": False}
    if origin is Literal:
        return {"enum": list(get_args(kind))}
    if origin is list:
        return {"type": "array", "items": _schema(get_args(kind)[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(get_args(kind)[1])}
    return {"type": _SCALARS[kind]}


def _limits(limits: Limits) -> dict[str, Any]:
    words = {"minimum": limits.least, "exclusiveMinimum": limits.above, "maximum": limits.most}
    found: dict[str, Any] = {key: value for key, value in words.items() if value is not None}
    return {**found, "pattern": limits.pattern} if limits.pattern else found
