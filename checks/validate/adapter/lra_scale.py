"""LRA-SCALE: the adapter is applied with another strength."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.adapter import Adapter
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule, Step
from ..weights.tables import names
from .keys import DEFAULTS, value
from .reach import pattern_values
from .subjects import Subject, subjects

RULE = Rule(
    id="LRA-SCALE",
    name="adapter-scale-changed",
    family="LRA",
    severity=Severity.INFO,
    summary="lora_alpha, r, rslora or a pattern changed the factor that the adapter is applied with",
    what="alpha / r, or alpha / sqrt(r) with use_rslora; and whether rank_pattern and alpha_pattern give modules "
    "factors of their own, which servers that read only lora_alpha and r do not apply.",
    why="the same matrices then change the model more or less than before, and caches filled until then are stale; "
    "vLLM gives every module the same factor",
    hint="none if the adapter was trained with these values and the server reads the patterns",
    exemptions=("patterns that give every module the factor it has anyway", "patterns that the live adapter has too"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Scales of an adapter and its predecessor; factors that differ by module."""
    for subject in subjects(ctx):
        uneven = _uneven(subject.adapter)
        if uneven and not (subject.old is not None and _uneven(subject.old)):
            message = f"{len(uneven)} modules have a factor of their own by pattern: {names(uneven)}"
            yield _finding(ctx, subject, message, unproven=True)
        if subject.before is not None:
            old, new = _scale(subject.before), _scale(subject.adapter)
            if old != new:
                yield _finding(ctx, subject, "the adapter's scale changed", old=old, new=new)


def _finding(
    ctx: Context, subject: Subject, message: str, *, unproven: bool = False, old: object = None, new: object = None
) -> Finding:
    level = "unproven" if unproven else "hot"
    pointer = "/alpha_pattern" if unproven and subject.adapter.config.get("alpha_pattern") else ""
    path = subject.config_file
    steps: tuple[Step, ...] = ("flush-kv",) if subject.old is not None else ()
    side = subject.side
    return ctx.finding(RULE, level, message, old=old, new=new, path=path, side=side, pointer=pointer, plan=steps)


def _uneven(adapter: Adapter) -> list[str]:
    """The modules whose factor is not, or may not be, that of lora_alpha and r."""
    config = adapter.config
    if adapter.kind != "LORA" or not (config.get("alpha_pattern") or config.get("rank_pattern")):
        return []
    alpha, rank = (config.get(key, DEFAULTS[key]) for key in ("lora_alpha", "r"))
    plain = _factor(adapter, alpha, rank)
    found: list[str] = []
    for module in adapter.modules:
        alphas = pattern_values(config.get("alpha_pattern"), module, alpha)
        ranks = pattern_values(config.get("rank_pattern"), module, rank)
        if any(_factor(adapter, a, r) != plain for a in alphas for r in ranks):
            found.append(module)
    return found


def _factor(adapter: Adapter, alpha: object, rank: object) -> float | None:
    if not isinstance(alpha, int | float) or not isinstance(rank, int | float) or rank <= 0:
        return None
    return alpha / (rank**0.5 if adapter.config.get("use_rslora") else rank)


def _scale(adapter: Adapter) -> str:
    config = adapter.config
    root = "sqrt(r)" if config.get("use_rslora") else "r"
    patterns = "".join(f" {key}={config[key]}" for key in ("rank_pattern", "alpha_pattern") if config.get(key))
    return f"alpha {value(config, 'lora_alpha')} / {root} {value(config, 'r')}{patterns}"
