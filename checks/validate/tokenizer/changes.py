"""What changed between two vocabularies: ids that mean something else, ids that went, ids that came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from ....models.tokenizer import Tokenizer
from ..rulebase import Context
from .reserved import is_reserved


@dataclass(slots=True)
class Changes:
    """`renamed` maps ids to (old, new) tokens, `activated` those whose old token was a reserved slot."""

    renamed: dict[int, tuple[str, str]] = field(default_factory=dict[int, tuple[str, str]])
    activated: dict[int, tuple[str, str]] = field(default_factory=dict[int, tuple[str, str]])
    removed: dict[int, str] = field(default_factory=dict[int, str])
    added: dict[int, str] = field(default_factory=dict[int, str])
    old_largest: int = -1

    def shifts(self) -> list[tuple[int, int]]:
        """(shift, how many ids) for tokens that are still there under another id, the most frequent first."""
        new_ids = {token: number for number, (_, token) in self.renamed.items()}
        new_ids.update((token, number) for number, token in self.added.items())
        counts = Counter(
            new_ids[token] - number
            for number, token in [
                *((number, old) for number, (old, _) in self.renamed.items()),
                *self.removed.items(),
            ]
            if token in new_ids
        )
        return counts.most_common(3)


_KNOWN: WeakKeyDictionary[Tokenizer, tuple[Tokenizer, Changes]] = WeakKeyDictionary()


def both(ctx: Context) -> tuple[Tokenizer, Tokenizer] | None:
    """(old, new) tokenizers where both models have one."""
    if ctx.old is None or ctx.old.tokenizer is None or ctx.new.tokenizer is None:
        return None
    return ctx.old.tokenizer, ctx.new.tokenizer


def changes(old: Tokenizer, new: Tokenizer) -> Changes:
    """The vocabulary's changes from `old` to `new`, computed once per pair."""
    known = _KNOWN.get(new)
    if known is None or known[0] is not old:
        known = (old, _compare(old, new))
        _KNOWN[new] = known
    return known[1]


def alike(ctx: Context) -> bool:
    """Whether both tokenizers have the same vocabulary and added tokens for certain, told without parsing them."""
    pair = both(ctx)
    if pair is None:
        return ctx.old is not None and ctx.old.tokenizer is None and ctx.new.tokenizer is None
    old, new = pair
    return bool(old.vocab.digest) and old.vocab.digest == new.vocab.digest and old.added == new.added


def _named(tokenizer: Tokenizer) -> dict[int, str]:
    return {each.id: each.content for each in tokenizer.added}


def _compare(old: Tokenizer, new: Tokenizer) -> Changes:
    if old.format == new.format and _named(old) == _named(new) and old.vocab.same(new.vocab):
        return Changes()
    before, after = _spelled(old, new), _spelled(new, old)
    found = Changes(old_largest=max(before, default=-1))
    for number, token in before.items():
        other = after.get(number)
        if other is None:
            found.removed[number] = token
        elif other != token:
            (found.activated if is_reserved(token) else found.renamed)[number] = (token, other)
    if old.format == new.format:
        # Two tokens may share an id; then the way back, from tokens to ids, can change alone.
        ids = new.vocab.value
        for token, number in old.vocab.value.items():
            if ids.get(token, number) != number and number not in found.activated and number not in found.removed:
                found.renamed.setdefault(number, (token, after.get(number, "")))
    if len(found.renamed) > len(found.activated):
        # A renumbered vocabulary moves tokens over reserved slots; that activates nothing.
        found.renamed.update(found.activated)
        found.activated.clear()
    found.added = {number: token for number, token in after.items() if number not in before}
    return found


def _spelled(tokenizer: Tokenizer, other: Tokenizer) -> dict[int, str]:
    """Tokens as the format spells them, or by their bytes where the two formats spell differently."""
    if tokenizer.format == other.format:
        return tokenizer.tokens
    from ....models.tokenizers.spelling import SPACE, speller

    spell = speller(tokenizer)
    literals = tokenizer.controls | {each.id for each in tokenizer.literals}
    found = {
        number: token if number in literals else spell(token).decode("utf-8", "backslashreplace")
        for number, token in tokenizer.tokens.items()
    }
    # GGUF has plain spaces in literals where the file it was converted from has SentencePiece's.
    found.update((each.id, each.content.replace(SPACE, " ")) for each in tokenizer.literals if not each.special)
    return found


def shown(items: Mapping[int, str | tuple[str, str]], limit: int = 5) -> str:
    """The first few ids with what happened to them, for messages."""
    parts: list[str] = []
    for number, value in sorted(items.items())[:limit]:
        words = (value,) if isinstance(value, str) else value
        parts.append(f"{number} {' → '.join(map(quoted, words))}")
    more = len(items) - limit
    return ", ".join(parts) + (f" and {more:,} more" if more > 0 else "")


def quoted(token: str, limit: int = 32) -> str:
    """A token in quotes, cut to `limit` characters, unprintable ones escaped."""
    text = token if len(token) <= limit else token[: limit - 1] + "…"
    if not text.isprintable():
        text = text.encode("unicode_escape").decode()
    return f"'{text}'"
