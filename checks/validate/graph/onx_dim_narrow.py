"""ONX-DIM-NARROW: a size that clients may choose, or that they rely on, became another fixed one."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from .contract import Pair, dynamic, pairs, promised, show_size, symbol
from .shapes.known import same_size
from .sizes import sizes

RULE = Rule(
    id="ONX-DIM-NARROW",
    name="dimension-narrowed",
    family="ONX",
    severity=Severity.ERROR,
    summary="an input accepts fewer sizes, or a fixed size changed",
    what="A dynamic input dimension became fixed, or a fixed dimension of an input or output has another size.",
    why="requests that were valid are refused ('Got invalid dimensions'); re-exports freeze the batch size unasked",
    hint="export with dynamic_axes for this dimension, or agree the new size with the clients first",
    exemptions=(
        "an output whose dynamic dimension became fixed: its clients take any size",
        "an output size that the operators of both graphs give, whatever is declared",
    ),
    references=("https://github.com/pytorch/pytorch/issues/148629",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Dimensions that became fixed or changed their fixed size."""
    for pair in pairs(ctx):
        for size in sizes(ctx, pair, "inputs"):
            if not dynamic(size.new):
                yield ctx.finding(
                    RULE,
                    ctx.client_level("tensor"),
                    f"input '{size.value.name}' axis {size.axis} accepts fewer sizes",
                    old=show_size(size.old),
                    new=show_size(size.new),
                    path=pair.new.file,
                    tensor=size.value.name,
                    pointer=f"graph.input.type.shape.dim[{size.axis}]",
                )
        for size in sizes(ctx, pair, "outputs"):
            if dynamic(size.new):
                continue
            level: Level = ctx.client_level("tensor")
            if dynamic(size.old):
                if not _follows_input(pair, symbol(size.old)):
                    continue
                if same_size(ctx, pair, size.before, size.value, size.axis):
                    continue
                level = "unproven"
            yield ctx.finding(
                RULE,
                level,
                f"output '{size.value.name}' axis {size.axis} has another size",
                old=show_size(size.old),
                new=show_size(size.new),
                path=pair.new.file,
                tensor=size.value.name,
                pointer=f"graph.output.type.shape.dim[{size.axis}]",
            )


def _follows_input(pair: Pair, name: str) -> bool:
    """Whether the old graph ties this output size to an input size, which a fixed one would no longer follow."""
    return bool(name) and any(symbol(d) == name for value in promised(pair.old, "inputs") for d in value.shape or ())
