"""RUN-FAIL: the new graph cannot do what the old one does or does not run by itself, or nothing could be run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .measured import Measured

RULE = Rule(
    id="RUN-FAIL",
    name="run-fails",
    family="RUN",
    severity=Severity.ERROR,
    summary="the new graph does not load, crashes, takes too long, or fails on inputs that the old one takes",
    what="Both graphs in ONNX Runtime on inputs generated from the old contract, in two settings of dynamic sizes; a "
    "graph without an old one on inputs of its own contract. They run in a process of their own, with the memory of "
    "the machine and contract.run_seconds, on the CPU or on the first of bench.providers that is there.",
    why="clients send exactly such inputs",
    exemptions=("a time-out of a graph that is about as slow as the old one: unproven",),
    hint="see the message; declare value ranges in contract.domains and shapes in bench.inputs where they matter",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Failures break; what could not be run is not proven."""
    for each in cast("list[Measured]", ctx.options.get("measured", [])):
        if each.failed:
            yield ctx.finding(RULE, "breaks", each.failed, path=each.file)
        elif each.skipped:
            yield ctx.finding(RULE, "unproven", f"was not run: {each.skipped}", path=each.file)
