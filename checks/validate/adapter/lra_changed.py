"""LRA-CHANGED: the adapter's matrices have new values."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .subjects import subjects

RULE = Rule(
    id="LRA-CHANGED",
    name="adapter-changed",
    family="LRA",
    severity=Severity.INFO,
    summary="the adapter has new values, under the same name",
    what="The bytes of adapter_model.safetensors of both versions.",
    why="prefix caches are kept by the adapter's name or number: entries of the old matrices would be reused",
    hint="load it under a new name, or drop the cache at the swap",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Adapters that replace one of the same folder."""
    for subject in subjects(ctx):
        if subject.old is None or not subject.ours or subject.weights_file not in ctx.new.tree.files:
            continue
        if ctx.same(subject.weights_file, subject.weights_file) != "same":
            message = (
                f"the adapter ({len(subject.adapter.modules)} modules, rank {subject.adapter.rank}) has new values"
            )
            yield ctx.finding(RULE, "hot", message, path=subject.weights_file, plan=("flush-kv",))
