"""ONX-OUT-REMOVED: clients ask for an output that the new graph does not have."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import match, pairs, show

RULE = Rule(
    id="ONX-OUT-REMOVED",
    name="output-removed",
    family="ONX",
    severity=Severity.ERROR,
    summary="an output that clients read is gone",
    what="An output of the old graph has no counterpart in the new one, neither by name nor by type and shape.",
    why="a client that asks for it by name gets an error, one that counts outputs reads the wrong one",
    hint="keep the output, or ship the clients first and swap behind a new endpoint",
    references=("https://github.com/snakers4/silero-vad/issues/472",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Outputs without a counterpart."""
    for pair in pairs(ctx):
        for value in match(ctx, pair, "outputs").removed:
            yield ctx.finding(
                RULE,
                ctx.client_level("tensor"),
                f"output '{value.name}' {show(value)} is gone",
                path=pair.new.file,
                tensor=value.name,
                pointer="graph.output",
            )
