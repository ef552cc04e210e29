"""TOK-ADDED: literals that are cut out of text before the model, and how they match."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.tokenizer import FLAGS, AddedToken
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

Flags = tuple[bool, ...]


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
    flagged: dict[tuple[Flags, Flags], list[AddedToken]] = {}
    for content, token in after.items():
        if content in before and before[content].flags != token.flags:
            flagged.setdefault((before[content].flags, token.flags), []).append(token)
    for (was, is_), tokens in flagged.items():
        yield from _flags(ctx, was, is_, tokens)


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


def _flags(ctx: Context, old: Flags, new: Flags, tokens: list[AddedToken]) -> Iterator[Finding]:
    """One finding for all tokens whose flags changed in one way."""
    changed = [
        f"{name} was {str(a).lower()} and is {str(b).lower()}"
        for name, a, b in zip(FLAGS, old, new, strict=True)
        if a != b
    ]
    contents = [each.content for each in tokens]
    message = f"{_names(contents)}: {', '.join(changed)}"
    special = new[0]
    if old[0] != special and old[1:] == new[1:]:
        pair = both(ctx)
        first = tokens[0]
        yield ctx.finding(
            RULE,
            "restart",
            f"{message}; a decoder that skips special tokens {'drops' if special else 'keeps'} "
            f"{'it' if len(tokens) == 1 else 'them'} now",
            path=file_of(pair[1]) if pair else "",
            pointer="/added_tokens",
            witness={
                "kind": "decode",
                "ids": [first.id],
                "old": _shown(first, special=old[0]),
                "new": _shown(first, special=special),
            },
            plan=("reload-tokenizer",),
        )
        return
    yield from _judged(ctx, contents, message)


def _shown(token: AddedToken, *, special: bool) -> str:
    """What a decoder that skips special tokens writes."""
    return "" if special else token.content
