"""TRT-OPAQUE: an engine changed, and its bytes do not say how."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from ....models.engine import Engine
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule, Step
from ..serving.sta_kv import cacheless
from .matching import Pair, pairs

RULE = Rule(
    id="TRT-OPAQUE",
    name="engine-unknown",
    family="TRT",
    severity=Severity.WARNING,
    summary="an engine changed; without a configuration beside it, nothing says what it is",
    what="Engine and plan files that differ. With a TensorRT-LLM config.json in the folder, that says what the engine "
    "is, and its bytes are new weights; a file of less than half the size of what it stands beside or replaces is "
    "not believed.",
    why="an engine loads only in the version and on the GPU it was built for, and its inputs are not readable here",
    hint="keep the config.json that trtllm-build writes beside the engine",
)

_CUT = "was the build or the copy complete?"


def check(ctx: Context) -> Iterator[Finding]:
    """Engines without a configuration, and what the new bytes of the others ask for."""
    for engine in ctx.new.engines.values():
        yield from _siblings(ctx, engine)
    if ctx.old is None:
        return
    for pair in pairs(ctx):
        yield from _replaced(ctx, pair)
    described = {PurePosixPath(name).parent for name in ctx.new.engines}
    olds = {file.name: file for file in ctx.old.tree.of("engine")}
    for file in ctx.new.tree.of("engine"):
        before = file.name if file.name in olds else next(iter(olds), "") if len(olds) == 1 else ""
        if PurePosixPath(file.name).parent not in described and ctx.same(before, file.name) != "same":
            yield ctx.finding(RULE, "unproven", f"engine '{file.name}' changed", path=file.name)


def _siblings(ctx: Context, engine: Engine) -> Iterator[Finding]:
    """Ranks that share every layer have nearly the same size; the stages of a pipeline need not."""
    sizes = {ctx.new.tree.files[name].size: name for name in engine.engines}
    if len(sizes) > 1 and engine.mapping.get("pp_size", 1) == 1 and min(sizes) * 2 < max(sizes):
        small, large = sizes[min(sizes)], sizes[max(sizes)]
        message = f"engine '{small}' has {min(sizes):,} bytes, '{large}' beside it {max(sizes):,}"
        yield ctx.finding(RULE, "unproven", message, path=small, hint=_CUT)


def _replaced(ctx: Context, pair: Pair) -> Iterator[Finding]:
    assert ctx.old is not None  # noqa: S101
    before = {PurePosixPath(name).name: name for name in pair.old.engines}
    changed: list[str] = []
    for name in pair.new.engines:
        old = before.get(PurePosixPath(name).name, "")
        if ctx.same(old, name) == "same":
            continue
        changed.append(name)
        size, was = ctx.new.tree.files[name].size, ctx.old.tree.files[old].size if old else 0
        if size * 2 < was and pair.old.model == pair.new.model:
            message = f"engine '{name}' has {size:,} bytes, the live one of the same configuration {was:,}"
            yield ctx.finding(RULE, "unproven", message, path=name, hint=_CUT)
    if changed:
        architecture = pair.new.model.get("architecture")
        steps: list[Step] = [] if cacheless({"architectures": [architecture]}) else ["flush-kv"]
        message = f"{len(changed)} of {len(pair.new.engines)} engines have new contents"
        why = "everything derived from the old weights goes stale at the swap"
        if _adapters(pair.new):
            steps.append("revalidate-adapters")
        yield ctx.finding(RULE, "hot", message, path=changed[0], why=why, hint="see the swap plan", plan=tuple(steps))


def _adapters(engine: Engine) -> bool:
    match engine.build:
        case {"lora_config": {"lora_target_modules": [_, *_]}} | {"plugin_config": {"lora_plugin": str()}}:
            return True
        case _:
            return False
