"""ONX-OUT-RENAMED: an output of the same type and shape has another name."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import match, pairs, show

RULE = Rule(
    id="ONX-OUT-RENAMED",
    name="output-renamed",
    family="ONX",
    severity=Severity.ERROR,
    summary="an output that clients bind by name has another name",
    what="One output is gone and one of the same type and a fitting shape is new.",
    why="Triton configurations, IoBinding and run([name]) fail; run(None) clients do not notice",
    hint="export with fixed output_names, or set contract.bind.outputs to index if every client binds by position",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Outputs that only changed their name."""
    for pair in pairs(ctx):
        for old, new in match(ctx, pair, "outputs").renamed:
            yield ctx.finding(
                RULE,
                ctx.client_level("tensor"),
                f"output {show(old)} was renamed",
                old=old.name,
                new=new.name,
                path=pair.new.file,
                tensor=new.name,
                pointer="graph.output",
            )
