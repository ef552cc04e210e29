"""Replay witnesses through the real library, where it is installed. A witness that does not replay is not reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

from ....models.errors import UnreadableModel
from ....models.tokenizer import Tokenizer
from .changes import changes

Encode = Callable[[str], list[int]]
MAX_TRIES = 4_000
# What stands for the ids of a text that the library fails on.
FAILS = -1
_REFUSED = "tokenizers refuses to load"


class Library(NamedTuple):
    """The real tokenizer: text to ids without special tokens, and ids to text."""

    encode: Encode
    decode: Callable[[Sequence[int]], str]


_LOADED: WeakKeyDictionary[Tokenizer, Library | str] = WeakKeyDictionary()


def library(tokenizer: Tokenizer) -> Library | str:
    """The library's tokenizer for the file that `tokenizer` was read from, or why there is none."""
    if tokenizer not in _LOADED:
        _LOADED[tokenizer] = _load(tokenizer)
    return _LOADED[tokenizer]


def _load(tokenizer: Tokenizer) -> Library | str:
    if tokenizer.format == "tokenizer.json":
        if find_spec("tokenizers") is None:
            return "install interlock[tokenizers] to replay it"
        from tokenizers import Tokenizer as Real

        try:
            real = Real.from_file(tokenizer.path)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            return f"{_REFUSED} {tokenizer.path}: {str(error)[:160]}"
        real.no_padding()
        real.no_truncation()

        def encode(text: str) -> list[int]:
            try:
                return real.encode(text, add_special_tokens=False).ids
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt | SystemExit):
                    raise
                return [FAILS]

        def decode(ids: Sequence[int]) -> str:
            return real.decode(list(ids), skip_special_tokens=False)

        return Library(encode, decode)
    if tokenizer.format == "sentencepiece":
        if find_spec("sentencepiece") is None:
            return "install sentencepiece to replay it"
        return _sentencepiece(tokenizer.path)
    return f"there is no library to replay {tokenizer.format} with"


def _sentencepiece(path: str) -> Library | str:
    import sentencepiece

    processor: Any = cast("Any", sentencepiece).SentencePieceProcessor()
    try:
        processor.Load(path)
    except (OSError, RuntimeError) as error:
        return f"sentencepiece cannot load {path}: {str(error)[:120]}"

    def encode(text: str) -> list[int]:
        return list(processor.EncodeAsIds(text))

    def decode(ids: Sequence[int]) -> str:
        return str(processor.DecodeIds(list(ids)))

    return Library(encode, decode)


def find(old: Tokenizer, new: Tokenizer, texts: Iterable[str]) -> dict[str, Any] | None:
    """The first text that really encodes differently, shrunk; or unreplayed, the first one. None: none of them."""
    before, after = library(old), library(new)
    if isinstance(after, str) and after.startswith(_REFUSED) and not isinstance(before, str):
        # What the reader cannot see, such as a pattern that does not compile.
        raise UnreadableModel(new.path, after, hint="save it again, or update the tokenizers library here")
    if isinstance(before, str) or isinstance(after, str):
        first = next(iter(texts), None)
        reason = before if isinstance(before, str) else str(after)
        return None if first is None else {"kind": "encode", "text": first, "replayed": False, "reason": reason}
    moved = changes(old, new)
    renumbered = bool(moved.renamed or moved.removed)

    def differs(text: str) -> bool:
        a, b = before.encode(text), after.encode(text)
        if renumbered:  # then ids differ everywhere, and only other tokens are news
            return [old.tokens.get(each) for each in a] != [new.tokens.get(each) for each in b]
        return a != b

    for count, text in enumerate(texts):
        if count >= MAX_TRIES:
            break
        if differs(text):
            small = shrink(text, differs)
            ids = {"old": _short(before.encode(small)), "new": _short(after.encode(small))}
            return {"kind": "encode", "text": small, **ids, "replayed": True}
    return None


def find_decoded(old: Tokenizer, new: Tokenizer, ids: Iterable[list[int]]) -> dict[str, Any] | None:
    """The first ids that really decode differently; None where there are none, or no library."""
    before, after = library(old), library(new)
    if isinstance(before, str) or isinstance(after, str):
        return None
    for count, each in enumerate(ids):
        if count >= MAX_TRIES:
            break
        first, second = before.decode(each), after.decode(each)
        if first != second:
            return {"kind": "decode", "ids": each, "old": first, "new": second, "replayed": True}
    return None


def replayable(old: Tokenizer, new: Tokenizer) -> bool:
    """Whether both tokenizers can be run by a library that is installed."""
    return not isinstance(library(old), str) and not isinstance(library(new), str)


def shrink(text: str, differs: Callable[[str], bool], tries: int = 400) -> str:
    """A shorter text that still differs: cut halves, quarters and so on, then single characters, while it helps."""
    size = max(1, len(text) // 2)
    while tries > 0:
        for start in range(0, len(text), size):
            tries -= 1
            shorter = text[:start] + text[start + size :]
            if shorter and differs(shorter):
                text = shorter
                break
        else:
            if size == 1:
                break
            size //= 2
        size = max(1, min(size, len(text) // 2))
    return text


def _short(ids: list[int], limit: int = 16) -> list[int]:
    return ids[:limit]
