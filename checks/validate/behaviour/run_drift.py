"""RUN-DRIFT: how far the outputs moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .measured import Measured

RULE = Rule(
    id="RUN-DRIFT",
    name="run-drift",
    family="RUN",
    severity=Severity.INFO,
    summary="how far the outputs are from the old ones on the same inputs",
    what="Per output the class (bit-equal, allclose at 1e-3, or drift), lowest cosine similarity, largest difference, "
    "and how often the largest entry is the same; tensors in sequences and the values of maps likewise. Strings, truth "
    "values and integers are compared by value, quantised and rounded bytes within one step.",
    why="a new version is meant to answer differently, and this says how differently; where labels, flags or integers "
    "differ, a number is NaN or infinite against another one, or an output points the other way or never has the same "
    "largest entry, clients may read other answers, which is unproven",
    hint="judge accuracy on real data; generated inputs say little about it",
    exemptions=("the direction of outputs with one number a row, unless every number has the other sign",),
)
_DOUBT = (
    "clients may read other answers: labels, flags or numbers that have to match do not, or the output points the "
    "other way or never at the same entry"
)


def check(ctx: Context) -> Iterator[Finding]:
    """A note for each output."""
    for each in cast("list[Measured]", ctx.options.get("measured", [])):
        for drift in each.drifts.values():
            text = f"output '{drift.name}' over {each.runs} runs: {drift.kind}"
            if drift.exact and drift.differ:
                share = drift.differ / drift.values
                text += f", {drift.differ} of {drift.values} values differ ({share:.1%})"
            elif drift.kind != "bit-equal":
                text += f", largest difference {drift.largest:.3g}"
                if drift.vector:
                    text += f", lowest cosine {drift.cosine:.4f}"
                    text += f", same top entry in {drift.agree} of {drift.rows} rows"
                elif drift.opposed:
                    text += f", {drift.opposed} of {drift.values} values have the other sign"
            if drift.unlike:
                text += f", {drift.unlike} of {drift.values} values are NaN or infinite against another value"
            if drift.doubtful:
                yield ctx.finding(RULE, "unproven", text, path=each.file, tensor=drift.name, why=_DOUBT)
            else:
                yield ctx.finding(RULE, "hot", text, path=each.file, tensor=drift.name)
