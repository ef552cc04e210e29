"""TRT-SM: the engine was built for another GPU."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.engine import Engine
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .matching import pairs

RULE = Rule(
    id="TRT-SM",
    name="engine-gpu-changed",
    family="TRT",
    severity=Severity.WARNING,
    summary="the engine was built for another GPU",
    what="cluster_key of build_config.auto_parallel_config, and compute capability where the configuration has it.",
    why="an engine loads only on the compute capability it was built for",
    hint="build on the GPU that serves, or move the servers together with the engine",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Targets that differ; a file with none says nothing."""
    for pair in pairs(ctx):
        old, new = _gpu(pair.old), _gpu(pair.new)
        if old and new and old != new:
            yield ctx.finding(RULE, "restart", "built for another GPU", old=old, new=new, path=pair.new.file)


def _gpu(engine: Engine) -> str:
    auto = engine.build.get("auto_parallel_config")
    key = auto.get("cluster_key") if isinstance(auto, dict) else None  # pyright: ignore
    for value in (engine.build.get("compute_capability"), engine.build.get("sm"), key):  # pyright: ignore
        if value:
            return str(value)  # pyright: ignore
    return ""
