"""GGF-TENSOR: tensors were added, removed, resized or quantised otherwise; or have new values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..weights.tables import names
from .files import encoder, pairs

RULE = Rule(
    id="GGF-TENSOR",
    name="gguf-tensors-changed",
    family="GGF",
    severity=Severity.WARNING,
    summary="tensors of the GGUF file changed",
    what="Names, dims and ggml types of the tensor infos; with all of them equal, the bytes of the file.",
    why="an in-place update needs the same tensors; a server that holds the old file must load the new one",
    hint="restart the server with the new file",
)


def check(ctx: Context) -> Iterator[Finding]:
    """One finding for each kind of change."""
    for pair in pairs(ctx):
        old, new, path = pair.old.tensors, pair.new.tensors, pair.new.file
        removed, added = old.keys() - new.keys(), new.keys() - old.keys()
        resized = [name for name in old.keys() & new.keys() if old[name].dims != new[name].dims]
        retyped = [name for name in old.keys() & new.keys() if old[name].type != new[name].type]
        for found, verb in ((removed, "are gone"), (added, "are new"), (resized, "have other dims")):
            if found:
                message = f"{len(found)} tensors {verb}: {names(found)}"
                yield ctx.finding(RULE, "restart", message, path=path, tensors=found)
        if retyped:
            kinds = Counter((old[name].type, new[name].type) for name in retyped)
            told = ", ".join(f"{count} of {a} to {b}" for (a, b), count in kinds.most_common(4))
            message = f"{len(retyped)} tensors are quantised otherwise: {told}"
            yield ctx.finding(RULE, "restart", message, path=path, tensors=retyped)
        if (removed or added or resized or retyped) or ctx.same(pair.old.file, path) == "same":
            continue
        yield ctx.finding(
            RULE,
            "hot",
            "the file has new values or metadata"
            if ctx.same(pair.old.file, path) == "different"
            else "the file agrees in every sample, but was not compared whole",
            path=path,
            plan=("revalidate-adapters",) if encoder(pair.new) else ("flush-kv", "revalidate-adapters"),
        )
