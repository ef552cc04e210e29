"""TOK-DEL: an id, or the whole tokenizer, that is no longer there."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .changes import both, changes, shown

RULE = Rule(
    id="TOK-DEL",
    name="token-removed",
    family="TOK",
    severity=Severity.ERROR,
    summary="an id of the old vocabulary is no longer there",
    what="Every id of the old vocabulary must exist in the new one.",
    why="a client that sends or stored the id gets an error or another token",
    hint="keep the token, or put a reserved name in its slot and treat the release as a new model",
    bad='"vocab": {"a": 0, "b": 1}            (was {"a": 0, "b": 1, "ab": 2})',
    good='"vocab": {"a": 0, "b": 1, "ab": 2}',
    example="text",
    reads=("tokenizer",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Ids that went, or the tokenizer as a whole."""
    if ctx.old is not None and ctx.old.tokenizer is not None and ctx.new.tokenizer is None:
        yield ctx.finding(
            RULE,
            "breaks",
            "the tokenizer is no longer part of the model",
            path="",
            old=ctx.old.tokenizer.path,
            new=None,
            why="the server has nothing to turn text into ids with",
            hint="publish the tokenizer with the weights",
        )
    pair = both(ctx)
    if pair is None:
        return
    found = changes(*pair)
    if found.removed:
        number, token = min(found.removed.items())
        yield ctx.finding(
            RULE,
            ctx.client_level("ids"),
            f"{len(found.removed):,} ids were removed: {shown(found.removed)}",
            path=pair[1].path.rsplit("/", 1)[-1],
            witness={"kind": "decode", "ids": [number], "old": token, "new": None},
            plan=("reload-tokenizer",),
        )
