"""Reads one shell word: quotes, escapes, expansions and what is inside command substitutions."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_right

from ..lazy import lazy
from .shelltokens import Hole, Origin, Word

SPACE = lazy(r"(?:[ \t\r\f\v]|\\\r?\n)+")
_LINE_END = lazy(r"\\\r?\n")
_RUN = lazy(r"[^\s;&|<>()'\"\\$`]+")
_QUOTED_RUN = lazy(r"[^\"\\$`]+")
_HOLE = lazy(r"\$(?:[A-Za-z_]\w*|[0-9@*#?$!_-])")
_ANSI = lazy(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BRACE = lazy(r"\\.|'[^']*'|[{}]", re.DOTALL)


class WordReader(ABC):
    """A position in a shell text. `inside` reads the commands of a substitution; the grammar supplies it."""

    def __init__(self, text: str, origin: Origin) -> None:
        self.text, self.origin, self.at = text, origin, 0
        self.starts = [0, *(found.end() for found in re.finditer(r"\n", text))]
        self.backticks = 0
        self.problem = ""

    @abstractmethod
    def inside(self, opening: int, close: str) -> None:
        """Skip `opening` characters and read commands up to and with `close`."""

    def position(self, offset: int) -> tuple[int, int]:
        """File line and column of an offset."""
        origin = self.origin
        if not origin.rest:
            return origin.line, origin.column
        index = bisect_right(self.starts, offset) - 1
        start = origin.column if index == 0 else origin.rest
        return origin.line + index, start + offset - self.starts[index]

    def stop(self, reason: str, offset: int) -> None:
        """Give up: keep the first reason and step to the end."""
        if not self.problem:
            line, column = self.position(offset)
            self.problem = f"{reason} at line {line}, column {column}"
        self.at = len(self.text)

    def skip_space(self) -> None:
        """Step over blanks and escaped line ends."""
        if found := SPACE.match(self.text, self.at):
            self.at = found.end()

    def word(self) -> Word:
        """The word at this position, empty where an operator stands."""
        start, parts, quoted = self.at, list[str](), False
        text, size = self.text, len(self.text)
        while self.at < size:
            character = text[self.at]
            if found := _RUN.match(text, self.at):
                parts.append(found.group())
                self.at = found.end()
            elif character == "\\":
                if escaped := _LINE_END.match(text, self.at):
                    self.at = escaped.end()
                    continue
                parts.append(text[self.at + 1 : self.at + 2])
                self.at += 2
            elif character == "'":
                quoted = quoted or self.at == start
                end = text.find("'", self.at + 1)
                if end < 0:
                    self.stop("unclosed quote", self.at)
                    break
                parts.append(text[self.at + 1 : end])
                self.at = end + 1
            elif character == '"':
                quoted = quoted or self.at == start
                self.double_quoted(parts)
            elif character == "$":
                self.dollar(parts, quoted=False)
            elif character == "`":
                if self.backticks:
                    break
                self.backtick(parts)
            elif text.startswith(("<(", ">("), self.at):
                self.substitution(parts, 2)
            elif character == "(" and parts and parts[-1][-1:] in "?*+@!":
                end = text.find(")", self.at)  # extended glob
                end = size if end < 0 else end + 1
                parts.append(text[self.at : end])
                self.at = end
            else:
                break
        end = min(self.at, size)
        return Word(_merged(parts), *self.position(start), *self.position(end), quoted)

    def double_quoted(self, parts: list[str]) -> None:
        opening = self.at
        self.at += 1
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == '"':
                self.at += 1
                return
            if found := _QUOTED_RUN.match(self.text, self.at):
                parts.append(found.group())
                self.at = found.end()
            elif character == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                if following != "\n":
                    parts.append(following if following in '$`"\\' else f"\\{following}")
                self.at += 2
            elif character == "$":
                self.dollar(parts, quoted=True)
            elif self.backticks:
                parts.append(character)
                self.at += 1
            else:
                self.backtick(parts)
        self.stop("unclosed quote", opening)

    def dollar(self, parts: list[str], *, quoted: bool) -> None:
        text, start = self.text, self.at
        if text.startswith("$((", start):
            end = text.find("))", start)
            self.hole(parts, len(text) if end < 0 else end + 2)
        elif text.startswith("$(", start):
            self.substitution(parts, 2)
        elif text.startswith("${{", start):  # a workflow expression
            end = text.find("}}", start)
            self.hole(parts, len(text) if end < 0 else end + 2)
        elif text.startswith("${", start):
            self.braces(parts)
        elif text.startswith("$'", start) and not quoted:
            found = _ANSI.match(text, start)
            if found is None:
                return self.stop("unclosed quote", start)
            parts.append(re.sub(r"\\(.)", r"\1", found[1], flags=re.DOTALL))
            self.at = found.end()
        elif found := _HOLE.match(text, start):
            self.hole(parts, found.end())
        else:
            parts.append("$")
            self.at += 1
        return None

    def hole(self, parts: list[str], end: int) -> None:
        parts.append(Hole(self.text[self.at : end]))
        self.at = end

    def braces(self, parts: list[str]) -> None:
        """`${…}` with nested braces and quotes, kept as written."""
        depth, at = 0, self.at + 1
        for found in _BRACE.finditer(self.text, at):
            depth += {"{": 1, "}": -1}.get(found.group(), 0)
            if depth == 0:
                return self.hole(parts, found.end())
        return self.stop("unclosed ${", self.at)

    def substitution(self, parts: list[str], opening: int) -> None:
        start = self.at
        self.inside(opening, ")")
        parts.append(Hole(self.text[start : min(self.at, len(self.text))]))

    def backtick(self, parts: list[str]) -> None:
        start = self.at
        self.backticks += 1
        self.inside(1, "`")
        self.backticks -= 1
        parts.append(Hole(self.text[start : min(self.at, len(self.text))]))


def _merged(parts: list[str]) -> tuple[str, ...]:
    """Neighbouring constant parts joined."""
    merged: list[str] = []
    for part in parts:
        if merged and not isinstance(part, Hole) and not isinstance(merged[-1], Hole):
            merged[-1] += part
        else:
            merged.append(part)
    return tuple(merged)
