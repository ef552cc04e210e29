"""WTS-CHANGED: the contract of the weights is the same, their values are not."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .tables import contents, pairs

RULE = Rule(
    id="WTS-CHANGED",
    name="weights-changed",
    family="WTS",
    severity=Severity.INFO,
    summary="the weights have new values",
    what="The bytes of the files, compared whole up to 128 MiB a file; of larger files, samples all over them.",
    why="everything derived from the old weights goes stale at the swap: caches, adapters, stored embeddings",
    hint="see the swap plan",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Sets whose bytes differ or cannot be shown to agree."""
    for pair in pairs(ctx):
        state = contents(ctx, pair)
        if state == "same":
            continue
        count = f"{len(pair.new.tensors)} tensors, {pair.new.size:,} bytes"
        message = f"the weights ({count}) have new values"
        if state == "unknown":
            message = f"the weights ({count}) agree in every sample, but were not compared whole"
        yield ctx.finding(RULE, "hot", message, path=pair.new.index or pair.new.files[0], plan=("revalidate-adapters",))
