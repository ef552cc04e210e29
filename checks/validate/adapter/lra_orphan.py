"""LRA-ORPHAN: the base under the adapters changed, or the adapter was trained on another base."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..weights.tables import contents, pairs
from .subjects import subjects

RULE = Rule(
    id="LRA-ORPHAN",
    name="adapter-of-another-base",
    family="LRA",
    severity=Severity.WARNING,
    summary="an adapter will sit on other base weights than it was trained on",
    what="base_model_name_or_path and revision of two adapters; adapters that stay while the base changes.",
    why="an adapter is a difference to one set of weights: on others it gives wrong answers without any error",
    hint="train the adapters on the new base, or evaluate each on it before it serves",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Named bases that differ, and a base that changed under adapters."""
    moved = any(contents(ctx, pair) != "same" for pair in pairs(ctx))
    for subject in subjects(ctx):
        path = subject.config_file
        if subject.old is not None and _base(subject.old.config) != _base(subject.adapter.config):
            yield ctx.finding(
                RULE,
                "breaks",
                "the adapter was trained on another base",
                old=_base(subject.old.config),
                new=_base(subject.adapter.config),
                path=path,
                side=subject.side,
                pointer="/base_model_name_or_path",
                plan=("revalidate-adapters",),
            )
        kept = not subject.ours or ctx.same(subject.weights_file, subject.weights_file) == "same"
        if moved and kept:
            yield ctx.finding(
                RULE,
                "unproven",
                f"the base changed under the adapter '{subject.adapter.folder or subject.side.name}'",
                path=path,
                side=subject.side,
                plan=("revalidate-adapters",),
            )


def _base(config: dict[str, object]) -> str:
    revision = config.get("revision")
    return f"{config.get('base_model_name_or_path')}" + (f"@{revision}" if revision else "")
