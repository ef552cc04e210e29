"""Helm templates read without their values: what is written down stays; what the values decide is unknown.

Control lines become empty, the first branch of a condition counts, and an expression becomes a placeholder `$(t...)`,
equal for equal expressions, so that labels still match selectors. A line that pours in a block (`toYaml`, `include`)
leaves a hole: a mapping with a hole may have any key, so nothing is missing from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

from ..lazy import lazy
from .text import TextFile, Unreadable
from .yamlnodes import Map

MAX_LINE = 50_000  # every action looks at the whole of its line
_BLOCKS = frozenset({"if", "with", "range", "define", "block"})
_INDENT = lazy(r"\bn?indent\s+(\d+)")
_PRINTF = lazy(r'^printf\s+"((?:[^"\\]|\\.)*)"\s')
_VERB = lazy(r"%[-+# 0-9.]*[a-zA-Z]")
_MARK = lazy(r"\$\(t[0-9a-f]+\)")
_SILENT = lazy(r"^(\$\w*\s*:?=|/\*|(fail|required|set|unset)\b|_\s*=)")
# Alert texts hold braces too, but none of these.
_HELM = lazy(r"[\s($](\$?\.(Values|Release|Chart|Capabilities)\b|\$\w+\s*:=|(include|template|define|toYaml|tpl)\s)")
_OPENING = lazy(r"\{\{-?\s*")


def is_template(text: str) -> bool:
    """Whether a text is a Helm template; braces in comments and in alert texts are not."""
    if "{{" not in text:
        return False
    # Line by line and from its first braces on: one pattern for all of it takes quadratic time on a line of braces.
    for line in _OPENING.sub("{{ ", text).split("\n"):
        before, braces, action = line.partition("{{")
        if braces and "#" not in before and _HELM.search(action):
            return True
    return False


def _actions(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and expression of every `{{ … }}`."""
    end = 0
    while (start := text.find("{{", end)) >= 0 and (close := text.find("}}", start + 2)) >= 0:
        end = close + 2
        yield start, end, text[start + 2 : close].removeprefix("-").removesuffix("-").strip()


def flattened(file: TextFile) -> TextFile:
    """The template as YAML with the same lines, and the holes in it. Raises Unreadable on a line no one wrote."""
    if max(map(len, file.text.split("\n"))) > MAX_LINE:
        raise Unreadable(f"a Helm template with a line of more than {MAX_LINE:,} characters")
    holes: list[tuple[int, int]] = []
    output: list[str] = []
    skipped: list[bool] = []  # one entry a block: whether what stands in it now is left out
    position, line = 0, 1
    for start, end, expression in _actions(file.text):
        between = file.text[position:start]
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
            before = file.text[file.text.rfind("\n", 0, start) + 1 : start]
            if _is_alone(file.text, before, end):
                found = _INDENT.search(expression)
                holes.append((line, int(found.group(1)) if found else len(before)))
            else:
                output.append(_placeholder(expression))
        breaks = file.text.count("\n", start, end)
        output.append("\n" * breaks)
        line += breaks
        position = end
    rest = file.text[position:]
    output.append("\n" * rest.count("\n") if any(skipped) else rest)
    return TextFile(file.path, "".join(output), file.origin, holes=holes, template=True)


def _is_alone(text: str, before: str, end: int) -> bool:
    """Whether an action has its line to itself, other actions aside."""
    stop = text.find("\n", end)
    after = text[end : len(text) if stop < 0 else stop]
    return not _without_actions(before) and not _without_actions(after)


def _without_actions(text: str) -> str:
    parts, position = list[str](), 0
    for start, end, _ in _actions(text):
        parts.append(text[position:start])
        position = end
    return "".join([*parts, text[position:]]).strip()


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
