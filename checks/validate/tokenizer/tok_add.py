"""TOK-ADD: ids that were not there before."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .changes import both, changes, shown

RULE = Rule(
    id="TOK-ADD",
    name="token-added",
    family="TOK",
    severity=Severity.INFO,
    summary="the vocabulary has ids that were not there before",
    what="Ids that only the new vocabulary has. Whether old text still encodes to the old ids is decided by the "
    "rules on merges, pieces and added tokens.",
    why="ids of old answers keep their text, but an old tokenizer cannot decode what the new model may say",
    hint="reload the tokenizer wherever ids are decoded, before the new weights answer",
    bad="a new token put into the middle of the vocabulary (see TOK-ID)",
    good="a new token after the last id, with an embedding row of its own",
    example="text",
    reads=("tokenizer",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Report what came, and whether it came at the end."""
    pair = both(ctx)
    if pair is None:
        return
    found = changes(*pair)
    if not found.added:
        return
    inside = [number for number in found.added if number <= found.old_largest]
    where = f", {len(inside):,} of them in gaps of the old vocabulary" if inside else " after the last one"
    kept = not (found.renamed or found.removed or found.activated)
    yield ctx.finding(
        RULE,
        "hot",
        f"{len(found.added):,} ids were added{where}: {shown(found.added)}",
        path=pair[1].path.rsplit("/", 1)[-1],
        proof="every old id has the same token in both: old ids decode as before" if kept else "",
        plan=("reload-tokenizer",),
    )
