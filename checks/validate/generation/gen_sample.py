"""GEN-SAMPLE: other sampling defaults than before."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule

RULE = Rule(
    id="GEN-SAMPLE",
    name="sampling-defaults-changed",
    family="GEN",
    severity=Severity.WARNING,
    summary="answers are sampled with other defaults",
    what="temperature, top_p, top_k, penalties, beams and every key of generation_config.json that no rule judges, "
    "with the library's defaults filled in.",
    why="clients that send no sampling parameters get answers of another kind; servers read defaults at start",
    hint="say so in the release notes, or pin the parameters in the server's configuration",
    bad='{"temperature": 1.0}   (was 0.6)',
    good='{"temperature": 0.6}',
    example="json",
    exemptions=("a default that is only written out",),
    reads=("generation-config",),
)

DEFAULTS: dict[str, object] = {
    "do_sample": False,
    "temperature": 1.0,
    "top_p": 1.0,
    "top_k": 50,
    "min_p": None,
    "typical_p": 1.0,
    "repetition_penalty": 1.0,
    "no_repeat_ngram_size": 0,
    "num_beams": 1,
    "length_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
_ELSEWHERE = frozenset(("eos_token_id", "bos_token_id", "pad_token_id", "max_length", "max_new_tokens"))
_NOTES = frozenset(("_from_model_config", "transformers_version", "_commit_hash", "cache_implementation", "use_cache"))


def check(ctx: Context) -> Iterator[Finding]:
    """One finding for all keys that differ."""
    if ctx.old is None:
        return
    old, new = ctx.old.generation_config or {}, ctx.new.generation_config or {}
    changed: list[str] = []
    others = sorted((old.keys() | new.keys()) - DEFAULTS.keys() - _ELSEWHERE - _NOTES)
    for key, default in {**DEFAULTS, **dict.fromkeys(others)}.items():
        before, after = old.get(key, default), new.get(key, default)
        before, after = (default if value is None else value for value in (before, after))
        if before != after:
            changed.append(f"{key} {before} → {after}")
    if changed:
        yield ctx.finding(
            RULE, "restart", f"sampling defaults changed: {', '.join(changed)}", path="generation_config.json"
        )
