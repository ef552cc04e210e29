"""Command lines: the words of a container's command and arguments or of a `sh -c` script, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..lazy import lazy
from .yamlnodes import Map, Seq

_SHELLS = frozenset({"sh", "bash", "ash", "dash", "zsh"})
MAX_SCRIPT = 200_000

# A shell word: quoted parts and plain characters run together; or a separator; or a comment.
_TOKEN = lazy(
    r"""(?P<blank>(?:\\\r?\n|[ \t])+)|(?P<end>\r?\n|;;?|&&|\|\|?|&(?!>)|\(|\))|(?P<comment>\#[^\n]*)"""
    r"""|(?P<word>(?:'[^']*'|"(?:\\.|[^"\\])*"|\$\((?:[^()]|\([^()]*\))*\)|\\.|[^\s;&|()'"\\]|['"\\])+)""",
    re.DOTALL,
)
_QUOTES = lazy(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)", re.DOTALL)
_ASSIGNMENT = lazy(r"^[A-Za-z_]\w*=")
_PREFIXES = frozenset(
    {"exec", "nohup", "time", "sudo", "env", "tini", "dumb-init", "numactl", "--", "then", "do", "else", "if", "!", "{"}
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `holder` and `slot` are the YAML container and its entry that the word comes from; `script` tells a
    word of a shell script, which is only a part of that entry, and `offset` is where it starts in the entry's text."""

    text: str
    holder: Map | Seq
    slot: str | int
    script: bool = False
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Flag:
    """An option of a command line; `value` is None for a bare switch. `word` holds its name, `at` its value."""

    name: str
    value: str | None
    word: Word
    at: Word


def split_script(script: str) -> Iterator[list[tuple[str, int]]]:
    """The simple commands of a shell script as (word, offset) lists; nothing is expanded or run."""
    command: list[tuple[str, int]] = []
    for match in _TOKEN.finditer(script[:MAX_SCRIPT]):
        if match.lastgroup == "word":
            command.append((_QUOTES.sub(_unquote, match.group()), match.start()))
        elif match.lastgroup == "end" and command:
            yield command
            command = []
    if command:
        yield command


def _unquote(match: re.Match[str]) -> str:
    single, double, escaped = match.groups()
    if single is not None:
        return single
    if double is not None:
        return re.sub(r"\\(.)", r"\1", double, flags=re.DOTALL)
    return "" if escaped == "\n" else escaped


def command_lines(command: list[Word], arguments: list[Word]) -> list[list[Word]]:
    """What a container starts: one command line, or those of its `sh -c` script. Assignments and `exec` are dropped."""
    words = [*command, *arguments]
    if not words:
        return []
    position = _script_position(words)
    if position is None:
        return [words]
    script = words[position]
    lines: list[list[Word]] = []
    for parts in split_script(script.text):
        line = [Word(text, script.holder, script.slot, True, offset) for text, offset in parts]
        while line and (_ASSIGNMENT.match(line[0].text) or line[0].text in _PREFIXES):
            line.pop(0)
        if line:
            lines.append(line)
    return lines


def _script_position(words: list[Word]) -> int | None:
    """Where the script of `sh -c SCRIPT` stands."""
    for index, word in enumerate(words[:6]):
        if word.text.rsplit("/", 1)[-1] in _SHELLS:
            for later in range(index + 1, min(index + 6, len(words) - 1)):
                option = words[later].text
                if re.fullmatch(r"-[a-z]*c[a-z]*", option):
                    return later + 1
            return None
    return None


def flags(lines: list[list[Word]]) -> Iterator[Flag]:
    """Every option in the command lines, `--name=value` and `--name value` alike."""
    for line in lines:
        for index, word in enumerate(line):
            text = word.text
            if len(text) < 2 or text[0] != "-":
                continue
            name, equals, value = text.partition("=")
            if equals:
                yield Flag(name, value, word, word)
            elif " " in name.strip() and not word.script:
                name, _, value = name.partition(" ")  # one argument that holds option and value
                yield Flag(name, value.strip(), word, word)
            elif index + 1 < len(line) and not line[index + 1].text.startswith("--"):
                yield Flag(name, line[index + 1].text, word, line[index + 1])
            else:
                yield Flag(name, None, word, word)


def same_flag(one: str, other: str) -> bool:
    """Whether two option names are one: dashes and underscores are interchangeable in these servers."""
    return one.lstrip("-").replace("_", "-") == other.lstrip("-").replace("_", "-")


_PLACEHOLDER = lazy(
    r"\$\{?\w|\$\(|<[\w\s.-]+>|\{\{|\{[A-Za-z_]\w*\}|^(YOUR|MY)[_-]|^\[[\w -]+\]$|%[A-Z_]+%|@@?\w+@"
    r"|(^|[/:_-])[A-Z][A-Z0-9]*(_[A-Z0-9]+)+($|[/:_.-])|\bPROJECT_ID\b|\bREGION\b|\bCHANGE-?ME\b|replace-?me",
)


def is_placeholder(text: str) -> bool:
    """Whether a value is still to be filled in (`$X`, `<X>`, `{{ .x }}`, BUCKET_NAME): unknown, never a finding."""
    return bool(_PLACEHOLDER.search(text))
