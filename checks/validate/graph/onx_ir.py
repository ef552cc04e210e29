"""ONX-IR: the file format version needs a newer runtime."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import pairs
from .needs import needed

RULE = Rule(
    id="ONX-IR",
    name="ir-version-needs-runtime",
    family="ONX",
    severity=Severity.WARNING,
    summary="the IR version needs a newer runtime than is known to serve",
    what="ir_version against the releases of ONNX Runtime that load it and the runtime that interlock.yaml declares.",
    why="the load fails with 'Unsupported model IR version' after the old model was let go",
    hint="save with a lower ir_version, or update the runtime first",
    references=("https://github.com/microsoft/onnxruntime/issues/20559",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """IR versions that the runtime may not load."""
    paired = {pair.new.file: pair for pair in pairs(ctx)}
    for file, model in ctx.new.onnx.items():
        pair = paired.get(file)
        old = pair.old.ir_version if pair else 0
        yield from needed(ctx, RULE, pair, file=file, what="ir", label="IR version", old=old, new=model.ir_version)
