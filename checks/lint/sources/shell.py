"""Shell text as simple commands with positions. Nothing is run and nothing is expanded beyond plain constants.

Reads the POSIX grammar (https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html) and the bash
additions found in practice. What is inside compound commands, substitutions, `sh -c` strings and here-documents fed to
a shell is read too. A variable that the text assigns exactly once to constant text stands for that text; any other
expansion stays in `Word.text` as written and makes the word `dynamic`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import pairwise

from ..lazy import lazy
from .shelltokens import Command, Heredoc, Hole, Origin, Redirect, Script, Word, constants_of, filled
from .shellwords import SPACE, WordReader

__all__ = ["Command", "Heredoc", "Hole", "Origin", "Redirect", "Script", "Word", "parse"]

MAX_CHARS = 4 << 20
MAX_DEPTH = 40
SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh"})

_ASSIGN = lazy(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
_REDIRECT = lazy(r"\d*(?:<<<|<<-|<<|<>|<&|>>|>&|>\||&>>|&>|<(?!\()|>(?!\())")
_SEPARATOR = lazy(r";;&|;;|;&|;|&&|&|\|\||\|&|\||\n|\(|\)")
_IN = lazy(r"\s*in\b")
_BLANK = lazy(r"(?:\s|#[^\n]*\n)*")
_COMMENT = lazy(r"[^\n]*")
_COMMENT_IN_BACKTICKS = lazy(r"[^\n`]*")
_ESAC = lazy(r"esac\b")
_DECLARE = frozenset({"export", "readonly", "local", "declare", "typeset"})
_END_OF_CASE = frozenset({";;", ";&", ";;&"})
_JOINS = {"\n": ";", "(": "", ")": "", ";;": ";", ";&": ";", ";;&": ";"}


def parse(text: str, origin: Origin | None = None, variables: dict[str, str] | None = None) -> Script:
    """The simple commands of `text`. Never raises: unfinished text gives what was read and a `problem`.

    `variables` are constants known from outside, such as a step's environment; empty values count as unknown.
    """
    reader = _Reader(text[:MAX_CHARS], origin or Origin())
    reader.commands("")
    problem = reader.problem or (f"longer than {MAX_CHARS >> 20} MiB" if len(text) > MAX_CHARS else "")
    constants = constants_of(reader.out, variables or {})
    for command in reader.out:
        command.words = [filled(word, constants) for word in command.words]
        command.assignments = [(name, filled(word, constants)) for name, word in command.assignments]
        command.redirects = [Redirect(item.operator, filled(item.target, constants)) for item in command.redirects]
    return Script(reader.out, constants, problem)


@dataclass(slots=True)
class _Block:
    """What is open while commands are read: the closing character, parentheses, and one frame per if, loop or case."""

    until: str
    parens: int = 0
    joined: str = ""
    pattern: bool = False
    frames: list[_Frame] = field(default_factory=list["_Frame"])


@dataclass(slots=True)
class _Frame:
    decides: bool = False
    loops: bool = False
    case: bool = False


class _Reader(WordReader):
    def __init__(self, text: str, origin: Origin, depth: int = 0, out: list[Command] | None = None) -> None:
        super().__init__(text, origin)
        self.depth = depth
        self.out: list[Command] = [] if out is None else out
        self.pending: list[tuple[Command, str, bool]] = []

    def commands(self, until: str) -> None:
        """Read commands up to and with the closing character `until`."""
        if self.depth > MAX_DEPTH:
            return self.stop("substitutions nested too deep", self.at)
        start, block = self.at, _Block(until)
        command = Command(nested=self.depth)
        while self.at < len(self.text):
            if block.pattern:
                block.pattern = False
                self.case_pattern()
                continue
            character = self.text[self.at]
            if found := SPACE.match(self.text, self.at):
                self.at = found.end()
            elif character == "#":
                found = (_COMMENT_IN_BACKTICKS if until == "`" else _COMMENT).match(self.text, self.at)
                self.at = found.end() if found else len(self.text)
            elif found := _REDIRECT.match(self.text, self.at):
                self.redirect(command, found.group())
            elif self.text.startswith("((", self.at) and not command.words:
                end = self.text.find("))", self.at)
                self.at = len(self.text) if end < 0 else end + 2
            elif until == "`" and character == "`":
                self.at += 1
                self.finish(command, block, "")
                return None
            elif (found := _SEPARATOR.match(self.text, self.at)) is not None:
                self.at = found.end()
                if found.group() == ")" and until == ")" and block.parens == 0:
                    self.finish(command, block, "")
                    return None
                command = self.separator(command, block, found.group())
            else:
                before = self.at
                word = self.word()
                self.at += self.at == before
                if word.parts or word.quoted:
                    command = self.take(command, block, word)
        self.finish(command, block, "")
        self.heredocs()
        if until:
            self.stop("unclosed substitution", start)
        return None

    def separator(self, command: Command, block: _Block, operator: str) -> Command:
        """End the command at an operator, already stepped over; the next command."""
        if operator == "(" and len(command.words) == 1 and self.text.startswith(")", self.at):
            self.at += 1  # name() of a function definition
            command.words.clear()
            return command
        block.parens += {"(": 1, ")": -1}.get(operator, 0)
        following = self.finish(command, block, _JOINS.get(operator, operator))
        if operator == "\n":
            self.heredocs()
        block.pattern = operator in _END_OF_CASE and bool(block.frames) and block.frames[-1].case
        return following

    def finish(self, command: Command, block: _Block, operator: str) -> Command:
        """Record a command; the empty one that comes after it."""
        if command.words or command.assignments or command.redirects:
            command.joined = block.joined
            self.out.append(command)
            self.descend(command)
            block.joined = operator
        elif operator not in (";", ""):
            block.joined = operator
        return Command(
            loop=sum(frame.loops for frame in block.frames),
            condition=any(frame.decides for frame in block.frames),
            nested=self.depth,
        )

    def take(self, command: Command, block: _Block, word: Word) -> Command:
        """Use a word: as a reserved word where one may stand, else as part of the command."""
        text = "" if word.quoted or command.words or command.assignments else word.text
        if text in ("if", "while", "until"):
            block.frames.append(_Frame(decides=True, loops=text != "if"))
        elif text in ("then", "do", "else", "elif"):
            if block.frames:
                block.frames[-1].decides = text == "elif"
        elif text in ("fi", "done", "esac"):
            del block.frames[-1:]
        elif text == "case":
            self.skip_space()
            self.word()
            found = _IN.match(self.text, self.at)
            self.at = found.end() if found else self.at
            block.frames.append(_Frame(case=True))
            block.pattern = True
        elif text in ("{", "}", "!", "function"):
            if text == "function":
                self.skip_space()
                self.word()
            return command
        else:
            if text in ("for", "select"):
                block.frames.append(_Frame(loops=True))
            self.add(command, word)
            return command
        return self.finish(command, block, "")

    def add(self, command: Command, word: Word) -> None:
        """An argument or an assignment of the command."""
        head = word.parts[0] if word.parts and not isinstance(word.parts[0], Hole) else ""
        declared = bool(command.words) and command.words[0].text in _DECLARE
        if (found := _ASSIGN.match(head)) and (declared or not command.words):
            rest = head[found.end() :]
            value = replace(word, parts=(rest, *word.parts[1:]) if rest else word.parts[1:])
            command.assignments.append((found[1], value))
            if not declared:
                if not value.parts and self.text.startswith("(", self.at):
                    self.until_parenthesis()  # name=( … )
                return
        command.words.append(word)

    def until_parenthesis(self) -> None:
        """Step over words up to and with the next closing parenthesis."""
        self.at += self.text.startswith("(", self.at)
        while self.at < len(self.text) and self.text[self.at] != ")":
            before = self.at
            self.word()
            self.at += self.at == before
        self.at += 1

    def case_pattern(self) -> None:
        """Step over `pattern)`, unless `esac` stands there."""
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at
        if self.at < len(self.text) and not _ESAC.match(self.text, self.at):
            self.until_parenthesis()

    def redirect(self, command: Command, operator: str) -> None:
        """Read a redirection; a here-document's body comes after the line."""
        self.at += len(operator)
        self.skip_space()
        before = self.at
        word = self.word()
        if self.at == before:
            return
        bare = operator.lstrip("0123456789")
        command.redirects.append(Redirect(operator, word))
        if bare in ("<<", "<<-"):
            self.pending.append((command, word.text, bare == "<<-"))

    def heredocs(self) -> None:
        """Read the bodies of the here-documents announced on the line just ended."""
        pending, self.pending = self.pending, []
        for command, delimiter, tabs in pending:
            start, lines = self.at, list[str]()
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                if (line.lstrip("\t") if tabs else line).rstrip("\r") == delimiter:
                    break
                lines.append(line)
            body = "\n".join(lines)
            line, column = self.position(start)
            command.heredocs.append(Heredoc(body, line))
            fed = command.name in SHELLS and all(word.text.startswith("-") for word in command.arguments[1:])
            if fed or any(word.text.endswith(".sh") for word in command.written()):
                self.nested(body, Origin(line, column, self.origin.rest))

    def descend(self, command: Command) -> None:
        """Read the text of `sh -c TEXT` and the like."""
        words = command.arguments
        if command.name in SHELLS or command.name == "su":
            for flag, script in pairwise(words):
                if re.fullmatch(r"-[a-zA-Z]*c", flag.text):
                    return self.nested(
                        script.text, Origin(script.line, script.column + script.quoted, self.origin.rest)
                    )
        elif command.words and command.words[0].text == "eval" and len(words) == 1 and words[0].quoted:
            return self.nested(words[0].text, Origin(words[0].line, words[0].column + 1, self.origin.rest))
        return None

    def nested(self, text: str, origin: Origin) -> None:
        inner = _Reader(text, origin, self.depth + 1, self.out)
        inner.commands("")
        self.problem = self.problem or inner.problem

    def inside(self, opening: int, close: str) -> None:
        self.at += opening
        self.depth += 1
        pending, self.pending = self.pending, []
        self.commands(close)
        self.pending = pending
        self.depth -= 1
