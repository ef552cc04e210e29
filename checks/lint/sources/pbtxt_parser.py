"""The parser of protobuf text format; `pbtxt` holds what it makes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from ..lazy import lazy
from .pbtxt import Enum, Field, Message, PbtxtError, Scalar, Span

MAX_DEPTH = 100

_TOKEN = lazy(
    r"""
    (?P<skip>(?:[ \t\r\n\f\v]+|\#[^\n]*)+)
  | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<float>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?|\d+[eE][+-]?\d+[fF]?|\d+[fF](?![0-9A-Za-z_]))
  | (?P<int>0[xX][0-9a-fA-F]+|\d+)
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<sign>[{}<>\[\]:;,./\-])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = lazy(r"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_NAMED = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_CLOSE = {"{": "}", "<": ">"}
_FLOAT_WORDS = {"inf", "infinity", "nan", "-inf", "-infinity", "-nan"}

_Token = tuple[str, str, int]
"""Kind, text and offset; the kind `end` closes the stream."""


class Parser:
    """Reads one text; `document` is its message."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(found.end() for found in re.finditer(r"\n", text))]
        self.tokens = self.lex()
        self.depth = 0
        self.last_end = 0
        self.token: _Token = next(self.tokens)

    def lex(self) -> Iterator[_Token]:
        at, text = 0, self.text
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self.error("a string that does not end on its line" if text[at] in "\"'" else None, at)
            kind = str(found.lastgroup)
            if kind in ("int", "float") and text[found.end() : found.end() + 1].isalnum():
                raise self.error("a number with letters after it", at)
            if kind != "skip":
                yield kind, found.group(), at
            at = found.end()
        yield "end", "", len(text)

    def position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        return Span(*self.position(start), *self.position(end))

    def error(self, reason: str | None, offset: int) -> PbtxtError:
        character = self.text[offset : offset + 1]
        return PbtxtError(reason or f"unexpected character {character!r}", *self.position(offset))

    def unexpected(self, wanted: str) -> PbtxtError:
        kind, text, offset = self.token
        found = "the end of the file" if kind == "end" else repr(text if len(text) <= 40 else f"{text[:37]}...")
        return self.error(f"expected {wanted}, found {found}", offset)

    def take(self) -> _Token:
        token = self.token
        self.last_end = token[2] + len(token[1])
        self.token = next(self.tokens) if token[0] != "end" else token
        return token

    def skip(self, *signs: str) -> bool:
        if self.token[0] == "sign" and self.token[1] in signs:
            self.take()
            return True
        return False

    def document(self) -> Message:
        message = Message(self.span(0, len(self.text)))
        while self.token[0] != "end":
            self.field_into(message)
        return message

    def field_into(self, message: Message) -> None:
        start = self.token[2]
        name = self.name()
        name_span = self.span(start, self.last_end)
        colon = self.skip(":")
        for value, span in self.values(colon):
            message.fields.append(Field(name, value, name_span, span))
        self.skip(",", ";")

    def name(self) -> str:
        kind, text, _ = self.token
        if kind == "word":
            return self.take()[1]
        if text != "[":
            raise self.unexpected("a field name")
        parts = [self.take()[1]]
        while self.token[1] != "]":
            if self.token[0] not in ("word", "int") and self.token[1] not in (".", "/", "-"):
                raise self.unexpected("an extension or type name")
            parts.append(self.take()[1])
        return "".join([*parts, self.take()[1]])

    def values(self, colon: bool) -> list[tuple[Scalar | Message, Span]]:
        if not self.skip("["):
            return [self.value(colon)]
        found: list[tuple[Scalar | Message, Span]] = []
        while not self.skip("]"):
            found.append(self.value(colon))
            if not self.skip(",") and self.token[1] != "]":
                raise self.unexpected("',' or ']'")
        return found

    def value(self, colon: bool) -> tuple[Scalar | Message, Span]:
        kind, text, start = self.token
        if kind == "sign" and text in _CLOSE:
            return self.message(_CLOSE[text])
        if not colon:
            raise self.unexpected("':' or '{'")
        value = self.scalar()
        return value, self.span(start, self.last_end)

    def message(self, close: str) -> tuple[Message, Span]:
        start = self.take()[2]
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"nested deeper than {MAX_DEPTH} messages", start)
        message = Message(self.span(start, start + 1))
        while not self.skip(close):
            if self.token[0] == "end":
                raise self.unexpected(repr(close))
            self.field_into(message)
        self.depth -= 1
        message.span = self.span(start, self.last_end)
        return message, message.span

    def scalar(self) -> Scalar:
        kind, text, offset = self.token
        if kind == "string":
            parts: list[str] = []
            while self.token[0] == "string":
                parts.append(_unescape(self.take()[1][1:-1]))
            return "".join(parts)
        negative = self.skip("-")
        if negative:
            kind, text, offset = self.token
        sign = -1 if negative else 1
        if kind == "int":
            self.take()
            return sign * self.integer(text, offset)
        if kind == "float":
            self.take()
            return sign * float(text.rstrip("fF"))
        if kind == "word":
            word = f"{'-' if negative else ''}{text}"
            if word.lower() in _FLOAT_WORDS:
                self.take()
                return float(word)
            if not negative:
                self.take()
                return {"true": True, "false": False}.get(text.lower(), Enum(text))
        raise self.unexpected("a value")

    def integer(self, text: str, offset: int) -> int:
        if len(text) > 32:
            raise self.error("a number of more than 64 bits", offset)
        if text[:2] in ("0x", "0X"):
            return int(text, 16)
        if len(text) > 1 and text[0] == "0":
            if not set(text) <= set("01234567"):
                raise self.error("an octal number with a digit above 7", offset)
            return int(text, 8)
        return int(text)


def _unescape(body: str) -> str:
    """The string that a literal's body stands for; bytes given by escapes are read as UTF-8, as the format says."""
    if "\\" not in body:
        return body
    out, at = bytearray(), 0
    for found in _ESCAPE.finditer(body):
        out += body[at : found.start()].encode(errors="surrogatepass")
        octal, hexadecimal, short, long, named = found.groups()
        if octal or hexadecimal:
            out.append((int(octal, 8) if octal else int(hexadecimal, 16)) & 0xFF)
        elif short or long:
            out += chr(min(int(short or long, 16), 0x10FFFF)).encode(errors="replace")
        else:
            out += bytes([_NAMED[named]]) if named in _NAMED else named.encode(errors="surrogatepass")
        at = found.end()
    out += body[at:].encode(errors="surrogatepass")
    return out.decode(errors="replace")
