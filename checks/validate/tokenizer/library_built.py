"""Tokenizers of formats without a library of their own, in `tokenizers`: the same tokens, merges and pipeline.

A byte-level vocabulary is given to it text by text, cut down to what can occur: a merge only ever makes a part of the
text, so tokens that are none play no role, and a few replace a quarter of a million.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ....models.tokenizer import FLAGS, AddedToken, Tokenizer
from ....models.tokenizers.pipeline import parts
from ....models.tokenizers.spelling import is_byte_level, mapped, token_bytes
from . import model
from .library import FAILS, Library, named, running

# Fields that move no boundary and are left out of the canonical form, but that the library wants to see.
_INERT: dict[str, dict[str, Any]] = {
    "ByteLevel": {"trim_offsets": True},
    "Split": {"invert": False},
    "Metaspace": {"split": True},
}
_LONGEST = 2_000


def load(tokenizer: Tokenizer, cut: Any) -> Library | str:
    """A library for BPE over bytes, and for words from a list."""
    if tokenizer.algorithm == "BPE" and (piece := _unknown_piece(tokenizer)) is not None:
        return f"{tokenizer.path} has a merge of {piece!r}, which is no token: the library does not take it"
    if tokenizer.algorithm == "BPE" and is_byte_level(tokenizer):
        return _by_text(tokenizer, cut)
    if tokenizer.format != "vocab":
        return f"there is no library to replay {tokenizer.settings.get('kind', tokenizer.format)} with"
    settings = {key: value for key, value in tokenizer.settings.items() if value is not None and key != "byte_level"}
    own: dict[str, Any] = {"type": tokenizer.algorithm, **settings, "vocab": dict(tokenizer.vocab.value)}
    if tokenizer.algorithm == "BPE":
        own["merges"] = [list(pair) for pair in tokenizer.merges.value]
    return running(_real(tokenizer, own, cut), "given the tokens")


def _unknown_piece(tokenizer: Tokenizer) -> str | None:
    """A piece that a merge needs or makes and that is no token which text can become."""
    vocab, hidden = model.vocabulary(tokenizer), tokenizer.unmatched
    pieces = (piece for pair in tokenizer.merges.value for piece in (*pair, "".join(pair)))
    return next((piece for piece in pieces if piece not in vocab or vocab[piece] in hidden), None)


def _real(tokenizer: Tokenizer, own: Mapping[str, Any], cut: Any) -> Any:
    from tokenizers import Tokenizer as Real

    # A literal that is no token of the model is numbered anew by the library: so each is one.
    switches: dict[str, Any] = tokenizer.normalizer or {}
    vocab: dict[str, int] = {**own["vocab"], **{each.content: each.id for each in tokenizer.added}}
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_literal(each) for each in sorted(tokenizer.added, key=lambda each: each.id)],
        "normalizer": switches if switches and switches.get("type") != "llama.cpp" else None,
        "pre_tokenizer": _whole(cut),
        "post_processor": None,
        "decoder": None,
        "model": {**own, "vocab": vocab},
    }
    return Real.from_str(json.dumps(document))


def _literal(token: AddedToken) -> dict[str, Any]:
    return {"id": token.id, "content": token.content, **dict(zip(FLAGS, token.flags, strict=True))}


def _whole(part: Any) -> Any:
    """A canonical component with the fields that it leaves out."""
    if part is None:
        return None
    if part.get("type") == "Sequence":
        return {**part, "pretokenizers": [_whole(each) for each in part["pretokenizers"]]}
    return {**_INERT.get(str(part.get("type")), {}), **part}


def _by_text(tokenizer: Tokenizer, cut: Any) -> Library:
    ranks = model.table(tokenizer).ranks
    vocab, hidden = model.vocabulary(tokenizer), tokenizer.unmatched
    longest = min(max(map(len, vocab), default=1), _LONGEST)
    base = [{"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]
    given = parts(cut)
    steps = [*given, *(base if not any(each.get("type") == "ByteLevel" for each in given) else ())]
    pipeline = {"type": "Sequence", "pretokenizers": steps}

    @lru_cache(maxsize=1024)
    def built(text: str) -> Any:
        whole = mapped(f" {text}".encode())
        seen = {whole[a:b] for a in range(len(whole)) for b in range(a + 1, min(len(whole), a + longest) + 1)}
        tokens = {each: vocab[each] for each in seen if each in vocab and vocab[each] not in hidden}
        merges = sorted((ranks[pair], pair) for token in tokens for pair in _splits(token) if pair in ranks)
        own = {"type": "BPE", "ignore_merges": bool(tokenizer.settings.get("ignore_merges"))}
        return _real(tokenizer, {**own, "vocab": tokens, "merges": [list(pair) for _, pair in merges]}, pipeline)

    def encode(text: str) -> list[int]:
        if len(text) > _LONGEST:
            return [FAILS]
        return list(built(text).encode(text, add_special_tokens=False).ids)

    def decode(ids: Sequence[int]) -> str:
        return b"".join(token_bytes(tokenizer, tokenizer.tokens[each]) for each in ids).decode("utf-8", "replace")

    note = "given the tokens" if cut is not None else "given the tokens, the whole text as one word"
    return Library(encode, decode, named("tokenizers", note))


def _splits(token: str) -> list[tuple[str, str]]:
    return [(token[:at], token[at:]) for at in range(1, len(token))]
