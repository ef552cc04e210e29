"""Jinja2 with every expression encoded as JSON, and a check that templates leave no other way in.

A template is YAML with expressions where a whole value stands: `name: {{ v.name }}`. An expression inside quotes, glued
to text, in a comment or in a block scalar is refused when the template is loaded, since there JSON would not be a
value of its own.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..report.errors import BadInput
from .scalars import encode

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent
_HOLE = "\0"
# A whole value: after `key: `, `- `, `[`, `{`, `, ` or alone on its line; before a comma, a bracket or the end.
_BEFORE = re.compile(r"(^\s*|[:\-]\s+|[\[{,]\s*)$")
_AFTER = re.compile(r"\s*($|[,\]}])")
_BLOCK_SCALAR = re.compile(r"^(\s*)[^#\"']*[:\-]\s+[|>][+\-0-9]*\s*$")


@cache
def environment() -> Environment:
    """The one Jinja2 environment; undefined names are errors and templates are checked as they load."""
    from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound

    class Checked(BaseLoader):
        def get_source(self, environment: Environment, template: str) -> tuple[str, str, None]:
            path = FOLDER / template
            if not path.is_file():
                raise TemplateNotFound(template)
            source = path.read_text(encoding="utf-8")
            if problems := flaws(source, environment):
                line, reason = problems[0]
                raise BadInput(
                    path, reason, line=line, hint="let an expression be a whole value: key: {{ a ~ '-' ~ b }}"
                )
            return source, str(path), None

    return Environment(
        loader=Checked(),
        finalize=_finalize,
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - the output is YAML, and every expression is encoded by `finalize`
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _finalize(value: Any) -> str:
    from jinja2 import Undefined

    if isinstance(value, Undefined):
        str(value)  # raises, naming what is undefined
    return encode(value)


def flaws(source: str, environment: Environment) -> list[tuple[int, str]]:
    """(line, reason) of every place where an expression of a template would not be a whole YAML value."""
    found = _unencoded(source, environment)
    text = _with_holes(source, environment)
    scalar_indent: int | None = None
    for number, line in enumerate(text.split("\n"), 1):
        indent = len(line) - len(line.lstrip())
        if scalar_indent is not None and line.strip():
            if indent > scalar_indent:
                if _HOLE in line:
                    found.append((number, "an expression inside a block scalar"))
                continue
            scalar_indent = None
        if match := _BLOCK_SCALAR.match(line):
            scalar_indent = len(match[1])
        if _quoted(line.replace(_HOLE, "0")) and not line.lstrip().startswith("#"):
            found.append((number, "a quote that its line does not close"))
            continue
        parts = line.split(_HOLE)
        for i in range(len(parts) - 1):
            before, after = _HOLE.join(parts[: i + 1]).replace(_HOLE, "0"), parts[i + 1]
            if _quoted(before):
                found.append((number, "an expression inside quotes"))
            elif re.search(r"(^|\s)#", before):
                found.append((number, "an expression inside a comment"))
            elif not _BEFORE.search(before) or not _AFTER.match(after):
                found.append((number, "an expression glued to text"))
    return sorted(found)


def _quoted(before: str) -> bool:
    """Whether text ends inside a YAML quoted scalar of its line."""
    bare = re.sub(r'"(\\.|[^"\\])*"|\'(\'\'|[^\'])*\'', "", before)
    return '"' in bare or "'" in bare


def _with_holes(source: str, environment: Environment) -> str:
    """The template's own text with every expression as one NUL; statements vanish, line numbers stay."""
    text: list[str] = []
    inside = ""
    for _, kind, value in environment.lex(source):
        if kind in ("variable_begin", "block_begin", "comment_begin", "raw_begin"):
            inside = kind
            text.append(_HOLE if kind == "variable_begin" else "")
        newlines = "\n" * value.count("\n")
        text.append(newlines if inside else value)
        if kind in ("variable_end", "block_end", "comment_end", "raw_end"):
            inside = ""
    return "".join(text)


def _unencoded(source: str, environment: Environment) -> list[tuple[int, str]]:
    """Constructs of the syntax tree that write text around `finalize`: macros, calls with bodies, filter blocks."""
    from jinja2 import nodes

    forbidden = {
        nodes.Macro: "a macro: its result is text, not a value",
        nodes.CallBlock: "a call block: its body is text, not a value",
        nodes.FilterBlock: "a filter block: it rewrites encoded values",
        nodes.AssignBlock: "a block assignment: its body is text, not a value",
        nodes.MarkSafe: "text marked safe",
    }
    tree = environment.parse(source)
    return [(node.lineno, why) for kind, why in forbidden.items() for node in tree.find_all(kind)]


def render(template: str, context: dict[str, Any]) -> str:
    """The template's text, YAML that still has to be parsed. Raises BadInput on values that YAML cannot hold."""
    from jinja2 import TemplateError

    try:
        return environment().get_template(template).render(context)
    except UnicodeEncodeError as error:
        raise BadInput(
            template, "a value holds half a surrogate pair, which is not text", hint="write it in UTF-8"
        ) from error
    except TemplateError as error:
        raise BadInput(template, str(error).lower()) from error
