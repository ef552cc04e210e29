"""CFG-QUANT: another quantisation than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .quantisation import beside, declared, flat, method, quantisation

RULE = Rule(
    id="CFG-QUANT",
    name="quantization-changed",
    family="CFG",
    severity=Severity.WARNING,
    summary="the weights are quantised in another way",
    what="quantization_config and compression_config of config.json; where it has none, hf_quant_config.json "
    "(ModelOpt), quantize_config.json (AutoGPTQ) and quant_config.json (AutoAWQ).",
    why="kernels and buffers are chosen when the server starts; weights in another format do not fit into them",
    hint="start new replicas for the new version and move traffic to them",
    bad='{"quantization_config": {"quant_method": "awq", "bits": 4}}   (was gptq)',
    good='{"quantization_config": {"quant_method": "gptq", "bits": 4}}',
    example="json",
    exemptions=("the same settings moved from one file to another", "what the tool that quantised writes about itself"),
    reads=("config",),
)

# What tools write about themselves and how they found the scales: loaders do not read it.
_NOTES = frozenset(
    (
        *("producer", "meta", "quantizer", "dataset", "damp_percent", "damp_auto_increment", "model_name_or_path"),
        *("model_file_base_name", "tokenizer", "batch_size", "cache_block_outputs", "true_sequential", "static_groups"),
        *("_load_in_4bit", "_load_in_8bit"),
    )
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare the settings in force; then a file beside that says otherwise than config.json."""
    if ctx.old is None or ctx.old.config is None or ctx.new.config is None:
        return
    old, new = _plain(quantisation(ctx.old)), _plain(quantisation(ctx.new))
    differs = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    if differs and _moved(ctx) and method(old) == method(new):
        differs = [key for key in differs if key in old and key in new]  # each file has a form of its own
    said = beside(ctx.new)
    if differs:
        in_config = bool(declared(ctx.new.config)) or not new
        key, both = differs[0], bool(old) and bool(new)
        yield ctx.finding(
            RULE,
            "restart",
            f"quantisation differs in {key}" if both else "quantised now" if new else "no longer quantised",
            path="config.json" if in_config else said[0],
            pointer=f"/quantization_config/{key}" if in_config and new else f"/{key}" if new else "",
            old=old.get(key) if both else (method(old) or "quantised" if old else None),
            new=new.get(key) if both else (method(new) or "quantised" if new else None),
        )
    elif said[0] and declared(ctx.new.config) and beside(ctx.old) != said and method(said[1]) != method(new):
        # TensorRT-LLM reads the file first, vLLM only where config.json says nothing.
        message = f"'{said[0]}' says another quantisation than config.json, and some servers read it first"
        was, is_ = method(new) or "none", method(said[1]) or "unknown"
        yield ctx.finding(RULE, "restart", message, path=said[0], old=was, new=is_)


def _moved(ctx: Context) -> bool:
    """Whether the settings in force lie in another file than before."""
    assert ctx.old is not None  # noqa: S101
    return bool(declared(ctx.old.config or {})) != bool(declared(ctx.new.config or {}))


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in flat(settings).items() if key not in _NOTES}
