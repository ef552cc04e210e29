"""GEN-LEN: answers are cut at another length than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....report.finding import Severity
from ..config.cfg_ctx import effective
from ..rulebase import Context, Finding, Rule
from ..side import Side

FALLBACK = 20

RULE = Rule(
    id="GEN-LEN",
    name="default-length-changed",
    family="GEN",
    severity=Severity.ERROR,
    summary="answers without a length of their own are cut earlier",
    what="max_length and max_new_tokens of generation_config.json, and what the library takes where an "
    "encoder-decoder writes neither.",
    why="clients that send no limit get shorter answers, cut in the middle",
    hint="keep the limit, or ask clients to send max_tokens",
    bad='{"max_new_tokens": 256}   (was 2048)',
    good='{"max_new_tokens": 2048}',
    example="json",
    reads=("generation-config",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare each limit. None is endless, but no answer was ever longer than the old context."""
    if ctx.old is None:
        return
    context = effective(ctx.old)
    longest = float("inf") if context is None else context[0]
    old, new = ctx.old.generation_config or {}, ctx.new.generation_config or {}
    if _limit(old.get("max_length")) > FALLBACK and _falls_back(ctx.new) and not _falls_back(ctx.old):
        yield ctx.finding(
            RULE,
            "unproven",
            f"max_length is no longer written; transformers before 5.0 ends answers at {FALLBACK} tokens then",
            path="generation_config.json",
            pointer="/max_length",
            old=old.get("max_length"),
            new=None,
        )
        return
    for key in ("max_new_tokens", "max_length"):
        before, after = _limit(old.get(key)), _limit(new.get(key))
        if before == after:
            continue
        shrinks = after < min(before, longest)
        yield ctx.finding(
            RULE,
            "breaks" if shrinks else "hot",
            f"{key} {'shrinks' if shrinks else 'grows' if after > before else 'is still beyond the old context'}",
            path="generation_config.json",
            pointer=f"/{key}",
            old=old.get(key),
            new=new.get(key),
        )


def _falls_back(side: Side) -> bool:
    """Whether an encoder-decoder is left to the library's limit: config.json's own does not count beside the file.

    Servers of decoders limit answers by the context instead.
    """
    said = side.generation_config
    if said is None or (side.config or {}).get("is_encoder_decoder") is not True:
        return False
    return all(said.get(key) is None for key in ("max_length", "max_new_tokens"))


def _limit(value: Any) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else float("inf")
