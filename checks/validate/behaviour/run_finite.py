"""RUN-FINITE: an output is NaN or infinite where the old one was not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .measured import Measured

RULE = Rule(
    id="RUN-FINITE",
    name="run-not-finite",
    family="RUN",
    severity=Severity.ERROR,
    summary="an output is NaN or infinite on an input where the old one was finite",
    what="All floating point outputs of every run.",
    why="weights or activations overflow: the model serves garbage, or only padding tokens",
    hint="check the element types of weights and activations (bf16 served as fp16)",
    references=("https://github.com/vllm-project/vllm/issues/40290",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """One finding an output."""
    for each in cast("list[Measured]", ctx.options.get("measured", [])):
        for name in each.infinite:
            yield ctx.finding(RULE, "breaks", f"output '{name}' is not finite", path=each.file, tensor=name)
