"""WTS-INDEX: the shard index and the shards do not agree."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule

RULE = Rule(
    id="WTS-INDEX",
    name="index-disagrees-with-shards",
    family="WTS",
    severity=Severity.ERROR,
    summary="the index names tensors that the shards do not hold, or the other way around",
    what="weight_map and total_size of *.safetensors.index.json against the headers of the shards, and a file of the "
    "same name without an index beside them.",
    why="loaders trust the index: a tensor it puts elsewhere stays at its random initial value or the load fails",
    hint="write the index again from the shards (save_pretrained does), or fetch the missing shard",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Disagreements inside NEW; harmless ones that OLD has just the same are notes."""
    before = {table.name: set(table.faults) for table in ctx.old.weight_sets.values()} if ctx.old else {}
    for table in ctx.new.weight_sets.values():
        path = table.index or table.files[0]
        for fault in table.faults[:20]:
            known = fault in before.get(table.name, ())
            minor = fault.startswith("the index declares")
            yield ctx.finding(RULE, "hot" if known or minor else "breaks", fault, path=path)
        if len(table.faults) > 20:
            yield ctx.finding(RULE, "breaks", f"and {len(table.faults) - 20} more disagreements", path=path)
