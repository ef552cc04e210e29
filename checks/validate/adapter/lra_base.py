"""LRA-BASE: the adapter's matrices do not fit the base."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.weights import WeightTable
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..weights.tables import names
from .subjects import Subject, quantised, subjects, target

RULE = Rule(
    id="LRA-BASE",
    name="adapter-does-not-fit-base",
    family="LRA",
    severity=Severity.ERROR,
    summary="the adapter's matrices do not have the base's dimensions",
    what="Columns of A and rows of B, module by module, against the base weight; without a base, the live adapter. "
    "Tensors that are stored whole keep the live adapter's shape.",
    why="the adapter fails with a size mismatch when a request first asks for it, or was made for a resized base",
    hint="train or convert the adapter for this base",
    references=("https://github.com/huggingface/peft/issues/1932",),
    exemptions=("modules that the base holds quantised: packed shapes do not tell",),
)

# Module → the dimensions of the weight it is put on, and those that it is made for.
Misfits = dict[str, tuple[tuple[int, ...], tuple[int, ...]]]


def check(ctx: Context) -> Iterator[Finding]:
    """Every module of every adapter."""
    for subject in subjects(ctx):
        yield from _whole(ctx, subject)
        base = subject.base
        bad = _against_old(subject) if base is None else _against_base(subject, base)
        if not bad:
            continue
        first = min(bad)
        fits, wanted = map(list, bad[first])
        words = f"the live adapter is for {fits}, this one" if base is None else f"the base has {fits}, the adapter is"
        yield ctx.finding(
            RULE,
            "breaks",
            f"{len(bad)} modules do not fit ({names(bad)}): {words} for {wanted}",
            path=subject.weights_file,
            side=subject.side,
            tensors=list(bad),
            plan=("revalidate-adapters",) if base is not None else (),
        )


def _against_base(subject: Subject, base: WeightTable) -> Misfits:
    bad: Misfits = {}
    for module, lora in subject.adapter.modules.items():
        weight = target(module, base)
        if weight is None or lora.base_shape is None or quantised(module, base):
            continue
        if len(weight.shape) == 2 and tuple(weight.shape) not in (lora.base_shape, lora.base_shape[::-1]):
            bad[module] = (tuple(weight.shape), lora.base_shape)
    return bad


def _against_old(subject: Subject) -> Misfits:
    """Without a base to compare with: the live adapter fits it, so what is in both must keep its dimensions."""
    old = subject.old.modules if subject.old is not None else {}
    bad: Misfits = {}
    for module, lora in subject.adapter.modules.items():
        before = old[module].base_shape if module in old else None
        if before is not None and lora.base_shape is not None and before != lora.base_shape:
            bad[module] = (before, lora.base_shape)
    return bad


def _whole(ctx: Context, subject: Subject) -> Iterator[Finding]:
    """Tensors that are stored whole, such as a classifier: another shape means another number of classes or tokens."""
    old = subject.old.others if subject.old is not None else {}
    for name, tensor in subject.adapter.others.items():
        if name in old and old[name].shape != tensor.shape:
            yield ctx.finding(
                RULE,
                "breaks",
                f"'{name}' has another shape than in the live adapter",
                path=subject.weights_file,
                side=subject.side,
                tensor=name,
                old=list(old[name].shape),
                new=list(tensor.shape),
            )
