"""ONX-IN-REMOVED: clients send an input that the new graph does not have."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import match, pairs, show

RULE = Rule(
    id="ONX-IN-REMOVED",
    name="input-removed",
    family="ONX",
    severity=Severity.ERROR,
    summary="an input that clients send is gone",
    what="An input of the old graph has no counterpart in the new one, neither by name nor by type and shape.",
    why="ONNX Runtime refuses a feed with a name it does not know; silero-vad 5 did this to every client of 4",
    hint="keep the input (it may be ignored), or ship the clients first and swap behind a new endpoint",
    references=("https://github.com/snakers4/silero-vad/issues/472",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Inputs without a counterpart."""
    for pair in pairs(ctx):
        for value in match(ctx, pair, "inputs").removed:
            yield ctx.finding(
                RULE,
                ctx.client_level("tensor"),
                f"input '{value.name}' {show(value)} is gone",
                path=pair.new.file,
                tensor=value.name,
                pointer="graph.input",
            )
