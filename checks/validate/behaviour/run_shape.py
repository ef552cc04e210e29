"""RUN-SHAPE: an output really has another shape or type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .measured import Measured

RULE = Rule(
    id="RUN-SHAPE",
    name="run-shape-differs",
    family="RUN",
    severity=Severity.ERROR,
    summary="an output has another shape or type on the same input",
    what="Shapes and types of all outputs that both graphs have, lengths of sequences and keys of maps, exactly.",
    why="clients allocate and index by the shape they got so far, whatever the contract leaves open",
    hint="keep the shape, or ship the clients first",
)


def check(ctx: Context) -> Iterator[Finding]:
    """One finding an output."""
    for each in cast("list[Measured]", ctx.options.get("measured", [])):
        for message in each.shapes:
            yield ctx.finding(RULE, ctx.client_level("tensor"), message, path=each.file)
