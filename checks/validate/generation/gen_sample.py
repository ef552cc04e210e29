"""GEN-SAMPLE: other sampling defaults than before."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..config.shown import change
from ..rulebase import Context, Finding, Rule
from .settings import DEFAULTS, settings

RULE = Rule(
    id="GEN-SAMPLE",
    name="sampling-defaults-changed",
    family="GEN",
    severity=Severity.WARNING,
    summary="answers are sampled with other defaults",
    what="temperature, top_p, top_k, penalties, beams and every key of generation_config.json that no rule judges, "
    "with the library's defaults filled in. Without that file the keys of config.json count, as in the library.",
    why="clients that send no sampling parameters get answers of another kind; servers read defaults at start",
    hint="say so in the release notes, or pin the parameters in the server's configuration",
    bad='{"temperature": 1.0}   (was 0.6)',
    good='{"temperature": 0.6}',
    example="json",
    exemptions=("a default that is only written out",),
    reads=("generation-config", "config"),
)

_ELSEWHERE = frozenset(("eos_token_id", "bos_token_id", "pad_token_id", "max_length", "max_new_tokens"))
# Notes, and how fast answers are made: how far an assistant model runs ahead changes none of them.
_NOTES = frozenset(
    (
        *("_from_model_config", "transformers_version", "_commit_hash", "cache_implementation", "use_cache"),
        *("num_assistant_tokens", "num_assistant_tokens_schedule", "assistant_confidence_threshold", "is_assistant"),
        *("assistant_lookbehind", "target_lookbehind", "disable_compile", "return_legacy_cache"),
    )
)


def check(ctx: Context) -> Iterator[Finding]:
    """One finding for all keys that differ."""
    if ctx.old is None:
        return
    old, new = settings(ctx.old), settings(ctx.new)
    changed: list[str] = []
    others = sorted((old.keys() | new.keys()) - DEFAULTS.keys() - _ELSEWHERE - _NOTES)
    for key, default in {**DEFAULTS, **dict.fromkeys(others)}.items():
        before, after = old.get(key, default), new.get(key, default)
        before, after = (default if value is None else value for value in (before, after))
        if before != after and not (before in (None, {}) and after in (None, {})):
            changed.append(f"{key} {change(before, after)}")
    if changed:
        yield ctx.finding(
            RULE,
            "restart",
            f"sampling defaults changed: {', '.join(changed)}",
            path="generation_config.json" if ctx.new.generation_config is not None else "config.json",
        )
