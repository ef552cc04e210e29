"""LRA-TARGET: the adapter names modules that the base does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..weights.tables import names
from .subjects import quantised, subjects, target

RULE = Rule(
    id="LRA-TARGET",
    name="adapter-target-missing",
    family="LRA",
    severity=Severity.ERROR,
    summary="the adapter changes modules that the base does not have",
    what="Modules of the adapter's tensors, and every entry of target_modules, against the base's tensor names.",
    why="the server refuses the adapter, or drops the unknown part and answers as if it were not there",
    hint="train or convert the adapter for this base",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Modules without a base weight, and targets that match nothing."""
    for subject in subjects(ctx):
        base = subject.base
        if base is None:
            continue
        lost = [m for m in subject.adapter.modules if target(m, base) is None and not quantised(m, base)]
        if lost:
            yield ctx.finding(
                RULE,
                "breaks",
                f"{len(lost)} of {len(subject.adapter.modules)} modules are not in the base: {names(lost)}",
                path=subject.weights_file,
                side=subject.side,
                tensor=min(lost),
            )
        wanted = subject.adapter.config.get("target_modules")
        for name in cast("list[Any]", wanted) if isinstance(wanted, list) else []:
            if not any(f".{name}." in f".{tensor}" for tensor in base.tensors):
                yield ctx.finding(
                    RULE,
                    "breaks",
                    f"target module '{name}' matches nothing in the base",
                    path=subject.config_file,
                    side=subject.side,
                    pointer="/target_modules",
                )
