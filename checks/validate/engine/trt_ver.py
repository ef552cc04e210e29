"""TRT-VER: the engine was built by another TensorRT-LLM version."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .matching import pairs

RULE = Rule(
    id="TRT-VER",
    name="engine-version-changed",
    family="TRT",
    severity=Severity.WARNING,
    summary="the engine was built by another version than the server runs",
    what="version in the engine's config.json against the old engine's and contract.runtimes.tensorrt_llm; 0.15 there "
    "stands for every 0.15.x.",
    why="a serialised engine loads only in the version that wrote it: 'Current Version: 228, Serialized Engine "
    "Version: 237'",
    hint="build the engine with the version that serves, or roll the servers to the new version with it",
    references=("https://github.com/triton-inference-server/tensorrtllm_backend/issues/531",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """The declared version decides; without one the old engine's does."""
    declared = ctx.contract.runtimes.get("tensorrt_llm", "")
    before = {pair.new.file: pair.old.version for pair in pairs(ctx)}
    for file, engine in ctx.new.engines.items():
        expected = declared or before.get(file, "")
        if not engine.build or (not expected and not engine.version) or (file not in before and not declared):
            continue
        if not (_fits(engine.version, declared) if declared else engine.version == expected):
            label = "declared" if declared else "live"
            message = f"built with TensorRT-LLM {engine.version or 'unknown'}, {label} is {expected or 'unknown'}"
            yield ctx.finding(RULE, "restart", message, path=file, pointer="/version")


def _fits(version: str, declared: str) -> bool:
    """Whether a version is the declared one as far as that goes."""
    wanted = declared.strip().removeprefix("v").split(".")
    return version.removeprefix("v").split(".")[: len(wanted)] == wanted
