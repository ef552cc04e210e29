"""LRA-TARGET: the adapter names modules that the base does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..weights.tables import names
from .subjects import Subject, quantised, subjects, target

RULE = Rule(
    id="LRA-TARGET",
    name="adapter-target-missing",
    family="LRA",
    severity=Severity.ERROR,
    summary="the adapter changes modules that the base does not have",
    what="Modules of the tensors and target_modules against the base; without one, against the live adapter's modules.",
    why="the server refuses the adapter, or drops the unknown part and answers as if it were not there",
    hint="train or convert the adapter for this base",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Modules without a base weight, and targets that match nothing."""
    for subject in subjects(ctx):
        base = subject.base
        if base is None:
            yield from _against_old(ctx, subject)
            continue
        lost = [m for m in subject.adapter.modules if target(m, base) is None and not quantised(m, base)]
        if lost:
            yield ctx.finding(
                RULE,
                "breaks",
                f"{len(lost)} of {len(subject.adapter.modules)} modules are not in the base: {names(lost)}",
                path=subject.weights_file,
                side=subject.side,
                tensors=lost,
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


def _against_old(ctx: Context, subject: Subject) -> Iterator[Finding]:
    """No base to compare with: modules of the live adapter are known to exist, others are not."""
    old = subject.old.modules if subject.old is not None else {}
    more = [module for module in subject.adapter.modules if module not in old]
    if old and more:
        yield ctx.finding(
            RULE,
            "unproven",
            f"{len(more)} modules are not in the live adapter, and no base was given to look them up: {names(more)}",
            path=subject.weights_file,
            side=subject.side,
            tensors=more,
            hint="give the base model with --base",
        )
