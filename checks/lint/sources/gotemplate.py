"""Helm templates read without their values: what is written down stays; what the values decide is unknown.

Control lines become empty, the first branch of a condition counts, and an expression becomes a placeholder `$(t...)`,
equal for equal expressions, so that labels still match selectors. A line that pours in a block (`toYaml`, `include`)
leaves a hole: a mapping with a hole may have any key, so nothing is missing from it.
"""

from __future__ import annotations

import re
from zlib import crc32

from ..lazy import lazy
from .text import TextFile
from .yamlnodes import Map

_ACTION = lazy(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_BLOCKS = frozenset({"if", "with", "range", "define", "block"})
_INDENT = lazy(r"\bn?indent\s+(\d+)")
_PRINTF = lazy(r'^printf\s+"((?:[^"\\]|\\.)*)"\s')
_VERB = lazy(r"%[-+# 0-9.]*[a-zA-Z]")
_MARK = lazy(r"\$\(t[0-9a-f]+\)")
_SILENT = lazy(r"^(\$\w*\s*:?=|/\*|(fail|required|set|unset)\b|_\s*=)")
# Alert texts hold braces too, but none of these.
_HELM = lazy(
    r"^[^#\n]*\{\{-?\s*(.*[\s($])?(\$?\.(Values|Release|Chart|Capabilities)\b|\$\w+\s*:=|"
    r"(include|template|define|toYaml|tpl)\s)",
    re.MULTILINE,
)


def is_template(text: str) -> bool:
    """Whether a text is a Helm template; braces in comments and in alert texts are not."""
    return "{{" in text and _HELM.search(text) is not None


def flattened(file: TextFile) -> TextFile:
    """The template as YAML with the same lines, and the holes in it."""
    holes: list[tuple[int, int]] = []
    output: list[str] = []
    skipped: list[bool] = []  # one entry a block: whether what stands in it now is left out
    position, line = 0, 1
    for match in _ACTION.finditer(file.text):
        between, expression = file.text[position : match.start()], match.group(1)
        output.append("\n" * between.count("\n") if any(skipped) else between)
        line += between.count("\n")
        word = expression.split(None, 1)[0] if expression else ""
        if word in _BLOCKS:
            skipped.append(word == "define")
        elif word == "else" and skipped:
            skipped[-1] = True
        elif word == "end" and skipped:
            skipped.pop()
        elif not any(skipped) and not _SILENT.match(expression):
            before = file.text[file.text.rfind("\n", 0, match.start()) + 1 : match.start()]
            if _is_alone(file.text, before, match.end()):
                found = _INDENT.search(expression)
                holes.append((line, int(found.group(1)) if found else len(before)))
            else:
                output.append(_placeholder(expression))
        breaks = match.group().count("\n")
        output.append("\n" * breaks)
        line += breaks
        position = match.end()
    rest = file.text[position:]
    output.append("\n" * rest.count("\n") if any(skipped) else rest)
    return TextFile(file.path, "".join(output), file.origin, holes=holes, template=True)


def _is_alone(text: str, before: str, end: int) -> bool:
    """Whether an action has its line to itself, other actions aside."""
    stop = text.find("\n", end)
    after = text[end : len(text) if stop < 0 else stop]
    return not _ACTION.sub("", before).strip() and not _ACTION.sub("", after).strip()


def _placeholder(expression: str) -> str:
    """Unknown text; the literal parts of a format stay."""
    mark = f"$(t{crc32(expression.encode()) & 0xFFFFFF:x})"
    found = _PRINTF.match(expression)
    return _VERB.sub(mark, found.group(1)) if found else mark


def unmarked(text: str) -> str:
    """A text for people: placeholders as the braces they stand for."""
    return _MARK.sub("{{…}}", text)


def is_open(file: TextFile, holder: Map) -> bool:
    """Whether a block is poured into this mapping, so that it may have keys that are not written down."""
    if not file.holes or not holder:
        return False
    spans = [holder.span(key) for key in holder]
    first, last = spans[0].key_line, max(span.end_line for span in spans)
    return any(first < line <= last + 1 and indent == spans[0].key_column - 1 for line, indent in file.holes)
