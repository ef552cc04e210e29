"""Shell text inside YAML scalars: where its characters stand in the file."""

from __future__ import annotations

from .shell import Origin, Script, parse
from .text import TextFile
from .yamlnodes import Map, Seq, Span
from .yamlnodes import text as scalar_text


def origin_of(file: TextFile, span: Span) -> Origin:
    """The place of a scalar's first character, and of its later lines where they stand in the file as they are."""
    if span.style in ("|", ">"):
        first = span.line + 1
        for number in range(span.line, min(span.end_line, len(file.lines))):
            line = file.lines[number]
            if line.strip():
                indent = len(line) - len(line.lstrip(" "))
                return Origin(first, indent + 1, indent + 1 if span.style == "|" else 0)
        return Origin(first, 1, 0)
    quoted = span.style in ("'", '"')
    return Origin(span.line, span.column + quoted, 1 if span.end_line == span.line else 0)


def script_in(file: TextFile, holder: Map | Seq, slot: str | int, variables: dict[str, str] | None = None) -> Script:
    """The commands of the shell text under `slot`, with file positions; `variables` are constants known to it."""
    if isinstance(holder, Map):
        value, span = holder.get(str(slot)), holder.span(str(slot))
    else:
        value, span = holder[int(slot)], holder.span(int(slot))
    return parse(scalar_text(value), origin_of(file, span), variables)
