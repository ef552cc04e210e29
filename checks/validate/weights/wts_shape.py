"""WTS-SHAPE: tensors of the same name have other shapes."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .tables import names, pairs, show

RULE = Rule(
    id="WTS-SHAPE",
    name="tensor-shape-changed",
    family="WTS",
    severity=Severity.WARNING,
    summary="tensors have another shape",
    what="The shapes in the safetensors headers of tensors that both models have.",
    why="buffers on the device have the old shape: an in-place update fails or writes past its tensor",
    hint="roll the servers instead of updating weights in place",
)


def check(ctx: Context) -> Iterator[Finding]:
    """One finding a set: most shape changes go through every layer."""
    for pair in pairs(ctx):
        changed = [
            name
            for name, tensor in pair.new.tensors.items()
            if name in pair.old.tensors and pair.old.tensors[name].shape != tensor.shape
        ]
        if changed:
            first = min(changed)
            yield ctx.finding(
                RULE,
                "restart",
                f"{len(changed)} tensors have another shape ({names(changed)}), '{first}'",
                old=show(pair.old, first),
                new=show(pair.new, first),
                path=pair.new.tensors[first].file,
                tensors=changed,
                files=pair.new.places,
            )
