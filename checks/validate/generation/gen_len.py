"""GEN-LEN: answers are cut at another length than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....report.finding import Severity
from ..config.cfg_ctx import effective
from ..config.runtime import version
from ..rulebase import Context, Finding, Level, Rule
from ..side import Side
from .settings import generates, settings

FALLBACK = 20

RULE = Rule(
    id="GEN-LEN",
    name="default-length-changed",
    family="GEN",
    severity=Severity.ERROR,
    summary="answers without a length of their own are cut earlier",
    what="max_length and max_new_tokens of generation_config.json, and what the library takes where an "
    "encoder-decoder writes neither; without that file, those of config.json.",
    why="clients that send no limit get shorter answers, cut in the middle",
    hint="keep the limit, or ask clients to send max_tokens",
    bad='{"max_new_tokens": 256}   (was 2048)',
    good='{"max_new_tokens": 2048}',
    example="json",
    reads=("generation-config", "config"),
)


# Servers that take no limit from max_length.
_WITHOUT = ("vllm", "sglang", "tgi")


def check(ctx: Context) -> Iterator[Finding]:
    """Compare each limit. None is endless, but no answer was ever longer than the old context."""
    if ctx.old is None:
        return
    context = effective(ctx.old)
    longest = float("inf") if context is None else context[0]
    old, new = settings(ctx.old), settings(ctx.new)
    path = "generation_config.json" if ctx.new.generation_config is not None else "config.json"
    if _limit(old.get("max_length")) > FALLBACK and _falls_back(ctx.new) and not _falls_back(ctx.old):
        yield ctx.finding(
            RULE,
            "unproven",
            f"max_length is no longer written; transformers ends answers at {FALLBACK} tokens then",
            path=path,
            pointer="/max_length",
            old=old.get("max_length"),
            new=None,
        )
        return
    keys = ["max_new_tokens", "max_length"]
    if all(each.get("max_new_tokens") is not None for each in (old, new)):
        del keys[1]  # which counts for nothing then
    for key in keys:
        before, after = _limit(old.get(key)), _limit(new.get(key))
        if before == after:
            continue
        level: Level
        if key == "max_length" and old.get(key) is None and after == FALLBACK:
            level, words = _written(ctx), f"is written, as the {FALLBACK} tokens that transformers takes without it"
        else:
            if key == "max_length" and _falls_back(ctx.old):
                before = FALLBACK
            level, words = "hot", "grows" if after > before else "is still beyond the old context"
            if after < min(before, longest):
                level, words = "breaks", "shrinks"
        yield ctx.finding(
            RULE, level, f"{key} {words}", path=path, pointer=f"/{key}", old=old.get(key), new=new.get(key)
        )


def _written(ctx: Context) -> Level:
    """What it means to write out the library's limit: since its release 5 a written one counts the prompt as well."""
    runtimes = ctx.contract.runtimes
    release = version(runtimes.get("transformers", ""))
    if release is not None:
        return "hot" if release < (5,) else "breaks"
    # Releases 4 wrote whole dumps of their defaults into config.json, and of none that was one into the other file.
    dumped = ctx.new.generation_config is None
    return "hot" if dumped or any(name in runtimes for name in _WITHOUT) else "unproven"


def _falls_back(side: Side) -> bool:
    """Whether an encoder-decoder is left to the library's limit.

    Servers of decoders limit answers by the context instead.
    """
    config, said = side.config or {}, settings(side)
    if config.get("is_encoder_decoder") is not True or (side.generation_config is None and not generates(config)):
        return False
    return all(said.get(key) is None for key in ("max_length", "max_new_tokens"))


def _limit(value: Any) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else float("inf")
