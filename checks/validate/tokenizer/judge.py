"""From an outcome to a finding: the witness replayed, the level by what clients rely on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ....models.tokenizer import Tokenizer
from ..rulebase import Context, Finding, Level, Rule
from . import replay
from .changes import quoted
from .proofs.outcome import Outcome
from .texts import in_context


def encode_level(ctx: Context) -> Level:
    """`breaks` where clients exchange ids, because they tokenize themselves; the server alone just restarts."""
    return "breaks" if ctx.contract.level in ("ids", "strict") else "restart"


def file_of(tokenizer: Tokenizer) -> str:
    """The tokenizer's file name, for locations."""
    return tokenizer.path.rsplit("/", 1)[-1]


def encodes(
    ctx: Context, rule: Rule, pair: tuple[Tokenizer, Tokenizer], outcome: Outcome, subject: str, *, pointer: str = ""
) -> Iterator[Finding]:
    """A finding for what `outcome` says about encoding: hot with its proof, restart or breaks with a witness.

    Candidates that the real library does not confirm are not reported: then nothing is proven.
    """
    old, new = pair
    if outcome.proven:
        yield ctx.finding(
            rule,
            "hot",
            f"{subject}, and old text keeps its ids",
            path=file_of(new),
            pointer=pointer,
            proof=f"proven {outcome.kind}: {outcome.proof}",
            plan=("reload-tokenizer",),
        )
        return
    found: dict[str, Any] | None = None
    reason = outcome.reason
    if outcome.kind == "witness":
        texts: Iterable[str] = outcome.candidates if outcome.texts else in_context(new, outcome.candidates)
        found = replay.find(old, new, texts)
        if found is None:
            reason += "; none of them shows in a whole text"
    if found is None:
        yield unproven(ctx, rule, new, subject, reason=reason, pointer=pointer)
    else:
        yield differs(ctx, rule, new, f"{subject}: {reason}" if reason else subject, found=found, pointer=pointer)


def differs(
    ctx: Context, rule: Rule, new: Tokenizer, message: str, *, found: dict[str, Any], pointer: str = ""
) -> Finding:
    """The finding of a witness text that encodes, or ids that decode, to something else."""
    shown = quoted(str(found["text"])) if "text" in found else f"ids {found['ids']}"
    if found.get("replayed"):
        message += f"; {shown} was {found['old']!r} and is {found['new']!r}"
    else:
        message += f"; candidate {shown}, not replayed: {found.get('reason', '')}"
    return ctx.finding(
        rule, encode_level(ctx), message, path=file_of(new), pointer=pointer, witness=found, plan=("reload-tokenizer",)
    )


def unproven(ctx: Context, rule: Rule, new: Tokenizer, subject: str, *, reason: str, pointer: str = "") -> Finding:
    """The finding where neither a proof nor a witness was found."""
    return ctx.finding(
        rule,
        "unproven",
        f"{subject}; whether old text keeps its ids is not proven: {reason}",
        path=file_of(new),
        pointer=pointer,
        plan=("reload-tokenizer",),
    )
