"""GGF-SPLIT: parts of a split file are missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .files import split

RULE = Rule(
    id="GGF-SPLIT",
    name="split-incomplete",
    family="GGF",
    severity=Severity.ERROR,
    summary="parts of a split GGUF file are missing",
    what="Files named stem-00001-of-00003.gguf, and split.count in their metadata.",
    why="the server fails when it comes to the missing part, after the old model was let go",
    hint="fetch the missing parts",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Numbers that are not there."""
    if ctx.new.tree.single:
        return
    parts: dict[str, set[int]] = defaultdict(set)
    counts: dict[str, int] = {}
    for file in ctx.new.gguf:
        found = split(file)
        if found is not None:
            parts[found[0]].add(found[1])
            counts[found[0]] = found[2]
    for stem, numbers in parts.items():
        missing = set(range(1, counts[stem] + 1)) - numbers
        if missing:
            listed = ", ".join(map(str, sorted(missing)[:10]))
            message = f"{len(missing)} of {counts[stem]} parts of '{stem}' are missing: {listed}"
            yield ctx.finding(RULE, "breaks", message)
