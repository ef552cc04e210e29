"""The one judgement behind ONX-IR and ONX-OPSET: does the serving runtime load NEW?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....report.errors import BadInput
from ..rulebase import Context, Finding, Rule
from .contract import Pair
from .runtimes import NAME, OLDEST, floor, parse, show

if TYPE_CHECKING:
    from ....models.onnx import OnnxModel

# Operator sets by domain, as the table of releases calls them.
FIELDS = {"": "opset", "ai.onnx.ml": "ml"}


def needed(
    ctx: Context, rule: Rule, pair: Pair | None, *, file: str, what: str, label: str, old: int, new: int
) -> Iterator[Finding]:
    """A finding where version `new` of `what` needs a runtime that is not known to serve.

    With a declared runtime the table decides. Without one, what OLD needs for any of its versions is known to be
    there, as is the oldest release of the table, which loads everything before it; alone, a model needs a release
    that there is.
    """
    declared = ctx.contract.runtimes.get(NAME, "")
    need = floor(what, new)
    pointer = "ir_version" if what == "ir" else "opset_import"
    if declared:
        have = parse(declared)
        if have is None:
            raise BadInput(f"contract.runtimes.{NAME}", f"{declared!r} is not a version", hint="write '1.18'")
        if need is not None and (have >= need or need == OLDEST):
            return
        yield ctx.finding(
            rule,
            "restart",
            f"{label} {new} needs onnxruntime {show(need)}, declared is {declared}",
            path=file,
            pointer=pointer,
        )
        return
    if pair is None:
        if need is None:
            message = f"{label} {new} needs onnxruntime {show(need)}"
            yield ctx.finding(rule, "restart", message, path=file, pointer=pointer)
        return
    if new <= old:
        return
    before = _serving(pair.old)
    if need is not None and (need == OLDEST or (before is not None and need <= before)):
        return
    yield ctx.finding(
        rule,
        "restart",
        f"{label} {old} → {new} needs onnxruntime {show(need)}",
        path=file,
        pointer=pointer,
        hint="declare what serves as contract.runtimes.onnxruntime in interlock.yaml, or update it before the swap",
    )


def _serving(old: OnnxModel) -> tuple[int, int] | None:
    """The oldest release that loads OLD, and so is known to serve; None where none known does."""
    needs = [floor("ir", old.ir_version)]
    needs += [floor(what, old.opsets[domain]) for domain, what in FIELDS.items() if domain in old.opsets]
    known = [need for need in needs if need is not None]
    return max(known) if len(known) == len(needs) else None
