"""TOK-ID: an id that means another token than before."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .changes import both, changes, shown

RULE = Rule(
    id="TOK-ID",
    name="token-renumbered",
    family="TOK",
    severity=Severity.ERROR,
    summary="an id means another token than before",
    what="Every id of the old vocabulary is compared with the token it names in the new one, by its bytes. "
    "Reserved slots that were given a name are TOK-RESERVED.",
    why="cached ids, stop ids and every client that sends or keeps ids now mean other text",
    hint="append new tokens after the last id, and keep every old id where it is",
    bad="768 control tokens inserted at id 3: every later id moves by 768",
    good="the same control tokens appended after the last id",
    example="text",
    exemptions=("renamed reserved slots (TOK-RESERVED)",),
    references=("mistral tokenizer v1 to v2",),
    reads=("tokenizer",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare token by token; report the count, the first five and how far ids moved."""
    pair = both(ctx)
    if pair is None:
        return
    found = changes(*pair)
    if not found.renamed:
        return
    message = f"{len(found.renamed):,} ids mean another token: {shown(found.renamed)}"
    moves = [f"{count:,} tokens moved by {shift:+}" for shift, count in found.shifts() if shift]
    if moves:
        message += f"; {', '.join(moves)}"
    number, (old, new) = min(found.renamed.items())
    yield ctx.finding(
        RULE,
        ctx.client_level("ids"),
        message,
        path=pair[1].path.rsplit("/", 1)[-1],
        pointer="/model/vocab" if pair[1].format == "tokenizer.json" else "",
        witness={"kind": "decode", "ids": [number], "old": old, "new": new},
        plan=("reload-tokenizer", "flush-kv"),
    )
