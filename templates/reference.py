"""All values with their defaults, as a commented YAML file to start from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

from ..report.report import Report
from .scalars import encode
from .values import Values


def describe() -> Report:
    """The values file with every key at its default, as payload."""
    return Report(command="render", inputs=1, payload="\n".join(_lines(Values, "")) + "\n")


def _lines(kind: Any, indent: str) -> Iterator[str]:
    hints = get_type_hints(kind)
    for field in fields(kind):
        inner = hints[field.name]
        yield f"{indent}# {field.metadata['doc']}"
        if is_dataclass(inner):
            yield f"{indent}{field.name}:"
            yield from _lines(inner, indent + "  ")
        else:
            default = getattr(kind(), field.name)
            yield f"{indent}{field.name}: {encode(default)}"
