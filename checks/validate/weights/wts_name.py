"""WTS-NAME: the two models do not have the same tensors."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .tables import names, pairs

RULE = Rule(
    id="WTS-NAME",
    name="tensor-set-changed",
    family="WTS",
    severity=Severity.WARNING,
    summary="tensors were added or removed",
    what="The names of the tensors in the safetensors headers of both models, merged over shards.",
    why="an in-place weight update looks tensors up by name: the missing ones keep old values or the update fails",
    hint="roll the servers instead of updating weights in place",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Names on one side only."""
    for pair in pairs(ctx):
        removed = pair.old.tensors.keys() - pair.new.tensors.keys()
        added = pair.new.tensors.keys() - pair.old.tensors.keys()
        for found, verb in ((removed, "gone"), (added, "new")):
            if found:
                yield ctx.finding(
                    RULE,
                    "restart",
                    f"{len(found)} of {len(pair.old.tensors)} tensors {verb}: {names(found)}",
                    path=pair.new.files[0],
                    tensors=found,
                    files=pair.new.places,
                )
