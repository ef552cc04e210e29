"""LRA-SCALE: the adapter is applied with another strength."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.adapter import Adapter
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .subjects import subjects

RULE = Rule(
    id="LRA-SCALE",
    name="adapter-scale-changed",
    family="LRA",
    severity=Severity.INFO,
    summary="lora_alpha, r or rslora changed the factor that the adapter is applied with",
    what="alpha / r, or alpha / sqrt(r) with use_rslora, and the patterns that override them per module.",
    why="the same matrices then change the model more or less than before",
    hint="none if the adapter was trained with these values",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Scales of an adapter and its predecessor."""
    for subject in subjects(ctx):
        if subject.old is None:
            continue
        old, new = _scale(subject.old), _scale(subject.adapter)
        if old != new:
            path = subject.config_file
            yield ctx.finding(
                RULE, "hot", "the adapter's scale changed", old=old, new=new, path=path, side=subject.side
            )


def _scale(adapter: Adapter) -> str:
    config = adapter.config
    root = "sqrt(r)" if config.get("use_rslora") else "r"
    patterns = "".join(f" {key}={config[key]}" for key in ("rank_pattern", "alpha_pattern") if config.get(key))
    return f"alpha {config.get('lora_alpha')} / {root} {config.get('r')}{patterns}"
