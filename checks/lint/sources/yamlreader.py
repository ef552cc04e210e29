"""Reads YAML into the containers of `yamlnodes`.

libyaml composes the nodes (`CSafeLoader`). The pure-Python parser is 22 times slower, so its absence is an error, not a
fallback.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Generator, Iterator
from typing import Any

import yaml

from ..lazy import lazy
from .text import TextFile, Unreadable
from .yamlnodes import EMPTY, WIDTH, Document, Map, Seq

MAX_DEPTH = 200
MAX_EXPANDED = 1_000_000
_RETRIES = 20
# libyaml ends lines at these, editors and GitHub do not: as blanks they keep every line where people see it.
_ODD_LINE_ENDS = ("\x85", "\u2028", "\u2029")
_DEFINITION = lazy(r"^kind: CustomResourceDefinition\s*$", re.MULTILINE)
_STYLES = {None: 0, "": 0, "'": 1, '"': 2, "|": 3, ">": 4}
_TAG = "tag:yaml.org,2002:"
_MERGE = _TAG + "merge"


def documents(file: TextFile) -> Iterator[Document]:
    """The documents of a file. One that cannot be read is a notice on the file, and the next ones are still read."""
    if not hasattr(yaml, "CSafeLoader"):
        raise Unreadable("PyYAML was built without libyaml", hint="install a PyYAML wheel, or libyaml-dev and rebuild")
    source, skipped = _without_definitions(file.text), 0
    for mark in _ODD_LINE_ENDS:
        source = source.replace(mark, " ")
    for _ in range(_RETRIES):
        broken = yield from _stream(file, source, skipped)
        if broken is None:
            return
        source, lines = broken
        skipped += lines


def _stream(file: TextFile, source: str, skipped: int) -> Generator[Document, None, tuple[str, int] | None]:
    """The documents up to the first that is broken; returns the text after that one, and how many lines come before."""
    loader = yaml.CSafeLoader(source)
    read = 0
    try:
        while loader.check_node():
            node: Any = loader.get_node()
            read = node.end_mark.line
            builder = _Builder(skipped)
            try:
                root = builder.build(node)
            except Unreadable as error:
                file.notices.append(error)
            else:
                yield Document(file, node.start_mark.line + 1 + skipped, root, builder.duplicates)
    except yaml.MarkedYAMLError as error:
        line, column = _place(error)
        lines = source.split("\n")
        starts = [number for number, text in enumerate(lines) if text.startswith("---")]
        culprit = line - 1
        if culprit in starts and culprit > read:
            culprit -= 1  # an unfinished document fails where the next one begins
        # The parser looks ahead: what it fails on may stand in the document after the one it was about to give.
        begin = max((number for number in starts if read <= number <= culprit), default=read)
        if any(text.strip(" -\r") for text in lines[read:begin]):
            yield from _stream(file, "\n".join(lines[read:begin]), skipped + read)
        file.notices.append(_explain(file.text, error, line + skipped, column))
        after = next((number for number in starts if number > culprit), None)
        return None if after is None else ("\n".join(lines[after:]), after)
    except yaml.YAMLError as error:
        file.notices.append(Unreadable(f"invalid YAML: {str(error).splitlines()[0]}"))
    finally:
        loader.dispose()
    return None


def _without_definitions(source: str) -> str:
    """The text with CustomResourceDefinitions blanked out: no rule reads them, and installs hold little else."""
    if "kind: CustomResourceDefinition" not in source:
        return source
    parts = re.split(r"^(?=---)", source, flags=re.MULTILINE)
    return "".join("\n" * p.count("\n") if _DEFINITION.search(p) else p for p in parts)


def _place(error: yaml.MarkedYAMLError) -> tuple[int, int]:
    mark = error.problem_mark or error.context_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _explain(source: str, error: yaml.MarkedYAMLError, line: int, column: int) -> Unreadable:
    if "{{" in source:
        reason = "holds Go template braces: not YAML until it is rendered"
        return Unreadable(
            reason, line=line, column=column, hint="pipe the output of helm template into interlock lint -"
        )
    reason = ", ".join(part for part in (error.context, error.problem) if part)
    lines = source.splitlines()
    text = lines[line - 1] if line <= len(lines) else ""
    if "\t" in text[: len(text) - len(text.lstrip())]:
        return Unreadable("invalid YAML: a tab indents the line", line=line, column=column, hint="indent with spaces")
    return Unreadable(f"invalid YAML: {reason}", line=line, column=column)


class _Builder:
    """Turns composed nodes into containers, bounded in depth and in the size that aliases expand to."""

    def __init__(self, skipped: int) -> None:
        self._skipped = skipped
        self._done: dict[int, Map | Seq | None] = {}
        self._shared = False
        self.duplicates: list[tuple[str, int, int]] = []

    def build(self, node: yaml.Node) -> Any:
        """The document's value. Raises Unreadable on bombs."""
        value = self._value(node, None, "", 0)
        if self._shared and _expanded(value, {}) > MAX_EXPANDED:
            raise Unreadable(f"aliases expand to more than {MAX_EXPANDED:,} values", line=node.start_mark.line + 1)
        return value

    def _value(self, node: Any, parent: Map | Seq | None, key: str | int, depth: int) -> Any:
        if type(node) is yaml.ScalarNode:
            return _scalar(node)
        known = self._done.get(id(node), EMPTY)
        line = node.start_mark.line + 1 + self._skipped
        if known is None:
            raise Unreadable("an alias refers to what contains it", line=line)
        if known is not EMPTY:
            self._shared = True
            return known
        if depth > MAX_DEPTH:
            raise Unreadable(f"nested deeper than {MAX_DEPTH} levels", line=line)
        self._done[id(node)] = None
        built = (self._mapping if type(node) is yaml.MappingNode else self._sequence)(node, parent, key, depth)
        self._done[id(node)] = built
        return built

    def _sequence(self, node: Any, parent: Map | Seq | None, key: str | int, depth: int) -> Seq:
        result = Seq()
        result.parent, result.key = parent, key
        marks: list[int] = []
        add, shift = marks.extend, self._skipped + 1
        for index, item in enumerate(node.value):
            start, end = item.start_mark, item.end_mark
            line, column = start.line + shift, start.column + 1
            style = _STYLES.get(item.style, 0) if type(item) is yaml.ScalarNode else 0
            add((line, column, column, line, column, end.line + shift, end.column + 1, style))
            result.append(self._value(item, result, index, depth + 1))
        result.marks = array("I", marks)
        return result

    def _mapping(self, node: Any, parent: Map | Seq | None, key: str | int, depth: int) -> Map:
        result = Map()
        result.parent, result.key = parent, key
        marks: list[int] = []
        merges: list[Any] = []
        add, shift, scalar = marks.extend, self._skipped + 1, yaml.ScalarNode
        for name_node, item in node.value:
            if name_node.tag == _MERGE:
                merges.append(item)
                continue
            begin = name_node.start_mark
            name = name_node.value if type(name_node) is scalar else f"<{name_node.id}>"
            start, end = item.start_mark, item.end_mark
            style = _STYLES.get(item.style, 0) if type(item) is scalar else 0
            entry = (
                begin.line + shift, begin.column + 1, name_node.end_mark.column + 1,
                start.line + shift, start.column + 1, end.line + shift, end.column + 1, style,
            )  # fmt: skip
            if name in result:
                self.duplicates.append((name, entry[0], entry[1]))
                place = list(result).index(name) * WIDTH
                marks[place : place + WIDTH] = entry
            else:
                add(entry)
            result[name] = _scalar(item) if type(item) is scalar else self._value(item, result, name, depth + 1)
        result.marks = array("I", marks)
        for item in merges:
            self._merge(result, self._value(item, result, "<<", depth + 1))
        return result

    def _merge(self, into: Map, value: Any) -> None:
        """Entries of a merge key, where the mapping itself does not say otherwise; earlier sources win."""
        if isinstance(value, Seq):
            for item in value:
                self._merge(into, item)
        elif isinstance(value, Map):
            for index, (name, item) in enumerate(value.items()):
                if name not in into:
                    into[name] = item
                    into.marks.extend(value.marks[index * WIDTH : (index + 1) * WIDTH])


def _scalar(node: Any) -> Any:
    value: str = node.value
    tag: str = node.tag
    if tag.endswith("2002:str"):
        return value
    if tag == _TAG + "int":
        try:
            return int(value.replace("_", ""), 0)
        except ValueError:
            return int(value, 8) if value.strip("01234567") == "" else value
    if tag == _TAG + "bool":
        return value.lower() in ("true", "yes", "on")
    if tag == _TAG + "null":
        return None
    if tag == _TAG + "float":
        try:
            return float(value.replace("_", ""))
        except ValueError:
            return value
    return value


def _expanded(value: Any, sizes: dict[int, int]) -> int:
    """How many values a tree has when every alias is written out."""
    if not isinstance(value, Map | Seq):
        return 1
    known = sizes.get(id(value))
    if known is None:
        items: Any = value.values() if isinstance(value, Map) else value
        known = 1 + sum(_expanded(item, sizes) for item in items)
        sizes[id(value)] = known
    return known
