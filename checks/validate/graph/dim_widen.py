"""ONX-DIM-WIDEN: a fixed size became dynamic: fine for inputs, not shown to be fine for outputs."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from .contract import dynamic, pairs, show_size, symbol
from .sizes import sent, sizes

RULE = Rule(
    id="ONX-DIM-WIDEN",
    name="dimension-widened",
    family="ONX",
    severity=Severity.WARNING,
    summary="a fixed size became dynamic",
    what="A fixed dimension of an input or output is dynamic in the new graph.",
    why="clients that allocate output buffers for the fixed size fail when another size comes back",
    hint="export the output with its fixed size, or run the behavioural stage with --run to see the real sizes",
    exemptions=(
        "inputs: whatever was accepted still is",
        "an output size that follows an input size which old clients always send as the old fixed size",
    ),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Dimensions that are no longer fixed."""
    for pair in pairs(ctx):
        for size in sizes(ctx, pair, "inputs"):
            if dynamic(size.new):
                yield ctx.finding(
                    RULE,
                    "hot",
                    f"input '{size.value.name}' axis {size.axis} accepts any size",
                    old=show_size(size.old),
                    new=show_size(size.new),
                    path=pair.new.file,
                    tensor=size.value.name,
                    pointer=f"graph.input.type.shape.dim[{size.axis}]",
                )
        for size in sizes(ctx, pair, "outputs"):
            if not dynamic(size.new):
                continue
            level: Level = "unproven"
            proof = ""
            seen = sent(pair.old, pair.new, symbol(size.new))
            if seen == {size.old}:
                level = "hot"
                proof = f"the size follows an input size that old clients send as {show_size(size.old)}"
            elif seen:
                # The output now follows an input size that old clients vary: the fixed size is really gone.
                level = ctx.client_level("tensor")
            yield ctx.finding(
                RULE,
                level,
                f"output '{size.value.name}' axis {size.axis} is no longer fixed",
                old=show_size(size.old),
                new=show_size(size.new),
                path=pair.new.file,
                tensor=size.value.name,
                pointer=f"graph.output.type.shape.dim[{size.axis}]",
                proof=proof,
            )
