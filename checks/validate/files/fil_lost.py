"""FIL-LOST: a file that servers read beside the weights went or came."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule

RULE = Rule(
    id="FIL-LOST",
    name="companion-file-lost",
    family="FIL",
    severity=Severity.ERROR,
    summary="the configuration, tokenizer or another companion of the weights is gone, or new",
    what="config.json, tokenizers, Triton and pooling settings: kinds of file that only one of the models has.",
    why="a server that reads the file fails without it; one that finds a new one behaves otherwise",
    hint="publish the model with the same companions as the live one",
    exemptions=("models that are given as one file", "generation and chat settings, which have rules of their own"),
)

_NEEDED = ("config", "tokenizer", "triton", "pooling", "labels")


def check(ctx: Context) -> Iterator[Finding]:
    """Kinds on one side only."""
    if ctx.old is None or ctx.old.tree.single or ctx.new.tree.single:
        return
    for kind in _NEEDED:
        old, new = ctx.old.tree.of(kind), ctx.new.tree.of(kind)
        if old and not new and kind != "labels":
            yield ctx.finding(RULE, "breaks", f"'{old[0].name}' is gone", path=old[0].name, side=ctx.old)
        elif new and not old:
            level: Level = "hot" if kind in ("labels", "triton") else "unproven"
            yield ctx.finding(RULE, level, f"'{new[0].name}' is new: nothing to compare it with", path=new[0].name)
