"""CFG-QUANT: another quantisation than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....models.hf_config import text_config
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule

RULE = Rule(
    id="CFG-QUANT",
    name="quantization-changed",
    family="CFG",
    severity=Severity.WARNING,
    summary="the weights are quantised in another way",
    what="quantization_config and compression_config of config.json.",
    why="kernels and buffers are chosen when the server starts; weights in another format do not fit into them",
    hint="start new replicas for the new version and move traffic to them",
    bad='{"quantization_config": {"quant_method": "awq", "bits": 4}}   (was gptq)',
    good='{"quantization_config": {"quant_method": "gptq", "bits": 4}}',
    example="json",
    reads=("config",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare the whole object; name the first key that differs."""
    if ctx.old is None or ctx.old.config is None or ctx.new.config is None:
        return
    old, new = _quantisation(ctx.old.config), _quantisation(ctx.new.config)
    if old == new:
        return
    key = next((key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)), "")
    yield ctx.finding(
        RULE,
        "restart",
        f"quantisation differs in {key}" if old and new else "quantised now" if new else "no longer quantised",
        path="config.json",
        pointer=f"/quantization_config/{key}" if new else "",
        old=old.get(key) if old and new else (old.get("quant_method", "quantised") if old else None),
        new=new.get(key) if old and new else (new.get("quant_method", "quantised") if new else None),
    )


def _quantisation(config: dict[str, Any]) -> dict[str, Any]:
    flat = text_config(config)
    for key in ("quantization_config", "compression_config"):
        if isinstance(flat.get(key), dict):
            return flat[key]
    return {}
