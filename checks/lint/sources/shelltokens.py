"""What a shell text is read into: words, redirections, simple commands and scripts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..lazy import lazy

WRAPPERS = frozenset({"sudo", "exec", "nohup", "time", "command", "env", "eval", "doas", "nice", "ionice", "timeout"})
_ASSIGNERS = frozenset({"read", "mapfile", "readarray", "for", "select", "getopts", "unset"})
_PLAIN = lazy(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a shell text stands in its file: its first character at (`line`, `column`), every later line at column
    `rest`. With `rest` 0 the lines cannot be told apart (a folded or escaped scalar): all is at the first character."""

    line: int = 1
    column: int = 1
    rest: int = 1


class Hole(str):
    """An expansion as written (`$X`, `${X:-1}`, `$(cmd)`); `name` is the variable where it is plain."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """`X` for `$X` and `${X}`, else empty."""
        found = _PLAIN.fullmatch(self)
        return found[1] or found[2] if found else ""


@dataclass(frozen=True, slots=True)
class Word:
    """One word after quote removal. `parts` are constant strings and `Hole`s; positions count from 1."""

    parts: tuple[str, ...]
    line: int
    column: int
    end_line: int
    end_column: int
    quoted: bool = False

    @property
    def text(self) -> str:
        """The word with expansions left as written."""
        return "".join(self.parts)

    @property
    def dynamic(self) -> bool:
        """Whether part of the word is only known when it runs."""
        return any(isinstance(part, Hole) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Redirect:
    """`2>file`: the operator with its descriptor, and the target word."""

    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Heredoc:
    """The body of a here-document; `line` is the file line of its first line."""

    text: str
    line: int


@dataclass(slots=True)
class Command:
    """A simple command. `joined` is the operator before it (`&&`, `||`, `|`, `;`, `&`, or empty at a start), `loop`
    how many loops it is in, `condition` whether it decides an `if` or `while`, `nested` how many substitutions or
    `sh -c` strings it is in."""

    words: list[Word] = field(default_factory=list[Word])
    assignments: list[tuple[str, Word]] = field(default_factory=list[tuple[str, Word]])
    redirects: list[Redirect] = field(default_factory=list[Redirect])
    heredocs: list[Heredoc] = field(default_factory=list[Heredoc])
    joined: str = ""
    loop: int = 0
    condition: bool = False
    nested: int = 0

    @property
    def line(self) -> int:
        """Line of the first word."""
        return self.first.line

    @property
    def first(self) -> Word:
        """The first word, assignment or redirect target."""
        return next(iter([*self.words, *(word for _, word in self.assignments), *(r.target for r in self.redirects)]))

    @property
    def arguments(self) -> list[Word]:
        """The command and its arguments without wrappers such as `sudo -E` or `env A=b`."""
        at = 0
        while at < len(self.words) and base_name(self.words[at].text) in WRAPPERS:
            wrapper = base_name(self.words[at].text)
            at += 1
            while at < len(self.words) and (self.words[at].text.startswith("-") or "=" in self.words[at].text):
                at += 1
            if wrapper == "timeout" and at < len(self.words):
                at += 1
        return self.words[at:]

    @property
    def name(self) -> str:
        """Base name of the program, empty where there is none or it is not known."""
        words = self.arguments
        return "" if not words or words[0].dynamic else base_name(words[0].text)

    @property
    def argv(self) -> list[str]:
        """Texts of `arguments`."""
        return [word.text for word in self.arguments]

    def written(self) -> Iterator[Word]:
        """Files that the output is redirected to."""
        for item in self.redirects:
            if item.operator.lstrip("0123456789") in (">", ">>", ">|", "&>", "&>>"):
                yield item.target


@dataclass(slots=True)
class Script:
    """Commands in the order written, constants by name, and what stopped the reading, if anything did."""

    commands: list[Command]
    variables: dict[str, str]
    problem: str = ""


def base_name(text: str) -> str:
    """The last component of a path."""
    return text.rsplit("/", 1)[-1]


def constants_of(commands: list[Command], given: dict[str, str]) -> dict[str, str]:
    """Variables given one constant value in the whole text, outside loops, and those given that it leaves alone."""
    values: dict[str, list[Word | None]] = {}
    for command in commands:
        for name, word in command.assignments:
            values.setdefault(name, []).append(None if command.loop else word)
        if command.name in _ASSIGNERS:
            for word in command.words[1:]:
                values.setdefault(word.text, []).append(None)
    known = {name: value for name, value in given.items() if value and name not in values}
    for name, words in values.items():
        if len(words) == 1 and words[0] is not None:
            word = filled(words[0], known)
            if not word.dynamic:
                known[name] = word.text
    return known


def filled(word: Word, known: dict[str, str]) -> Word:
    """The word with known variables in place of their expansions."""
    if not known or not word.dynamic:
        return word
    parts = tuple(known.get(part.name, part) if isinstance(part, Hole) else part for part in word.parts)
    return replace(word, parts=parts)
