"""TOK-SIDE: padding and truncation behave otherwise than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....report.finding import Severity
from ..config.cfg_ctx import effective
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .judge import file_of

RULE = Rule(
    id="TOK-SIDE",
    name="padding-or-truncation-changed",
    family="TOK",
    severity=Severity.ERROR,
    summary="padding or truncation is on another side, or cuts earlier",
    what="padding_side, truncation_side and model_max_length of tokenizer_config.json; padding and truncation that "
    "tokenizer.json itself carries.",
    why="clients that batch get their padding on the other side, or lose the end of long texts that used to pass",
    hint="keep the sides and the limit, or ship clients that set their own first",
    bad='{"padding_side": "right"}   (was "left")',
    good='{"padding_side": "left"}',
    example="json",
    exemptions=(
        "a default that is only written out",
        "a limit that grows, or that the context of the model lies below",
    ),
    reads=("tokenizer-config", "tokenizer"),
)

_SIDES = {"padding_side": "right", "truncation_side": "right"}


def check(ctx: Context) -> Iterator[Finding]:
    """The configuration's sides and limit, then what tokenizer.json does by itself."""
    if ctx.old is None:
        return
    yield from _configured(ctx, ctx.old)
    old, new = ctx.old.tokenizer, ctx.new.tokenizer
    if old is None or new is None:
        return
    for part in ("padding", "truncation"):
        before, after = getattr(old, part), getattr(new, part)
        if before == after:
            continue
        longer = part == "truncation" and _longer(before, after)
        yield ctx.finding(
            RULE,
            "hot" if longer else "breaks",
            f"tokenizer.json {'cuts later' if longer else f'has another {part}'}",
            path=file_of(new),
            pointer=f"/{part}",
            old=before,
            new=after,
        )


def _longer(old: Any, new: Any) -> bool:
    """Whether truncation only got more room: everything that passed whole still does."""
    match old, new:
        case _, None:
            return True
        case {"max_length": int() as before, **rest}, {"max_length": int() as after, **more}:
            return after >= before and rest == more
        case _:
            return False


def _configured(ctx: Context, old_side: Side) -> Iterator[Finding]:
    old, new = old_side.tokenizer_config, ctx.new.tokenizer_config
    if old is None or new is None:
        return
    for key, default in _SIDES.items():
        before, after = old.get(key) or default, new.get(key) or default
        # The library's default is right; a family may have another one, so a missing key tells nothing.
        if before != after and (key in old) == (key in new):
            yield ctx.finding(
                RULE, "breaks", f"{key} differs", path="tokenizer_config.json", pointer=f"/{key}", old=before, new=after
            )
        elif before != after:
            yield ctx.finding(
                RULE,
                "breaks" if key in new else "unproven",
                f"{key} is only in one of the two",
                path="tokenizer_config.json",
                pointer=f"/{key}",
                old=old.get(key),
                new=new.get(key),
            )
    before, after = _limit(old.get("model_max_length")), _limit(new.get("model_max_length"))
    most = effective(old_side)
    # Beyond what the model takes, a limit never cut anything.
    if after < before and (most is None or after < most[0]):
        yield ctx.finding(
            RULE,
            "breaks",
            "model_max_length shrinks",
            path="tokenizer_config.json",
            pointer="/model_max_length",
            old=old.get("model_max_length"),
            new=new.get("model_max_length"),
        )


def _limit(value: Any) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else float("inf")
