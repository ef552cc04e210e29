"""TOK-SIDE: padding and truncation behave otherwise than before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ....report.finding import Severity
from ..config.cfg_ctx import effective
from ..files.pooled import length
from ..rulebase import Context, Finding, Level, Rule
from ..side import Side
from .changes import quoted
from .judge import encode_level, file_of
from .padded import unwritten

RULE = Rule(
    id="TOK-SIDE",
    name="padding-or-truncation-changed",
    family="TOK",
    severity=Severity.ERROR,
    summary="padding or truncation comes, goes, is on another side, or cuts earlier",
    what="padding_side, truncation_side and model_max_length of tokenizer_config.json; padding and truncation that "
    "tokenizer.json itself carries.",
    why="clients that batch get their padding on the other side, or lose the end of long texts that used to pass",
    hint="keep the sides and the limit, or ship clients that set their own first",
    bad='{"padding_side": "right"}   (was "left")',
    good='{"padding_side": "left"}',
    example="json",
    exemptions=(
        "a default that is only written out: padding on the left for Llama's, Gemma's, Cohere's and XLNet's classes",
        "a limit that grows, as long as it keeps texts within the positions of an encoder that fails beyond them",
        "a limit that the context of the model lies below",
        "what sentence-transformers writes into tokenizer.json of a model that it pads and cuts for each call anyway",
    ),
    reads=("tokenizer-config", "tokenizer"),
)

_BY_LIBRARY = (
    "programs on the tokenizers library pad as the file says, and get batches of other lengths; transformers, and "
    "servers built on it, set padding for each call"
)
# Encoders that learn a vector for each position: behind the last one there is none.
_TABLES = frozenset(
    ("bert", "roberta", "xlm-roberta", "xlm-roberta-xl", "distilbert", "camembert", "mpnet", "electra", "albert")
) | {"ernie", "layoutlm", "layoutlmv2", "layoutlmv3", "longformer", "big_bird", "mobilebert", "squeezebert", "luke"}
_FILE = "tokenizer_config.json"
_RELEASES = (
    "where nothing is written, some releases of transformers pad such a tokenizer on the left and others on the right: "
    "contract.runtimes.transformers tells which serves"
)


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
        if part == "padding":
            # On or off, tokens and attention masks stay; what else changed meets every program that batches.
            level = encode_level(ctx) if before is None or after is None else "breaks"
            level = "hot" if level != "breaks" and None not in _cut(ctx) else level
            message, why = _padding(before, after), _BY_LIBRARY
        else:
            level = "hot" if _longer(before, after) or _beyond(ctx, before, after) else "breaks"
            message, why = _truncation(before, after), ""
        both = before is not None and after is not None
        yield ctx.finding(
            RULE,
            level,
            f"tokenizer.json {message}",
            path=file_of(new),
            pointer=f"/{part}",
            old=_brief(before) if both else None,
            new=_brief(after) if both else None,
            why=why,
        )


def _padding(old: Any, new: Any) -> str:
    """What changed about padding, in words."""
    if new is None:
        return "pads no more: the texts of a batch keep their own lengths"
    match new["strategy"]:
        case {"Fixed": int(length)}:
            whom = f"texts to {length} tokens"
        case _:
            whom = "the texts of a batch to one length"
    side = str(new["direction"]).lower()
    if old is None:
        token = f"{quoted(str(new['pad_token']))}, id {new['pad_id']}"
        return f"pads {whom} now, on the {side} with {token}; it did not pad"
    if old["direction"] != new["direction"]:
        return f"pads on the {side}, the other side"
    if (old["pad_id"], old["pad_token"]) != (new["pad_id"], new["pad_token"]):
        return "pads with another token"
    if old["pad_type_id"] != new["pad_type_id"]:
        return "gives padding another type id"
    return "pads to other lengths"


def _truncation(old: Any, new: Any) -> str:
    """What changed about truncation, in words."""
    if new is None:
        return "cuts texts no more"
    if old is None:
        return f"cuts texts at {new['max_length']} tokens now; it did not cut"
    if old["max_length"] != new["max_length"]:
        return "cuts later" if old["max_length"] < new["max_length"] else "cuts earlier"
    if old["direction"] != new["direction"]:
        return "cuts the other end"
    return "cuts in another way"


def _brief(part: Any) -> dict[str, Any]:
    """The settings that say something."""
    return {key: value for key, value in part.items() if value is not None}


def _longer(old: Any, new: Any) -> bool:
    """Whether truncation only got more room: everything that passed whole still does."""
    match old, new:
        case _, None:
            return True
        case {"max_length": int() as before, **rest}, {"max_length": int() as after, **more}:
            return after >= before and rest == more
        case _:
            return False


def _cut(ctx: Context) -> tuple[int | None, int | None]:
    """Where sentence-transformers cuts texts of both models; it pads and cuts by itself, for each call."""
    return (length(ctx.old) if ctx.old is not None else None), length(ctx.new)


def _beyond(ctx: Context, old: Any, new: Any) -> bool:
    """Whether truncation is new and cuts nothing that was not cut already, where texts are embedded."""
    before, after = _cut(ctx)
    if old is not None or before is None or before != after:
        return False
    match new:
        case {"max_length": int() as most, "direction": "Right", "strategy": "LongestFirst"}:
            return most >= before and (ctx.new.tokenizer_config or {}).get("truncation_side") in (None, "right")
        case _:
            return False


def _configured(ctx: Context, old_side: Side) -> Iterator[Finding]:
    old, new = old_side.tokenizer_config, ctx.new.tokenizer_config
    if old is None or new is None:
        return
    for key in ("padding_side", "truncation_side"):
        before, after = old.get(key), new.get(key)
        if (before is None) == (after is None):
            if before != after:
                message = f"{key} differs"
                yield ctx.finding(RULE, "breaks", message, path=_FILE, pointer=f"/{key}", old=before, new=after)
            continue
        side = old_side if before is None else ctx.new
        means = unwritten(ctx, side) if key == "padding_side" else "right"
        if (before or after) == means:
            continue
        # Where nothing is written after, a family of its own may still pad as before.
        own = means is None or (means == "right" and after is None)
        level: Level = "unproven" if own else "breaks"
        why = _RELEASES if means is None else ""
        message = f"{key} is only in one of the two"
        yield ctx.finding(RULE, level, message, path=_FILE, pointer=f"/{key}", old=before, new=after, why=why)
    yield from _limits(ctx, old_side, (old.get("model_max_length"), new.get("model_max_length")))


def _limits(ctx: Context, old_side: Side, said: tuple[Any, Any]) -> Iterator[Finding]:
    """A limit that cuts earlier, or that no longer cuts where the model ends."""
    before, after = map(_limit, said)
    most, ends = effective(old_side), effective(ctx.new)
    # Beyond what the model takes, a limit never cut anything.
    if after < before and (most is None or after < most[0]):
        level, message, why = "breaks", "model_max_length shrinks", ""
    elif ends is not None and before <= ends[0] < after and _fails_beyond(ctx.new):
        level, why = "unproven", "a text that was cut to fit reaches the model whole, which fails on it"
        message = f"model_max_length no longer keeps texts within the {ends[0]} positions of the model"
    else:
        return
    yield ctx.finding(
        RULE,
        level,
        message,
        path=_FILE,
        pointer="/model_max_length",
        old=said[0],
        new=said[1],
        why=why,
    )


def _fails_beyond(side: Side) -> bool:
    """Whether the model has a table of positions, and nothing else is known to cut its texts."""
    if any(re.fullmatch(r"sentence_\w+_config\.json", name) for name in side.tree.files):
        return False
    return str((side.config or {}).get("model_type")) in _TABLES


def _limit(value: Any) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else float("inf")
