"""WTS-DTYPE: tensors of the same name have another element type."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .tables import names, pairs, type_changes

RULE = Rule(
    id="WTS-DTYPE",
    name="tensor-type-changed",
    family="WTS",
    severity=Severity.WARNING,
    summary="tensors have another element type",
    what="The types in the safetensors headers of tensors that both models have.",
    why="kernels and buffers were chosen for the old type when the server started",
    hint="roll the servers instead of updating weights in place",
)


def check(ctx: Context) -> Iterator[Finding]:
    """One finding for each change of type in a set."""
    for pair in pairs(ctx):
        for (old, new), changed in sorted(type_changes(pair).items()):
            yield ctx.finding(
                RULE,
                "restart",
                f"{len(changed)} tensors have another type ({names(changed)})",
                old=old,
                new=new,
                path=pair.new.tensors[min(changed)].file,
                tensors=changed,
                files=pair.new.places,
            )
