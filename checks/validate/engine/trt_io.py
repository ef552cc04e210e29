"""TRT-IO: inputs, outputs or numbers inside the engine are laid out otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .matching import pairs
from .trt_profile import LIMITS
from .trt_refit import KEYS as REFIT

RULE = Rule(
    id="TRT-IO",
    name="engine-io-changed",
    family="TRT",
    severity=Severity.WARNING,
    summary="types or sizes that the engine's inputs and outputs follow from changed",
    what="Architecture, types, sizes and quantisation of pretrained_config, and all else in build_config "
    "that no other rule judges.",
    why="the batch manager binds buffers by these numbers; a mismatch fails or reads garbage",
    hint="restart the server with the new engine and its configuration",
)

# Where the builder keeps its measurements: nothing of it is in the engine.
_NOTES = frozenset({"input_timing_cache", "output_timing_cache", "profiling_verbosity"})
# Judged by TRT-PROFILE, TRT-PLUGIN, TRT-REFIT, TRT-TP and TRT-SM.
_JUDGED = frozenset(
    {*LIMITS, *REFIT, "plugin_config", "mapping", "world_size", "auto_parallel_config", "sm", "producer"}
)


def check(ctx: Context) -> Iterator[Finding]:
    """Every value that differs; fewer outputs break clients that read them."""
    for pair in pairs(ctx):
        for table in ("model", "build"):
            old, new = getattr(pair.old, table), getattr(pair.new, table)
            for key in sorted((old.keys() | new.keys()) - _JUDGED - _NOTES):
                if old.get(key) == new.get(key):
                    continue
                lost = key.startswith("gather_") and bool(old.get(key)) and not new.get(key)
                section = "build_config" if table == "build" else "pretrained_config"
                yield ctx.finding(
                    RULE,
                    "breaks" if lost else "restart",
                    f"{key} changed",
                    old=old.get(key),
                    new=new.get(key),
                    path=pair.new.file,
                    pointer=f"/{section}/{key}",
                )
