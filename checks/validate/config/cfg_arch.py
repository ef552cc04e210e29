"""CFG-ARCH: another architecture than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....models.strict_json import items_of
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule

RULE = Rule(
    id="CFG-ARCH",
    name="architecture-changed",
    family="CFG",
    severity=Severity.WARNING,
    summary="the model class is another one",
    what="`architectures` and `model_type` of config.json.",
    why="a running server built its graph for the old class and cannot put these weights into it",
    hint="start new replicas for the new version and move traffic to them",
    bad='{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"}   (was LlamaForCausalLM)',
    good='{"architectures": ["LlamaForCausalLM"], "model_type": "llama"}',
    example="json",
    reads=("config",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare both fields; the order of `architectures` matters, the first one is loaded."""
    if ctx.old is None or ctx.old.config is None or ctx.new.config is None:
        return
    for key in ("architectures", "model_type"):
        old, new = ctx.old.config.get(key), ctx.new.config.get(key)
        if old != new:
            yield ctx.finding(
                RULE,
                "restart",
                f"{key} differs" if old is not None and new is not None else f"{key} is only in one of the two",
                path="config.json",
                pointer=f"/{key}",
                old=_shown(old),
                new=_shown(new),
            )
            return


def _shown(value: Any) -> object:
    return None if value is None else ", ".join(map(str, items_of(value)))
