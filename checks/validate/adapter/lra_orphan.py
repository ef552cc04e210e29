"""LRA-ORPHAN: the base under the adapters changed, or the adapter was trained on another base."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
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

_QUANTISED = re.compile(r"([-_.](unsloth|bnb|4bit|8bit|awq|gptq|fp8|int4|int8|gguf|hf|dynamic))+$")


def check(ctx: Context) -> Iterator[Finding]:
    """Named bases that differ, and a base that changed under adapters."""
    moved = any(contents(ctx, pair) != "same" for pair in pairs(ctx))
    for subject in subjects(ctx):
        path = subject.config_file
        before = subject.before
        if before is not None and _base(before.config) != _base(subject.adapter.config):
            level, says = _judged(before.config, subject.adapter.config)
            yield ctx.finding(
                RULE,
                level,
                says,
                old=_base(before.config),
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


def _judged(old: dict[str, object], new: dict[str, object]) -> tuple[Level, str]:
    """What two names of a base prove: a path, a quantised copy or a pinned revision may well be the same base."""
    before, after = _name(old), _name(new)
    pins = _revision(old), _revision(new)
    if not before or not after:
        return "unproven", "the two adapters do not both name their base"
    if before == after and "" in pins:
        return "unproven", "only one of the two adapters pins a revision of the base, which may be what 'main' was"
    if pins[0] == pins[1]:
        if _stem(before) == _stem(after) and before.count("/") == after.count("/") == 1:
            return "unproven", "the adapter names another copy of the base"
        if any(_is_path(name) for name in (before, after)):
            return "unproven", "the adapter names its base by a path, which tells nothing about the base"
    return "breaks", "the adapter was trained on another base"


def _is_path(name: str) -> bool:
    """Whether a name is a folder on somebody's disk: names of a hub are `owner/model`, or one of the oldest models'."""
    return name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name


def _stem(name: str) -> str:
    """The name of a model without its owner and how it was quantised."""
    return _QUANTISED.sub("", name.rpartition("/")[2].lower())


def _name(config: dict[str, object]) -> str:
    return str(config.get("base_model_name_or_path") or "").rstrip("/")


def _revision(config: dict[str, object]) -> str:
    """The pinned revision, empty for `main`, which is what none stands for."""
    revision = config.get("revision")
    return "" if revision in (None, "", "main") else str(revision)


def _base(config: dict[str, object]) -> str:
    revision = _revision(config)
    return (_name(config) or "none") + (f"@{revision}" if revision else "")
