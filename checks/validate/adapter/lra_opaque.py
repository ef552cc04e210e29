"""LRA-OPAQUE: an adapter whose weights are a pickle."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .subjects import Subject, subjects

RULE = Rule(
    id="LRA-OPAQUE",
    name="adapter-weights-not-read",
    family="LRA",
    severity=Severity.WARNING,
    summary="the adapter's weights are a pickle, so nothing is known of what they hold",
    what="adapter_model.bin and .pt, which servers load where no adapter_model.safetensors lies beside them.",
    why="ranks, modules and shapes are inside of a pickle: to read them is to run code, and whether the adapter fits "
    "its base shows in the live server",
    hint="save the adapter as adapter_model.safetensors (save_pretrained with safe_serialization=True)",
    bad="adapter_config.json, adapter_model.bin",
    good="adapter_config.json, adapter_model.safetensors",
    example="text",
    exemptions=("the live adapter itself, byte for byte, with its own configuration",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Every adapter without readable weights, unless nothing about it changed."""
    for subject in subjects(ctx):
        if not subject.adapter.readable and not _serves(ctx, subject):
            message = f"the weights of the adapter are a pickle, which is not opened: '{subject.weights_file}'"
            yield ctx.finding(
                RULE,
                "unproven",
                message,
                path=subject.weights_file,
                side=subject.side,
                plan=("revalidate-adapters",),
            )


def _serves(ctx: Context, subject: Subject) -> bool:
    old = subject.old
    if old is None or not subject.ours or old.weights != subject.adapter.weights:
        return False
    return old.config == subject.adapter.config and ctx.same(subject.weights_file, subject.weights_file) == "same"
