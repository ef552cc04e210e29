"""ONX-DIM-WIDEN: a fixed size became dynamic: fine for inputs, not shown to be fine for outputs."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from .contract import Pair, dynamic, pairs, show_size, symbol
from .onx_state import recurrent
from .shapes.known import fixed_size, same_size, sent_size
from .sizes import Size, sent, sizes

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
        "state that is fed back to an input of the old fixed size",
        "an output size that the operators of both graphs give, or those of the new one for the only input sizes that "
        "the old one takes",
        "with --run, sizes that came out as before in every run",
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
            level, proof = _judged(ctx, pair, size)
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


def _judged(ctx: Context, pair: Pair, size: Size) -> tuple[Level, str]:
    """The level of an output size that is no longer fixed, and why it may still be what clients expect."""
    name = size.value.name
    seen = sent(ctx, pair, symbol(size.new))
    if seen == {size.old}:
        return "hot", f"the size follows an input size that old clients send as {show_size(size.old)}"
    if given := same_size(ctx, pair, size.before, size.value, size.axis):
        return "hot", f"the operators give {given} there, as they did"
    if fixed_size(ctx, pair.new, size.value, size.axis) == size.old:
        return "hot", f"the operators still give {show_size(size.old)} there"
    given_now = sent_size(ctx, pair, size.value, size.axis)
    if given_now == size.old:
        return "hot", f"the operators give {given_now} there for the input sizes that old clients send"
    if given_now is not None:
        return ctx.client_level("tensor"), ""
    if seen:
        # The output now follows an input size that old clients vary: the fixed size is really gone.
        return ctx.client_level("tensor"), ""
    for value, output in recurrent(pair.new):
        if output.name == name and value.shape is not None and value.shape[size.axis] == size.old:
            return "hot", f"'{name}' is fed back as '{value.name}', which has {show_size(size.old)} there"
    for measured in ctx.options.get("measured", ()):
        if measured.file == pair.new.file and name in measured.seen and not measured.failed:
            return "hot", f"the size came out as {show_size(size.old)} in all {measured.runs} runs"
    return "unproven", ""
