"""LRA-RANK: the adapter's rank is above what the server was started for."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .subjects import subjects

RULE = Rule(
    id="LRA-RANK",
    name="adapter-rank-too-large",
    family="LRA",
    severity=Severity.WARNING,
    summary="the adapter's rank is above what the server was started for",
    what="r, rank_pattern and the tensors' own ranks against contract.max_lora_rank. Where it is not declared, against "
    "16, which is vLLM's default, or the live adapter's rank where that is larger.",
    why="buffers for adapters are allocated at start; vLLM refuses a larger rank when the adapter is loaded",
    hint="restart the server with a larger --max-lora-rank and declare it as contract.max_lora_rank",
    references=("https://github.com/vllm-project/vllm/issues/2847",),
)

DEFAULT = 16  # vLLM's --max-lora-rank


def check(ctx: Context) -> Iterator[Finding]:
    """Ranks above the limit that is known, or above the default where none is."""
    declared = ctx.contract.max_lora_rank
    for subject in subjects(ctx):
        rank = subject.adapter.rank
        served = max(subject.old.rank, DEFAULT) if subject.old is not None else DEFAULT
        limit = declared or served
        if rank <= limit:
            continue
        known = bool(declared) or subject.old is not None
        live = not declared and subject.old is not None and subject.old.rank == limit
        origin = "declared" if declared else "the live adapter's" if live else "vLLM's default"
        yield ctx.finding(
            RULE,
            "restart" if known else "unproven",
            f"rank {rank} is above {limit}, {origin}",
            path=subject.config_file,
            side=subject.side,
            pointer="/r",
        )
