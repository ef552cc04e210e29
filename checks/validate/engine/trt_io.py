"""TRT-IO: inputs, outputs or numbers inside the engine are laid out otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from ..weights.layers import stacks
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
    "that no other rule judges; num_hidden_layers of a checkpoint against the layers that it holds.",
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
    """Every value that differs; fewer outputs or positions break clients that rely on them."""
    before = set(_layers(ctx.old)) if ctx.old is not None else set[str]()
    for fault in _layers(ctx.new):
        pointer = "/num_hidden_layers"
        yield ctx.finding(RULE, "hot" if fault in before else "breaks", fault, path="config.json", pointer=pointer)
    for pair in pairs(ctx):
        for table in ("model", "build"):
            old, new = getattr(pair.old, table), getattr(pair.new, table)
            for key in sorted((old.keys() | new.keys()) - _JUDGED - _NOTES):
                if old.get(key) == new.get(key):
                    continue
                lost = key.startswith("gather_") and bool(old.get(key)) and not new.get(key)
                if key == "max_position_embeddings" and not pair.new.built:  # an engine has limits of its own
                    lost = isinstance(old.get(key), int) and isinstance(new.get(key), int) and new[key] < old[key]
                section = "/build_config" if table == "build" else "/pretrained_config" if pair.new.built else ""
                yield ctx.finding(
                    RULE,
                    "breaks" if lost else "restart",
                    f"{key} changed",
                    old=old.get(key),
                    new=new.get(key),
                    path=pair.new.file,
                    pointer=f"{section}/{key}",
                )


def _layers(side: Side) -> Iterator[str]:
    """What a checkpoint lacks. The stages of a pipeline count their layers each from zero, and are left out."""
    engine = side.engines.get("config.json")
    if engine is None or engine.built or engine.mapping.get("pp_size", 1) != 1:
        return
    promised = engine.model.get("num_hidden_layers")
    for name, table in side.weight_sets.items():
        stack = stacks(table.tensors).get("transformer.layers")
        found = stack.layers if stack is not None else {}
        if not re.fullmatch(r"rank\d+", name) or not found or not isinstance(promised, int):
            continue
        if not len(found) == promised == max(found) + 1:
            yield f"num_hidden_layers is {promised}, but '{table.files[0]}' holds {len(found)} layers"
