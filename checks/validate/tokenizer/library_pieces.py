"""SentencePiece files, and the scored pieces of a GGUF file, in SentencePiece."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from typing import Any, cast

from ....models.tokenizer import AddedToken, Tokenizer
from .library import Encode, Library, named

_NORMAL, _UNKNOWN, _CONTROL, _DEFINED, _BYTE = 1, 2, 3, 4, 6
_BYTES = re.compile(r"<0x[0-9A-F]{2}>")


def load(tokenizer: Tokenizer) -> Library | str:
    """The processor for a file, or for a model of the same pieces."""
    import sentencepiece

    processor: Any = cast("Any", sentencepiece).SentencePieceProcessor()
    built = tokenizer.format != "sentencepiece"
    try:
        if built:
            processor.LoadFromSerializedProto(model(tokenizer))
        else:
            processor.Load(tokenizer.path)
    except (OSError, RuntimeError) as error:
        return f"sentencepiece cannot load {tokenizer.path}: {str(error)[:120]}"

    def whole(text: str) -> list[int]:
        return list(processor.EncodeAsIds(text))

    encode = _cutting(tokenizer, whole) if built else whole

    def decode(ids: Sequence[int]) -> str:
        return str(processor.DecodeIds(list(ids)))

    return Library(encode, decode, named("sentencepiece", "given the pieces" if built else ""))


def _cutting(tokenizer: Tokenizer, encode: Encode) -> Encode:
    """Literals are cut out of the text first, the longest of them before all others; each rest is a text of its own.

    So does llama.cpp, whose literals meet plain spaces where SentencePiece already has its own.
    """
    starting: dict[str, list[AddedToken]] = {}
    for each in tokenizer.literals:
        if each.content and not each.special:  # text never becomes a control token, unless the caller asks for it
            starting.setdefault(each.content[0], []).append(each)

    def cut(text: str) -> list[int]:
        there = [each for first in dict.fromkeys(text) for each in starting.get(first, ()) if each.content in text]
        parts: list[str | int] = [text]
        for each in sorted(there, key=lambda each: -len(each.content)):
            parts = [piece for part in parts for piece in _split(part, each)]
        return [number for part in parts for number in ([part] if isinstance(part, int) else encode(part))]

    return cut


def _split(part: str | int, literal: AddedToken) -> Iterator[str | int]:
    """A part of the text around a literal, whose id takes its place."""
    if isinstance(part, int):
        yield part
        return
    for index, rest in enumerate(part.split(literal.content)):
        if index:
            yield literal.id
        if rest:
            yield rest


def model(tokenizer: Tokenizer) -> bytes:
    """A ModelProto with the pieces, scores and types of a tokenizer (fields as in sentencepiece_model.proto)."""
    switches: dict[str, Any] = tokenizer.normalizer or {}
    bpe = tokenizer.algorithm == "BPE"
    pieces = list(_pieces(tokenizer))
    out = b"".join(_field(1, _piece(*each)) for each in pieces)
    ids = b"".join(
        _number(40 + at, tokenizer.special.get(role)) for at, role in enumerate(("unk", "bos", "eos", "pad"))
    )
    out += _field(2, _number(3, 2 if bpe else 1) + _number(35, any(kind == _BYTE for _, _, kind in pieces)) + ids)
    # llama.cpp's defaults: a space before the text; doubled spaces stay, but for Unigram.
    spaces = switches.get("add_space_prefix", True), switches.get("remove_extra_whitespaces", not bpe)
    return out + _field(3, _field(1, b"identity") + _number(3, spaces[0]) + _number(4, spaces[1]) + _number(5, 1))


def _pieces(tokenizer: Tokenizer) -> Iterator[tuple[str, float, int]]:
    types = {each.id: _CONTROL if each.special else _DEFINED for each in tokenizer.added}
    scores = tokenizer.scores.value
    for token, number in sorted(tokenizer.vocab.value.items(), key=lambda item: item[1]):
        kind = types.get(number, _NORMAL)
        if number in tokenizer.unmatched:
            kind = _BYTE if _BYTES.fullmatch(token) else _UNKNOWN
        yield token, scores.get(number, 0.0), kind


def _piece(token: str, score: float, kind: int) -> bytes:
    return _field(1, token.encode("utf-8", "surrogateescape")) + b"\x15" + struct.pack("<f", score) + _number(3, kind)


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _number(number: int, value: int | None) -> bytes:
    return _varint(number << 3) + _varint((-1 if value is None else value) & (1 << 64) - 1)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
