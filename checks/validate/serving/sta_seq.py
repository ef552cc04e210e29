"""STA-SEQ: Triton keeps sequences on this model, and does not carry them over a reload."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule

RULE = Rule(
    id="STA-SEQ",
    name="sequences-in-flight",
    family="STA",
    severity=Severity.INFO,
    summary="the model is served with sequence batching: running sequences do not survive a reload",
    what="sequence_batching in config.pbtxt of either version.",
    why="Triton does not guarantee in-flight sequences when a sequence model is reloaded; draining is the user's job",
    hint="stop sending new sequences to the old version and let the running ones end before the swap",
    references=("https://github.com/triton-inference-server/server/blob/main/docs/user_guide/model_management.md",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Ask for the drain."""
    if ctx.old is None:
        return
    for side in (ctx.new, ctx.old):
        for name, config in side.triton.items():
            if config.sequences:
                message = "sequences are kept on the server; they do not survive a reload"
                yield ctx.finding(RULE, "hot", message, path=name, side=side, plan=("drain-sessions",))
                return
