"""ONX-OUT-ADDED: the new graph has more outputs; harmless unless clients count them."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import match, pairs, promised, show

RULE = Rule(
    id="ONX-OUT-ADDED",
    name="output-added",
    family="ONX",
    severity=Severity.INFO,
    summary="an output is new",
    what="An output the old graph did not have; where clients bind by index, one that is not at the end.",
    why="clients that bind by name do not see it; clients that count outputs read the wrong one if it is not last",
    hint="put new outputs at the end",
)


def check(ctx: Context) -> Iterator[Finding]:
    """New outputs, judged by where they stand."""
    for pair in pairs(ctx):
        old, new = promised(pair.old, "outputs"), promised(pair.new, "outputs")
        last_kept = max((i for i, value in enumerate(new) if value.name in {each.name for each in old}), default=-1)
        for value in match(ctx, pair, "outputs").added:
            inside = new.index(value) < last_kept and ctx.binds("outputs", "index")
            yield ctx.finding(
                RULE,
                "breaks" if inside else "hot",
                f"output '{value.name}' {show(value)} is new" + (" and moves the outputs after it" if inside else ""),
                path=pair.new.file,
                tensor=value.name,
                pointer="graph.output",
            )
