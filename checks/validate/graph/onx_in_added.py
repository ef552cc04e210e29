"""ONX-IN-ADDED: the new graph wants an input that clients do not send."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import match, optional, pairs, show

RULE = Rule(
    id="ONX-IN-ADDED",
    name="required-input-added",
    family="ONX",
    severity=Severity.ERROR,
    summary="a required input is new, or an optional one became required",
    what="An input without a default (no initializer of its name) that the old graph did not ask for.",
    why="every request of an old client fails with 'Required inputs are missing'",
    hint="give the input a default (an initializer of the same name), or ship the clients first",
    exemptions=("an input with a default: old clients need not send it",),
    references=("https://github.com/snakers4/silero-vad/issues/477",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """New inputs, and inputs that lost their default."""
    for pair in pairs(ctx):
        matching = match(ctx, pair, "inputs")
        for value in matching.added:
            free = optional(pair.new, value)
            yield ctx.finding(
                RULE,
                "hot" if free else ctx.client_level("tensor"),
                f"input '{value.name}' {show(value)} is new " + ("and has a default" if free else "and required"),
                path=pair.new.file,
                tensor=value.name,
                pointer="graph.input",
            )
        for old, new in matching.all_kept:
            if optional(pair.old, old) and not optional(pair.new, new):
                yield ctx.finding(
                    RULE,
                    ctx.client_level("tensor"),
                    f"input '{new.name}' {show(new)} lost its default and is now required",
                    path=pair.new.file,
                    tensor=new.name,
                    pointer="graph.input",
                )
