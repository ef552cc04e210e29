"""TRT-TP: the engine is split over another number of GPUs, or ranks are missing."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .matching import pairs

RULE = Rule(
    id="TRT-TP",
    name="engine-mapping-changed",
    family="TRT",
    severity=Severity.WARNING,
    summary="world size or parallel mapping changed, or engine files of some ranks are missing",
    what="mapping of pretrained_config, and the number of engine files beside it.",
    why="one process per rank was started for the old mapping; without its file a rank cannot load",
    hint="restart with as many ranks as the engine has",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Mapping against the live one; files against the mapping."""
    for pair in pairs(ctx):
        old, new = pair.old.mapping, pair.new.mapping
        if old != new:
            path, pointer = pair.new.file, "/pretrained_config/mapping"
            yield ctx.finding(RULE, "restart", "another mapping", old=old, new=new, path=path, pointer=pointer)
    for file, engine in ctx.new.engines.items():
        ranks = engine.mapping.get("world_size")
        if engine.build and ranks and len(engine.engines) != ranks:
            message = f"world_size is {ranks}, but there are {len(engine.engines)} engine files"
            yield ctx.finding(RULE, "breaks", message, path=file, pointer="/pretrained_config/mapping/world_size")
