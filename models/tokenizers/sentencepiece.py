"""Read a SentencePiece .model, a protobuf ModelProto.

Fields from sentencepiece_model.proto: 1 pieces {1 piece, 2 score, 3 type}, 2 trainer_spec, 3 normalizer_spec,
5 denormalizer_spec.
"""

from __future__ import annotations

import hashlib
import math
import struct
from typing import Any

from ..errors import UnreadableModel
from ..protobuf import BYTES, FIXED32, VARINT, fields, signed
from ..source import Window, open_file
from ..tokenizer import MAX_TOKENS, AddedToken, Algorithm, Part, Tokenizer
from ..tree import ModelTree, TreeFile
from .extras import added_tokens

MAX_BYTES = 256 << 20
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
_MODELS: dict[int, Algorithm] = {1: "Unigram", 2: "BPE"}
Piece = tuple[str, float, int]


def read(file: TreeFile, tree: ModelTree) -> Tokenizer:
    """The tokenizer of a SentencePiece model, with the added tokens that the directory declares beside it."""
    if file.size > MAX_BYTES:
        raise UnreadableModel(file.path, f"{file.size} bytes is more than the {MAX_BYTES} a tokenizer may have")
    pieces: list[Piece] = []
    trainer: dict[int, Any] = {}
    normalizer: dict[int, Any] = {}
    denormalizer: dict[int, Any] = {}
    with open_file(file.path) as source:
        window = Window(source)
        for number, wire, value, end in fields(window, 0, source.size):
            if wire != BYTES:
                continue
            if number == 1:
                pieces.append(_piece(window, value, end))
                if len(pieces) > MAX_TOKENS:
                    raise UnreadableModel(file.path, f"holds more than {MAX_TOKENS:,} pieces")
            elif number == 2:
                trainer.update(_values(window, value, end))  # a message that stands twice is merged
            elif number == 3:
                normalizer.update(_values(window, value, end))
            elif number == 5:
                denormalizer.update(_values(window, value, end))
    if not pieces:
        raise UnreadableModel(file.path, "holds no pieces", hint="is this a SentencePiece model?")
    return build(str(file.path), pieces, trainer, (normalizer, denormalizer), added_tokens(tree))


def build(
    path: str,
    pieces: list[Piece],
    trainer: dict[int, Any],
    normalizers: tuple[dict[int, Any], dict[int, Any]],
    extra: tuple[AddedToken, ...],
) -> Tokenizer:
    """A tokenizer from pieces by id and the fields of trainer_spec, normalizer_spec and denormalizer_spec."""
    kind = trainer.get(3, 1)
    if kind not in _MODELS:
        raise UnreadableModel(path, f"has the model type {kind}, which is neither unigram nor BPE")
    vocab = {piece: number for number, (piece, _, _) in enumerate(pieces)}
    if len(vocab) != len(pieces):
        seen: set[str] = set()
        twice = next(piece for piece, _, _ in pieces if piece in seen or seen.add(piece))
        raise UnreadableModel(path, f"defines the piece {twice!r} twice")
    of_type = {kind: frozenset(n for n, each in enumerate(pieces) if each[2] == kind) for kind in range(1, 7)}
    defined = tuple(AddedToken(n, pieces[n][0], normalized=False) for n in sorted(of_type[USER_DEFINED]))
    special = {
        "unk": _id(trainer, 40, 0, pieces),
        "bos": _id(trainer, 41, 1, pieces),
        "eos": _id(trainer, 42, 2, pieces),
        "pad": _id(trainer, 43, -1, pieces),
    }
    return Tokenizer(
        path=path,
        format="sentencepiece",
        algorithm=_MODELS[kind],
        vocab=Part(lambda: vocab),
        scores=Part(lambda: {number: score for number, (_, score, _) in enumerate(pieces)}),
        settings={
            "byte_fallback": bool(trainer.get(35, 0)),
            "treat_whitespace_as_suffix": bool(trainer.get(24, 0)),
            "unused": len(of_type[UNUSED]),
        },
        added=(*defined, *(each for each in extra if each.content not in {d.content for d in defined})),
        normalizer=_normalizer(normalizers[0]),
        decoder=_normalizer(normalizers[1]) if normalizers[1].get(2) else None,
        special=special,
        controls=of_type[CONTROL] | of_type[UNKNOWN],
        unmatched=of_type[CONTROL] | of_type[UNKNOWN] | of_type[BYTE],
    )


def _piece(window: Window, begin: int, end: int) -> Piece:
    """A piece; its three fields are small, so they are decoded from one slice."""
    data = window.take(begin, end - begin)
    name, score, kind = b"", 0.0, NORMAL
    # Nearly all pieces are `0A n … 15 ffff` with an optional `18 t`.
    if len(data) > 6 and data[0] == 0x0A and data[1] < 0x80:
        stop = 2 + data[1]
        rest = data[stop:]
        if rest[:1] == b"\x15" and (len(rest) == 5 or (len(rest) == 7 and rest[5] == 0x18)):
            return _checked(
                window, data[2:stop], struct.unpack_from("<f", rest, 1)[0], rest[6] if len(rest) == 7 else 1
            )
    for number, wire, value, stop in fields(window, begin, end):
        if number == 1 and wire == BYTES:
            name = window.take(value, stop - value)
        elif number == 2 and wire == FIXED32:
            score = struct.unpack("<f", value.to_bytes(4, "little"))[0]
        elif number == 3 and wire == VARINT:
            kind = value
    return _checked(window, name, score, kind)


def _checked(window: Window, name: bytes, score: float, kind: int) -> Piece:
    if not name or not NORMAL <= kind <= BYTE or not math.isfinite(score):
        raise UnreadableModel(window.source.name, f"has a piece {name[:40]!r} of type {kind} and score {score}")
    try:
        return name.decode("utf-8"), score, kind
    except UnicodeDecodeError:
        raise UnreadableModel(window.source.name, f"has a piece that is not UTF-8: {name[:40]!r}") from None


_RULES = 2  # precompiled_charsmap of normalizer_spec; every other field that is read is a number


def _values(window: Window, begin: int, end: int) -> dict[int, Any]:
    """The scalar fields of a message by number. Of a repeated field the last one counts, and one of another wire type
    than its own does not, as protobuf has it."""
    result: dict[int, Any] = {}
    for number, wire, value, stop in fields(window, begin, end):
        if number == _RULES and wire == BYTES:
            result[number] = window.take(value, stop - value)
        elif number != _RULES and wire == VARINT:
            result[number] = signed(value)
    return result


def _id(trainer: dict[int, Any], number: int, default: int, pieces: list[Piece]) -> int | None:
    value = trainer.get(number, default)
    value = value - (1 << 32) if isinstance(value, int) and value >> 31 == 1 else value
    return value if isinstance(value, int) and 0 <= value < len(pieces) else None


def _normalizer(values: dict[int, Any]) -> dict[str, Any]:
    """A normalizer_spec: its rules by digest, and its switches with their defaults."""
    return {
        "type": "SentencePiece",
        "rules": hashlib.sha256(values.get(2, b"")).hexdigest() if values.get(2) else "",
        "add_dummy_prefix": bool(values.get(3, 1)),
        "remove_extra_whitespaces": bool(values.get(4, 1)),
        "escape_whitespaces": bool(values.get(5, 1)),
    }
