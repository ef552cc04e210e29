"""TRT-REFIT: whether new weights can go into a running engine."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.engine import Engine
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .matching import pairs

RULE = Rule(
    id="TRT-REFIT",
    name="engine-refit-changed",
    family="TRT",
    severity=Severity.WARNING,
    summary="the engine can no longer be refitted, or its weights are stripped",
    what="refit and strip_plan settings of build_config.",
    why="weights can be replaced in a running engine only if it was built for it; a stripped one has none until then",
    hint="build with refit if weights are updated in place; otherwise swap whole engines",
)

KEYS = ("use_refit", "refit", "use_strip_plan", "strip_plan", "weight_sparsity", "weight_streaming")


def check(ctx: Context) -> Iterator[Finding]:
    """Settings that differ, and stripped engines that cannot be filled."""
    for pair in pairs(ctx):
        for key in KEYS:
            old, new = pair.old.build.get(key), pair.new.build.get(key)
            if old != new:
                path, pointer = pair.new.file, f"/build_config/{key}"
                yield ctx.finding(RULE, "restart", f"{key} changed", old=old, new=new, path=path, pointer=pointer)
    for file, engine in ctx.new.engines.items():
        if _on(engine, "strip_plan") and not _on(engine, "refit"):
            yield ctx.finding(RULE, "breaks", "the engine is stripped of weights but not refittable", path=file)


def _on(engine: Engine, key: str) -> bool:
    return bool(engine.build.get(key) or engine.build.get(f"use_{key}"))
