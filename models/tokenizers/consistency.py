"""What the library checks only when it has everything: whether the merges of a tokenizer are made of its tokens."""

from __future__ import annotations

from itertools import chain

from ..errors import UnreadableModel
from ..tokenizer import Tokenizer


def check(tokenizer: Tokenizer) -> None:
    """Read all parts, and raise UnreadableModel for a merge of, or to, something that is no token."""
    vocab = tokenizer.vocab.value
    if tokenizer.format not in ("tokenizer.json", "vocab"):
        return
    merges = tokenizer.merges.value
    prefix = len(str(tokenizer.settings.get("continuing_subword_prefix") or ""))
    if (
        not prefix
        and vocab.keys() >= {*chain.from_iterable(merges)}
        and all(map(vocab.__contains__, map("".join, merges)))
    ):
        return  # whole sets at once: an item by item check of half a million merges takes seconds
    for left, right in merges:
        if len(right) < prefix:
            raise UnreadableModel(
                tokenizer.path, f"merges {right[:20]!r}, which is shorter than the prefix of such tokens"
            )
        for token in (left, right, left + right[prefix:]):
            if token not in vocab:
                raise UnreadableModel(
                    tokenizer.path,
                    f"merges {left[:20]!r} and {right[:20]!r}, but {token[:40]!r} is no token",
                    hint="the library refuses to load it; save the tokenizer again",
                )
