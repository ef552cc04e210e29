"""ONX-ORDER: inputs or outputs stand in another order."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import WORD, What, pairs, promised

RULE = Rule(
    id="ONX-ORDER",
    name="order-changed",
    family="ONX",
    severity=Severity.INFO,
    summary="inputs or outputs that both versions have stand in another order",
    what="The names that both graphs have, in order, differ.",
    why="clients that bind by position (C and C++ by index, lists of feeds) send the right tensors to the wrong inputs",
    hint="export in the old order, or set contract.bind to index if a client binds by position",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Order of the shared names."""
    sides: tuple[What, What] = ("inputs", "outputs")
    for pair in pairs(ctx):
        for what in sides:
            old = [value.name for value in promised(pair.old, what)]
            new = [value.name for value in promised(pair.new, what)]
            before, after = [name for name in old if name in new], [name for name in new if name in old]
            if before != after:
                yield ctx.finding(
                    RULE,
                    "breaks" if ctx.binds(what, "index") else "hot",
                    f"{WORD[what]}s stand in another order; clients that bind by position break",
                    old=", ".join(before),
                    new=", ".join(after),
                    path=pair.new.file,
                    pointer=f"graph.{WORD[what]}",
                )
