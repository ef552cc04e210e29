"""ONX-IN-RENAMED: an input of the same type and shape has another name."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import match, pairs, show

RULE = Rule(
    id="ONX-IN-RENAMED",
    name="input-renamed",
    family="ONX",
    severity=Severity.ERROR,
    summary="an input that clients bind by name has another name",
    what="One input is gone and one of the same type and a fitting shape is new.",
    why="clients and server configurations that bind by name fail; exporters rename inputs between versions",
    hint="export with fixed input_names, or set contract.bind.inputs to index if every client binds by position",
    references=("https://github.com/pytorch/pytorch/issues/148886",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Inputs that only changed their name."""
    for pair in pairs(ctx):
        for old, new in match(ctx, pair, "inputs").renamed:
            yield ctx.finding(
                RULE,
                ctx.client_level("tensor"),
                f"input {show(old)} was renamed",
                old=old.name,
                new=new.name,
                path=pair.new.file,
                tensor=new.name,
                pointer="graph.input",
            )
