"""The real library for a tokenizer, so that what is printed as a witness is what users see.

tokenizer.json and SentencePiece files are loaded as they are. Other formats have no library that is installed
everywhere; their tokens, ranks and pattern are given to one that computes the same: tiktoken for ranks, SentencePiece
for scored pieces, `tokenizers` for anything else. `name` says which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

from ....models.tokenizer import Tokenizer
from ....models.tokenizers.spelling import RANKED

Encode = Callable[[str], list[int]]
# What stands for the ids of a text that the library fails on.
FAILS = -1
REFUSED = "tokenizers refuses to load"
MISSING = "install interlock[tokenizers] to replay it"


class Library(NamedTuple):
    """The real tokenizer: text to ids without special tokens, ids to text, and what runs it."""

    encode: Encode
    decode: Callable[[Sequence[int]], str]
    name: str


_LOADED: WeakKeyDictionary[Tokenizer, dict[str, Library | str]] = WeakKeyDictionary()


def library(tokenizer: Tokenizer, other: Tokenizer | None = None) -> Library | str:
    """The library's tokenizer for the file that `tokenizer` was read from, or why there is none.

    A rank file says nothing about where text is cut into words: it is cut as `other` does, which it is compared with.
    """
    cut = tokenizer.pre_tokenizer
    if tokenizer.format in ("tiktoken", "gguf") and _unknown(cut):
        cut = None if other is None or _unknown(other.pre_tokenizer) else other.pre_tokenizer
    known = _LOADED.setdefault(tokenizer, {})
    key = repr(cut)
    if key not in known:
        known[key] = _load(tokenizer, cut)
    return known[key]


def _unknown(cut: Any) -> bool:
    """Whether a pre-tokenizer is a name, or nothing, instead of a description."""
    return cut is None or cut.get("type") == "llama.cpp"


def _load(tokenizer: Tokenizer, cut: Any) -> Library | str:
    if tokenizer.format == "tokenizer.json":
        return _huggingface(tokenizer.path)
    pieces = tokenizer.format == "gguf" and not tokenizer.settings.get("byte_level") and bool(tokenizer.scores.value)
    if tokenizer.format == "sentencepiece" or pieces:
        if find_spec("sentencepiece") is None:
            return MISSING
        from . import library_pieces

        return library_pieces.load(tokenizer)
    if tokenizer.format in RANKED:
        from . import library_ranks

        if find_spec("tiktoken") is not None and (found := library_ranks.tiktoken(tokenizer, cut)) is not None:
            return found
    if find_spec("tokenizers") is None:
        return MISSING
    from . import library_built

    return library_built.load(tokenizer, cut)


def _huggingface(path: str) -> Library | str:
    if find_spec("tokenizers") is None:
        return MISSING
    from tokenizers import Tokenizer as Real

    try:
        real = Real.from_file(path)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return f"{REFUSED} {path}: {str(error)[:160]}"
    real.no_padding()
    real.no_truncation()
    return running(real)


def running(real: Any, note: str = "") -> Library:
    """A library around an object of `tokenizers`."""

    def encode(text: str) -> list[int]:
        try:
            return cast("list[int]", real.encode(text, add_special_tokens=False).ids)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            return [FAILS]

    def decode(ids: Sequence[int]) -> str:
        return str(real.decode(list(ids), skip_special_tokens=False))

    return Library(encode, decode, named("tokenizers", note))


def named(package: str, note: str = "") -> str:
    """A library as witnesses name it: with its version, and how it was given the tokenizer."""
    from importlib.metadata import version  # costs as much as reading a 70B model's headers

    return f"{package} {version(package)}{f' ({note})' if note else ''}"
