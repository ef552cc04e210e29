"""TRT-OPAQUE: an engine changed and no configuration says what it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule

RULE = Rule(
    id="TRT-OPAQUE",
    name="engine-unknown",
    family="TRT",
    severity=Severity.WARNING,
    summary="an engine changed, and nothing beside it says for which version, GPU and limits it was built",
    what="Engine and plan files that differ and have no TensorRT-LLM config.json in their folder.",
    why="an engine loads only in the version and on the GPU it was built for, and its inputs are not readable here",
    hint="keep the config.json that trtllm-build writes beside the engine",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Engines without a configuration."""
    if ctx.old is None:
        return
    described = {PurePosixPath(name).parent for name in ctx.new.engines}
    olds = {file.name: file for file in ctx.old.tree.of("engine")}
    for file in ctx.new.tree.of("engine"):
        before = file.name if file.name in olds else next(iter(olds), "") if len(olds) == 1 else ""
        if PurePosixPath(file.name).parent not in described and ctx.same(before, file.name) != "same":
            yield ctx.finding(RULE, "unproven", f"engine '{file.name}' changed", path=file.name)
