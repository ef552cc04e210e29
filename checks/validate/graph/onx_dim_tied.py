"""ONX-DIM-TIED: two input sizes that clients chose freely must now be equal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from ....models.onnx import OnnxModel
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import pairs, promised, symbol

RULE = Rule(
    id="ONX-DIM-TIED",
    name="dimensions-tied",
    family="ONX",
    severity=Severity.WARNING,
    summary="two input sizes share a name that had different names before",
    what="Two input dimensions with different names in the old graph have one name in the new graph.",
    why="a request whose two sizes differ was valid and now fails inside the graph, after the swap",
    hint="check that no client sends different sizes there, then accept the finding with a reason",
    exemptions=("dimensions that had no name of their own: the tie may have been there all along",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Pairs of axes that share a symbol in NEW and had two in OLD."""
    for pair in pairs(ctx):
        before = _symbols(pair.old)
        axes: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for axis, name in _symbols(pair.new).items():
            axes[name].append(axis)
        for name, tied in axes.items():
            for a, b in combinations(tied, 2):
                if a in before and b in before and before[a] != before[b]:
                    yield ctx.finding(
                        RULE,
                        "unproven" if ctx.serves("tensor") else "hot",
                        f"axis {a[1]} of '{a[0]}' and axis {b[1]} of '{b[0]}' must now be equal",
                        old=f"{before[a]}, {before[b]}",
                        new=name,
                        path=pair.new.file,
                        tensor=b[0],
                        pointer=f"graph.input.type.shape.dim[{b[1]}]",
                    )


def _symbols(model: OnnxModel) -> dict[tuple[str, int], str]:
    return {
        (value.name, axis): name
        for value in promised(model, "inputs")
        for axis, dimension in enumerate(value.shape or ())
        if (name := symbol(dimension))
    }
