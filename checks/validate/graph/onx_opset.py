"""ONX-OPSET: an operator set that the graph uses needs a newer runtime."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.onnx import OnnxModel
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import pairs
from .needs import FIELDS, needed
from .runtimes import NAME

RULE = Rule(
    id="ONX-OPSET",
    name="opset-needs-runtime",
    family="ONX",
    severity=Severity.WARNING,
    summary="an operator set needs a newer runtime than is known to serve",
    what="The version of ai.onnx and ai.onnx.ml against the releases of ONNX Runtime that load it, and operators of an "
    "operator set that is too old for it.",
    why="the load fails with 'ONNX Runtime only guarantees support for models stamped with official released opsets'",
    hint="export with a lower opset_version, or update the runtime first",
    references=("https://onnxruntime.ai/docs/reference/compatibility.html",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Operator sets that the runtime may not load."""
    paired = {pair.new.file: pair for pair in pairs(ctx)}
    for file, model in ctx.new.onnx.items():
        pair = paired.get(file)
        for domain, what in FIELDS.items():
            old = pair.old.opsets.get(domain, 0) if pair else 0
            label = f"opset {domain}".rstrip()
            new = model.opsets.get(domain, 0)
            yield from needed(ctx, RULE, pair, file=file, what=what, label=label, old=old, new=new)
        if pair is not None and 0 < model.opsets.get("", 0) < _FIRST <= pair.old.opsets.get("", 0):
            yield from _too_old(ctx, model)


# Operators that ONNX Runtime implements from this version on: before, most broadcast by attributes.
_FIRST = 7
_NAMES = """
    Add And AveragePool BatchNormalization Div Dropout Equal GRU Gemm Greater LSTM Less Mul Or PRelu Pow RNN Sub
    Upsample Xor
"""
_CHANGED = frozenset(_NAMES.split())


def _too_old(ctx: Context, model: OnnxModel) -> Iterator[Finding]:
    """Operators that have no implementation in the operator set that the graph went back to."""
    used = sorted({node.op for graph in model.graph.walk() for node in graph.nodes if not node.domain} & _CHANGED)
    if used:
        yield ctx.finding(
            RULE,
            "breaks" if NAME in ctx.contract.runtimes else "unproven",
            f"opset {model.opsets['']} has operators that onnxruntime does not implement: {', '.join(used[:5])}",
            path=model.file,
            pointer="opset_import",
            hint=f"export with opset_version {_FIRST} or higher",
        )
