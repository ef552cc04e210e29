"""Protobuf text format, as Triton's `config.pbtxt` is written in: a schema-free reader that keeps positions.

Follows the language definition at https://protobuf.dev/reference/protobuf/textformat-spec/. A list value
(`dims: [1, 2]`) becomes one field per element, which is what the format says it means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from posixpath import basename, dirname

from ....report.finding import Location
from .text import TextFile, Unreadable

MAX_BYTES = 16 << 20

Scalar = str | int | float | bool


class PbtxtError(Unreadable):
    """Text that is not protobuf text format. `line` and `column` count from 1."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(f"not protobuf text: {reason}", line=line, column=column)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text: lines and columns count from 1, `end_column` is one past the last character."""

    line: int
    column: int
    end_line: int
    end_column: int


class Enum(str):
    """An enum value: a bare word that is neither a string nor a number (`TYPE_FP32`)."""

    __slots__ = ()


@dataclass(slots=True)
class Message:
    """Fields in the order written; `span` covers the braces and what is between them."""

    span: Span
    fields: list[Field] = field(default_factory=list["Field"])

    def all(self, name: str) -> list[Field]:
        """Every field of that name: the elements of a repeated field."""
        return [item for item in self.fields if item.name == name]

    def get(self, name: str) -> Field | None:
        """The last field of that name, the one that counts where a field is not repeated."""
        return next((item for item in reversed(self.fields) if item.name == name), None)

    def scalar(self, name: str) -> Scalar | None:
        """The value of a scalar field, None where it is absent or a message."""
        found = self.get(name)
        return None if found is None or isinstance(found.value, Message) else found.value

    def messages(self, name: str) -> list[Message]:
        """The message values of that name."""
        return [item.value for item in self.fields if item.name == name and isinstance(item.value, Message)]

    def walk(self, path: str = "") -> Iterator[tuple[str, Field]]:
        """Every field below with its path (`ensemble_scheduling.step[1].model_name`)."""
        seen: dict[str, int] = {}
        times = Counter(item.name for item in self.fields)
        for item in self.fields:
            index = seen[item.name] = seen.get(item.name, -1) + 1
            here = f"{path}{item.name}[{index}]" if times[item.name] > 1 else f"{path}{item.name}"
            yield here, item
            if isinstance(item.value, Message):
                yield from item.value.walk(f"{here}.")


@dataclass(frozen=True, slots=True)
class Field:
    """One `name: value`; extension and Any names keep their brackets (`[type.example/T]`)."""

    name: str
    value: Scalar | Message
    name_span: Span
    value_span: Span


@dataclass(eq=False)
class ModelConfig:
    """A Triton `config.pbtxt`: its message, and where things in it stand."""

    file: TextFile
    root: Message

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def folder(self) -> str:
        """The model's directory."""
        return dirname(self.path)

    @property
    def name(self) -> str:
        """The model's name: as written, else that of its directory, as Triton takes it."""
        return str(self.root.scalar("name") or basename(self.folder))

    def at(self, span: Span, pointer: str = "") -> Location:
        """Where a field stands; `pointer` is its path in the message."""
        ends = (span.end_line, span.end_column) if span.line == span.end_line else (None, None)
        return self.file.location(span.line, span.column, *ends, object=self.name, pointer=pointer)


def from_file(file: TextFile) -> Iterator[ModelConfig]:
    """The configuration in a `.pbtxt` file. Raises PbtxtError."""
    yield ModelConfig(file, parse(file.text))


def parse(text: str) -> Message:
    """The message that `text` holds. Raises `PbtxtError` for malformed, oversized or over-nested text."""
    text = text.removeprefix("\ufeff")
    if len(text) > MAX_BYTES:
        raise PbtxtError(f"larger than {MAX_BYTES >> 20} MiB", 1, 1)
    from .pbtxt_parser import Parser

    return Parser(text).document()
