"""TOK-ADDED: literals that are cut out of text before the model, and how they match."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.tokenizer import AddedToken
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from . import replay
from .changes import both, changes, quoted
from .judge import differs, file_of, unproven
from .texts import literal_contexts

RULE = Rule(
    id="TOK-ADDED",
    name="added-token-changed",
    family="TOK",
    severity=Severity.WARNING,
    summary="an added token is new, gone, or matches differently",
    what="The added tokens' contents and their flags special, single_word, lstrip, rstrip and normalized.",
    why="added tokens match literally in any text: a new one can be injected by a user who types it, and a changed "
    "flag moves spaces and ids around it",
    hint="strip or escape the new literal in user text, and reload the tokenizer together with the weights",
    bad='{"id": 9, "content": "<|tool|>", "lstrip": true}     (lstrip was false)',
    good='{"id": 9, "content": "<|tool|>", "lstrip": false}',
    example="json",
    exemptions=("names given to reserved slots (TOK-RESERVED)",),
    reads=("tokenizer",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare added tokens by content."""
    pair = both(ctx)
    if pair is None:
        return
    old, new = pair
    found = changes(old, new)
    before, after = _by_content(old.added), _by_content(new.added)
    activated = {token for _, token in found.activated.values()} | {token for token, _ in found.activated.values()}
    fresh = [content for content in after if content not in before and content not in activated]
    gone = [content for content in before if content not in after and content not in activated]
    if fresh:
        yield from _judged(ctx, fresh, f"{len(fresh):,} new literals match in text: {_names(fresh)}")
    if gone and not found.removed:
        yield from _judged(ctx, gone, f"{len(gone):,} literals no longer match in text: {_names(gone)}")
    for content, token in after.items():
        if content in before and before[content].flags != token.flags:
            yield from _flags(ctx, before[content], token)


def _by_content(added: tuple[AddedToken, ...]) -> dict[str, AddedToken]:
    return {each.content: each for each in added}


def _names(contents: list[str]) -> str:
    more = len(contents) - 5
    return ", ".join(map(quoted, contents[:5])) + (f" and {more:,} more" if more > 0 else "")


def _judged(ctx: Context, contents: list[str], message: str) -> Iterator[Finding]:
    pair = both(ctx)
    if pair is None:
        return
    shortest = sorted(contents, key=len)[:500]
    found = replay.find(*pair, (text for content in shortest for text in literal_contexts(content)))
    if found is None:
        yield unproven(
            ctx, RULE, pair[1], message, reason="no text was found that encodes differently", pointer="/added_tokens"
        )
    else:
        yield differs(ctx, RULE, pair[1], message, found=found, pointer="/added_tokens")


_FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")


def _flags(ctx: Context, old: AddedToken, new: AddedToken) -> Iterator[Finding]:
    changed = [
        f"{name} was {str(a).lower()} and is {str(b).lower()}"
        for name, a, b in zip(_FLAGS, old.flags, new.flags, strict=True)
        if a != b
    ]
    message = f"{quoted(new.content)}: {', '.join(changed)}"
    if old.special != new.special and old.flags[1:] == new.flags[1:]:
        pair = both(ctx)
        yield ctx.finding(
            RULE,
            "restart",
            f"{message}; a decoder that skips special tokens {'drops' if new.special else 'keeps'} it now",
            path=file_of(pair[1]) if pair else "",
            pointer="/added_tokens",
            witness={"kind": "decode", "ids": [new.id], "old": old.content, "new": "" if new.special else new.content},
            plan=("reload-tokenizer",),
        )
        return
    yield from _judged(ctx, [new.content], message)
