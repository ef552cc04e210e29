"""tekken and .tiktoken files in tiktoken, whose format they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ....models.tokenizer import Tokenizer
from ....models.tokenizers.pipeline import parts
from .library import FAILS, Library, named

_EVERYTHING = r"[\s\S]+"


def tiktoken(tokenizer: Tokenizer, cut: Any) -> Library | None:
    """The encoding of the file's ranks; None where text is not cut by one pattern, which is all that it can do."""
    pattern = _pattern(cut)
    if pattern is None:
        return None
    import tiktoken as package

    hidden = tokenizer.unmatched
    first = min((number for number in tokenizer.vocab.value.values() if number not in hidden), default=0)
    ranks = {
        token.encode("latin-1"): number - first
        for token, number in tokenizer.vocab.value.items()
        if number not in hidden
    }
    real: Any = cast("Any", package).Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})

    def encode(text: str) -> list[int]:
        try:
            return [number + first for number in real.encode_ordinary(text)]
        except (ValueError, KeyError):
            return [FAILS]

    def decode(ids: Sequence[int]) -> str:
        return real.decode_bytes([number - first for number in ids]).decode("utf-8", "replace")

    return Library(encode, decode, named("tiktoken", "" if cut is not None else "the whole text as one word"))


def _pattern(cut: Any) -> str | None:
    """The one pattern of a pre-tokenizer that keeps everything."""
    if cut is None:
        return _EVERYTHING
    plain = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    match [each for each in parts(cut) if each != plain]:
        case [{"type": "Split", "pattern": {"Regex": str(pattern)}, "behavior": "Isolated"}]:
            return pattern
        case [{"type": "Split", "pattern": {"Regex": str(pattern)}, "behavior": "Removed", "invert": True}]:
            return pattern
        case _:
            return None
