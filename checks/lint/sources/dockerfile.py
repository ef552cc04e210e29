"""Dockerfiles as instructions with positions, `RUN` and friends read as shell.

Format: https://docs.docker.com/reference/dockerfile/. Nothing is built; `ARG` defaults and `ENV` values that are
constant are known to the shell text after them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from ..lazy import lazy
from .shell import Origin, Script, parse

_INSTRUCTION = lazy(r"\s*([A-Za-z]+)(?:\s+|$)")
_DIRECTIVE = lazy(r"#\s*(\w+)\s*=\s*(\S+)\s*$")
_FLAG = lazy(r"--([a-z][a-z-]*)(?:=(\S*))?\s+")
_HEREDOC = lazy(r"<<-?\s*(?:\"(\w+)\"|'(\w+)'|(\w+))")
_KNOWN = lazy(
    r"ADD|ARG|CMD|COPY|ENTRYPOINT|ENV|EXPOSE|FROM|HEALTHCHECK|LABEL|MAINTAINER|ONBUILD|RUN|SHELL|STOPSIGNAL|USER|VOLUME|WORKDIR"
)
_SHELLED = frozenset({"RUN", "CMD", "ENTRYPOINT", "HEALTHCHECK"})


@dataclass(slots=True)
class Instruction:
    """One instruction. `text` is its value after flags, as written; `words` the exec form (`["a", "b"]`), `script` the
    shell form; `origin` is where `text` starts and `end_line` the last line."""

    keyword: str
    text: str
    origin: Origin
    line: int
    end_line: int
    flags: dict[str, str] = field(default_factory=dict[str, str])
    words: list[str] | None = None
    script: Script | None = None


@dataclass(slots=True)
class Dockerfile:
    """The instructions, the constant `ARG`/`ENV` values, and what could not be read."""

    instructions: list[Instruction]
    variables: dict[str, str]
    problem: str = ""

    def all(self, *keywords: str) -> list[Instruction]:
        """The instructions of those keywords, in order."""
        return [item for item in self.instructions if item.keyword in keywords]

    def scripts(self) -> list[Script]:
        """Every shell text in the file."""
        return [item.script for item in self.instructions if item.script]


def parse_dockerfile(text: str) -> Dockerfile:
    """The instructions of `text`. Never raises; a line that is no instruction is skipped and named in `problem`."""
    lines = text.replace("\r\n", "\n").split("\n")
    escape = _escape(lines)
    result = Dockerfile([], {})
    number = 0
    while number < len(lines):
        line = lines[number]
        if not line.strip() or line.lstrip().startswith("#"):
            number += 1
            continue
        found = _INSTRUCTION.match(line)
        end = _end(lines, number, escape)
        if found is None or not _KNOWN.fullmatch(found[1].upper()):
            result.problem = result.problem or f"no instruction at line {number + 1}"
        else:
            result.instructions.append(
                _instruction(_body(lines, number, end, escape), number + 1, found, result.variables)
            )
        number = end
    return result


def _escape(lines: list[str]) -> str:
    """The continuation character: a backslash unless a parser directive at the top says otherwise."""
    for line in lines:
        found = _DIRECTIVE.match(line)
        if found is None:
            break
        if found[1].lower() == "escape" and found[2] in ("\\", "`"):
            return found[2]
    return "\\"


def _end(lines: list[str], start: int, escape: str) -> int:
    """One past the last line of the instruction: continuation lines, comments among them, here-documents."""
    number = start
    while number < len(lines):
        line = lines[number]
        skipped = number > start and _dropped(line)
        number += 1
        if not skipped and not line.rstrip().endswith(escape):
            break
    head = lines[start : start + 1][0].lstrip()[:4].upper()
    if head.startswith(("RUN", "COPY", "ADD")):
        for found in _HEREDOC.finditer("\n".join(lines[start:number])):
            delimiter = found[1] or found[2] or found[3]
            close = next((at for at in range(number, len(lines)) if lines[at].strip() == delimiter), None)
            number = number if close is None else close + 1
    return number


def _dropped(line: str) -> bool:
    """Whether the builder drops this line from inside a continued instruction."""
    return not line.strip() or line.lstrip().startswith("#")


def _body(lines: list[str], start: int, end: int, escape: str) -> list[str]:
    """The lines of an instruction as the shell would see them, character for character in place."""
    body = lines[start:end]
    # The builder drops comments and empty lines, and an escape character other than the backslash is not the shell's.
    for index, line in enumerate(body):
        if index and _dropped(line) and not _HEREDOC.search(body[0]):
            body[index] = " " * max(len(line) - 1, 0) + "\\"
        elif escape != "\\" and line.rstrip().endswith(escape):
            body[index] = line.rstrip()[:-1] + "\\"
    return body


def _instruction(body: list[str], line: int, found: re.Match[str], variables: dict[str, str]) -> Instruction:
    keyword, column = found[1].upper(), found.end()
    text = "\n".join([body[0][column:], *body[1:]])
    if keyword == "ONBUILD" and (inner := _INSTRUCTION.match(text)):
        keyword, column, text = inner[1].upper(), column + inner.end(), text[inner.end() :]
    flags: dict[str, str] = {}
    while flag := _FLAG.match(text):
        flags[flag[1]] = flag[2] or ""
        column, text = column + flag.end(), text[flag.end() :]
    if keyword == "HEALTHCHECK" and (inner := re.match(r"CMD\s+", text, re.IGNORECASE)):
        column, text = column + inner.end(), text[inner.end() :]
    item = Instruction(keyword, text, Origin(line, column + 1, 1), line, line + len(body) - 1, flags, _exec_form(text))
    if keyword in ("ENV", "ARG"):
        _remember(item, variables)
    elif keyword in _SHELLED and item.words is None:
        item.script = _shell(item, variables)
    return item


def _exec_form(text: str) -> list[str] | None:
    """The words of the JSON form, None where the text is not one."""
    if not text.lstrip().startswith("["):
        return None
    try:
        words = json.loads(re.sub(r"\\\n", "\n", text))
    except (ValueError, RecursionError):
        return None
    return [str(word) for word in words] if isinstance(words, list) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _remember(item: Instruction, variables: dict[str, str]) -> None:
    """Note the constants of `ENV a=b c=d`, `ENV a b` and `ARG a=b`; a second value makes the name unknown."""
    words = parse(f"export {item.text}").commands
    pairs = [pair for command in words for pair in command.assignments]
    if not pairs and item.keyword == "ENV" and len(parts := item.text.split(None, 1)) == 2:
        pairs = [(parts[0], word) for command in parse(f'_ "{parts[1]}"').commands for word in command.words[1:2]]
    for name, word in pairs:
        if name in variables or word.dynamic:
            variables[name] = ""
        else:
            variables[name] = word.text


def _shell(item: Instruction, variables: dict[str, str]) -> Script:
    """The shell text of an instruction; a here-document alone is the script itself."""
    alone = _HEREDOC.match(item.text)
    if alone and not item.text[alone.end() :].split("\n", 1)[0].strip():
        body = item.text.split("\n", 1)[1:]
        lines = body[0].split("\n")[:-1] if body else []
        return parse("\n".join(lines), Origin(item.line + 1, 1, 1), variables)
    return parse(item.text, item.origin, variables)
