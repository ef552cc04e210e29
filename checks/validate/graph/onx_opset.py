"""ONX-OPSET: an operator set that the graph uses needs a newer runtime."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import pairs
from .needs import FIELDS, needed

RULE = Rule(
    id="ONX-OPSET",
    name="opset-needs-runtime",
    family="ONX",
    severity=Severity.WARNING,
    summary="an operator set needs a newer runtime than is known to serve",
    what="The version of ai.onnx and ai.onnx.ml against the releases of ONNX Runtime that load it.",
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
