"""ONX-HEAD: an output has the same type and shape, but other values: probabilities became logits, or the reverse."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from . import paths
from .contract import match
from .reading import readings
from .tail import compare
from .weightless import Free, weightless

RULE = Rule(
    id="ONX-HEAD",
    name="output-activation-changed",
    family="ONX",
    severity=Severity.WARNING,
    summary="an output's values mean something else: its last operators, or their axes and constants, changed",
    what="The operators between the last trained one and an output, in functions and bodies of If, Loop and Scan too: "
    "activations, axes, scales and offsets (one number, or one for each column), thresholds, how many of which values "
    "are chosen, quantisation. Where nothing at all was trained between the inputs and an output, as in graphs that "
    "prepare images or sound, every operator in between: such an update is no retraining.",
    why="clients take the output for a probability, compare it with a threshold or decode it; no type or shape tells",
    hint="keep the last operators and their constants in the graph as they are, or ship the clients first",
    exemptions=(
        "weights, and biases of products",
        "fused and decomposed exports of the same activation, comparison or arithmetic",
        "a scale or offset of plain numbers that moved by less than a factor of two: it was learned",
        "what stands before an activation or a choice of the largest, where something was trained",
        "without anything trained: the same function in another operator set, folded or fused by an optimizer",
    ),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Outputs that both graphs have."""
    for pair, before, after in readings(ctx):
        sides = paths.Side(before, Free(before)), paths.Side(after, Free(after))
        for old, new in match(ctx, pair, "outputs").all_kept:
            if old.name not in before.flow.outputs or new.name not in after.flow.outputs:
                continue
            rank = None if new.shape is None else len(new.shape)
            ends = before.flow.outputs[old.name], after.flow.outputs[new.name]
            said = list(dict.fromkeys(compare(before, after, *ends, rank)))
            if all(weightless(*side, end) for side, end in zip(sides, ends, strict=True)):
                other = paths.compare(*sides, *ends)
                said = [each for each in said if each.level == "breaks"] if other is None else said or [other]
            for found in said:
                yield ctx.finding(
                    RULE,
                    ctx.client_level("tensor") if found.level == "breaks" else "unproven",
                    f"output '{new.name}' has another {found.what}",
                    old=found.old,
                    new=found.new,
                    path=pair.new.file,
                    tensor=new.name,
                    pointer="graph.output",
                )
