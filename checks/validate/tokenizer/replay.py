"""Replay witnesses through the real library, where it is installed. A witness that does not replay is not reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ....models.errors import UnreadableModel
from ....models.tokenizer import Tokenizer
from .changes import changes
from .library import REFUSED, Library, library

MAX_TRIES = 4_000


def both(old: Tokenizer, new: Tokenizer) -> tuple[Library, Library] | str:
    """The two tokenizers in their libraries, or why one of them cannot be run."""
    before, after = library(old, new), library(new, old)
    if isinstance(before, str):
        return before
    if isinstance(after, str):
        if after.startswith(REFUSED):
            # What the reader cannot see, such as a pattern that does not compile.
            raise UnreadableModel(new.path, after, hint="save it again, or update the tokenizers library here")
        return after
    return before, after


def find(old: Tokenizer, new: Tokenizer, texts: Iterable[str]) -> dict[str, Any] | None:
    """The first text that really encodes differently, shrunk; or unreplayed, the first one. None: none of them."""
    libraries = both(old, new)
    if isinstance(libraries, str):
        first = next(iter(texts), None)
        return None if first is None else {"kind": "encode", "text": first, "replayed": False, "reason": libraries}
    before, after = libraries
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
            return {"kind": "encode", "text": small, **ids, "replayed": True, "library": _names(before, after)}
    return None


def find_decoded(old: Tokenizer, new: Tokenizer, ids: Iterable[list[int]]) -> dict[str, Any] | None:
    """The first ids that really decode differently; None where there are none, or no library."""
    libraries = both(old, new)
    if isinstance(libraries, str):
        return None
    before, after = libraries
    for count, each in enumerate(ids):
        if count >= MAX_TRIES:
            break
        first, second = before.decode(each), after.decode(each)
        if first != second:
            names = _names(before, after)
            return {"kind": "decode", "ids": each, "old": first, "new": second, "replayed": True, "library": names}
    return None


def replayable(old: Tokenizer, new: Tokenizer) -> bool:
    """Whether both tokenizers can be run by a library that is installed."""
    return not isinstance(both(old, new), str)


def _names(old: Library, new: Library) -> str:
    return old.name if old.name == new.name else f"{old.name}; {new.name}"


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
