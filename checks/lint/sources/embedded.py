"""Shell text inside YAML scalars: where its characters stand in the file."""

from __future__ import annotations

from .shell import Origin
from .text import TextFile
from .yamlnodes import Span


def origin_of(file: TextFile, span: Span, value: str) -> Origin:
    """The place of a scalar's first character, and of its later lines where they stand in the file as they are."""
    if span.style in ("|", ">"):
        first = span.line + 1
        for number in range(span.line, min(span.end_line, len(file.lines))):
            line = file.lines[number]
            if line.strip():
                first_text = next((each for each in value.split("\n") if each.strip()), "")
                indent = _spaces(line) - _spaces(first_text)
                return Origin(first, indent + 1, indent + 1 if span.style == "|" else 0)
        return Origin(first, 1, 0)
    quoted = span.style in ("'", '"')
    return Origin(span.line, span.column + quoted, 1 if span.end_line == span.line else 0)


def _spaces(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
