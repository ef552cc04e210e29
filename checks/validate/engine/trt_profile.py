"""TRT-PROFILE: the engine takes smaller batches or shorter sequences."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .matching import pairs

RULE = Rule(
    id="TRT-PROFILE",
    name="engine-limits-shrank",
    family="TRT",
    severity=Severity.ERROR,
    summary="a build limit of the engine shrank",
    what="max_batch_size, max_input_len, max_seq_len, max_num_tokens, max_beam_width and the like of build_config.",
    why="requests that fitted the old engine are refused by the new one",
    hint="build with at least the limits of the live engine",
)

LIMITS = (
    *("max_batch_size", "max_input_len", "max_seq_len", "max_num_tokens", "max_beam_width", "opt_num_tokens"),
    *("max_prompt_embedding_table_size", "max_encoder_input_len", "max_draft_len"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Limits that are lower or gone; higher ones are a note, for they cost memory."""
    for pair in pairs(ctx):
        for name in LIMITS:
            old, new = pair.old.limit(name), pair.new.limit(name)
            if old is None or old == new:
                continue
            shrank = new is None or new < old
            level = "restart" if name == "opt_num_tokens" else "breaks" if shrank else "hot"
            yield ctx.finding(
                RULE,
                level,
                f"{name} " + ("shrank" if shrank else "grew"),
                old=old,
                new=new,
                path=pair.new.file,
                pointer=f"/build_config/{name}",
            )
