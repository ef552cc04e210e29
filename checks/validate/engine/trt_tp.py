"""TRT-TP: the engine is split over another number of GPUs, or ranks are missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from ....models.engine import Engine
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .matching import pairs

RULE = Rule(
    id="TRT-TP",
    name="engine-mapping-changed",
    family="TRT",
    severity=Severity.WARNING,
    summary="world size or parallel mapping changed, or files of some ranks are missing",
    what="mapping of pretrained_config against the rankN.engine files beside it, or rankN.safetensors of a checkpoint.",
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
        ranks, what = engine.ranks, "engine" if engine.built else "safetensors"
        if ranks is None or ctx.new.tree.single or not (engine.built or _by_rank(engine)):
            continue
        pointer = "/pretrained_config/mapping/world_size" if engine.built else "/mapping/world_size"
        if engine.grid is not None and engine.grid != ranks and "tp_size" in engine.mapping:
            message = f"world_size is {ranks}, but its parallel sizes make {engine.grid}"
            yield ctx.finding(RULE, "breaks", message, path=file, pointer=pointer)
        if len(engine.files) != ranks:
            message = f"world_size is {ranks}, but there are {len(engine.files)} {what} files"
            yield ctx.finding(RULE, "breaks", message, path=file, pointer=pointer)
            continue
        held = {PurePosixPath(name).name for name in engine.files}
        lost = [name for rank in range(ranks) if (name := f"rank{rank}.{what}") not in held]
        if lost:
            # Servers with a loader of their own may use other names: those of the live version are known to serve.
            known = ctx.old is not None and any(
                {PurePosixPath(name).name for name in each.files} == held for each in ctx.old.engines.values()
            )
            message = f"'{lost[0]}' is missing; there are {', '.join(sorted(held)[:4])}"
            yield ctx.finding(RULE, "hot" if known else "breaks", message, path=file, pointer=pointer)


def _by_rank(engine: Engine) -> bool:
    """Whether a checkpoint lies as convert_checkpoint.py writes it; others may be described by their own index."""
    return not engine.files or any(PurePosixPath(name).name.startswith("rank") for name in engine.files)
