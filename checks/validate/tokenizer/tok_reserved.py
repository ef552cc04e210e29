"""TOK-RESERVED: a slot that was kept free has a name now."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from . import replay
from .changes import both, changes, shown
from .judge import file_of
from .texts import literal_contexts

RULE = Rule(
    id="TOK-RESERVED",
    name="reserved-slot-activated",
    family="TOK",
    severity=Severity.WARNING,
    summary="reserved slots of the vocabulary were given names",
    what="Ids whose old token is a placeholder such as <|reserved_special_token_3|>, [control_7] or [unused12] and "
    "whose new token is a real one. A witness is added where the new name now matches in text.",
    why="the new weights were trained to use these ids, so tokenizer and weights only work together",
    hint="swap tokenizer and weights in lockstep; clients are fine unless they send the new names as text",
    bad="[control_8] is [REFERENCE_DOC_1], and matches when a user types it",
    good="the placeholder keeps its name",
    example="text",
    references=("mistral tokenizer v2 to v3",),
    reads=("tokenizer",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Report the activated slots, with a text that a new name changes."""
    pair = both(ctx)
    if pair is None:
        return
    old, new = pair
    activated = changes(old, new).activated
    if not activated:
        return
    literals = {each.content for each in new.added} - {each.content for each in old.added}
    matching = sorted((token for _, token in activated.values() if token in literals), key=len)
    found = replay.find(old, new, (text for token in matching for text in literal_contexts(token)))
    message = f"{len(activated):,} reserved slots have names now: {shown(activated)}"
    if matching:
        message += f"; {len(matching):,} of them match in text"
    yield ctx.finding(RULE, "restart", message, path=file_of(new), witness=found, plan=("reload-tokenizer",))
