"""FIL-BYTES: under the strict contract no byte may change."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule

RULE = Rule(
    id="FIL-BYTES",
    name="bytes-changed",
    family="FIL",
    severity=Severity.ERROR,
    summary="a file differs although the contract says that bytes count",
    what="Every file of both models, with contract.level set to strict.",
    why="somebody pinned the digests of these files, or signed them for this release",
    hint="publish under a new name, or lower contract.level",
    exemptions=("any contract level but strict",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Files that differ, were added or removed."""
    if ctx.old is None or not ctx.serves("strict"):
        return
    old, new = ctx.old.tree.files, ctx.new.tree.files
    if ctx.old.tree.single and ctx.new.tree.single:
        names = [(next(iter(old)), next(iter(new)))]
    else:
        names = [(name, name) for name in sorted(old.keys() | new.keys())]
    for before, after in names:
        if before not in old:
            yield ctx.finding(RULE, "breaks", f"file '{after}' is new", path=after)
        elif after not in new:
            yield ctx.finding(RULE, "breaks", f"file '{before}' is gone", path=before, side=ctx.old)
        elif (state := ctx.same(before, after)) != "same":
            word = "differs" if state == "different" else "agrees in every sample, but was not compared whole"
            yield ctx.finding(RULE, "breaks" if state == "different" else "unproven", f"'{after}' {word}", path=after)
