"""ONX-RANK: an input or output has another number of dimensions."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from .contract import WORD, What, match, pairs, show
from .shapes.known import same_shape

RULE = Rule(
    id="ONX-RANK",
    name="rank-changed",
    family="ONX",
    severity=Severity.ERROR,
    summary="an input or output has another number of dimensions",
    what="The ranks of a matched input or output differ, or one side no longer says its rank.",
    why="ONNX Runtime refuses the request ('Invalid rank for input'), or the client indexes the wrong axis",
    hint="reshape inside the graph and keep the rank clients know",
    exemptions=("an output that no longer says its rank, but has the shape that the old operators gave",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Matched tensors whose ranks differ."""
    sides: tuple[What, What] = ("inputs", "outputs")
    for pair in pairs(ctx):
        for what in sides:
            for old, new in match(ctx, pair, what).all_kept:
                if old.shape is None and new.shape is None:
                    continue
                if old.shape is not None and new.shape is not None:
                    if len(old.shape) == len(new.shape):
                        continue
                    level: Level = ctx.client_level("tensor")
                else:
                    # An input that now takes any rank takes the old one, an output of known rank is one of any rank.
                    level = "hot" if (new.shape is None) == (what == "inputs") else "unproven"
                    if what == "outputs" and level == "unproven" and same_shape(ctx, pair, old, new):
                        level = "hot"
                yield ctx.finding(
                    RULE,
                    level,
                    f"{WORD[what]} '{new.name}' has another rank",
                    old=show(old),
                    new=show(new),
                    path=pair.new.file,
                    tensor=new.name,
                    pointer=f"graph.{WORD[what]}",
                )
