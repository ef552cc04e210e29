"""WTS-INDEX: the shard index and the shards do not agree."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .opened import same_values, takes_all, unopened

RULE = Rule(
    id="WTS-INDEX",
    name="index-disagrees-with-shards",
    family="WTS",
    severity=Severity.ERROR,
    summary="the index names tensors that the shards do not hold, or the other way around",
    what="weight_map and total_size of *.safetensors.index.json against the headers of the shards, a file of the "
    "same name with other weights beside them, and weights under names that loaders do not look for.",
    why="loaders trust the index: a tensor it puts elsewhere stays at its random initial value or the load fails",
    hint="write the index again from the shards (save_pretrained does), or fetch the missing shard",
    exemptions=(
        "names, where contract.server or contract.runtimes say vLLM or SGLang: they take every safetensors file",
    ),
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
    yield from _opened(ctx)


def _opened(ctx: Context) -> Iterator[Finding]:
    """Weights that the loader does not find, and those of which it is not known whether it takes them."""
    fault = unopened(ctx.new)
    if fault is not None and not takes_all(ctx) and (ctx.old is None or unopened(ctx.old) is None):
        hint = "keep the names that save_pretrained writes, or name a server that takes all under contract.runtimes"
        yield ctx.finding(RULE, "unproven", f"{fault} by transformers", hint=hint)
    now, before = _two(ctx.new), ctx.old is not None and _two(ctx.old)
    if now and not before:
        message = (
            f"{now} beside the index holds other values than the shards; some servers load it, others load the shards"
        )
        yield ctx.finding(RULE, "unproven", message, path=now, hint="keep one of the two")
    elif before and not now:
        message = f"{before} beside the index is gone; it held other values than the shards, and may have been served"
        hint = "compare with the weights that really serve, and accept this once"
        yield ctx.finding(RULE, "unproven", message, hint=hint)


def _two(side: Side) -> str:
    """The file beside an index that holds other values than the shards."""
    table = side.weights
    if table is None or table.beside is None or same_values(side, table, table.beside):
        return ""
    return table.beside.files[0]
