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
    what="temperature, top_p, top_k, penalties and beams of generation_config.json, with the library's defaults filled "
    "in.",
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


def check(ctx: Context) -> Iterator[Finding]:
    """One finding for all keys that differ."""
    if ctx.old is None:
        return
    old, new = ctx.old.generation_config or {}, ctx.new.generation_config or {}
    changed: list[str] = []
    for key, default in DEFAULTS.items():
        before, after = old.get(key, default), new.get(key, default)
        before, after = (default if value is None else value for value in (before, after))
        if before != after:
            changed.append(f"{key} {before} → {after}")
    if changed:
        yield ctx.finding(
            RULE, "restart", f"sampling defaults changed: {', '.join(changed)}", path="generation_config.json"
        )
