"""ONX-OP: an operator that the declared operator set does not have."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ....models.onnx import OnnxModel
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import pairs
from .onx_graph import called
from .operators import NEWEST, fault, since

RULE = Rule(
    id="ONX-OP",
    name="operator-unknown",
    family="ONX",
    severity=Severity.ERROR,
    summary="an operator of the standard domains does not exist in the declared operator set",
    what="Every operator of ai.onnx and ai.onnx.ml, bodies and called functions included, against the versions in "
    "which it is defined.",
    why="the load fails with 'No Op registered for'",
    hint="correct the name, or export with an opset_version that has the operator",
    exemptions=(
        "operators that functions in the file define",
        "operators that the live graph uses at the same version: its server knows them",
        "operator sets newer than interlock knows (ONX-OPSET speaks)",
        "TensorRT plugins (names that end in _TRT)",
    ),
    references=("https://onnx.ai/onnx/operators/",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """One finding an operator."""
    served = {pair.new.file: _operators(pair.old) for pair in pairs(ctx)}
    for file, model in ctx.new.onnx.items():
        for domain, operator, version in sorted(_operators(model) - served.get(file, set())):
            if reason := fault(domain, operator, version):
                close = get_close_matches(operator, since(domain), n=1) if operator not in since(domain) else []
                yield ctx.finding(
                    RULE,
                    "breaks",
                    f"'{operator[:80]}' is no operator of {domain or 'ai.onnx'} at version {version}: {reason}",
                    path=file,
                    pointer="graph.node",
                    hint=f"did you mean '{close[0]}'?" if close else "",
                )


def _operators(model: OnnxModel) -> set[tuple[str, str, int]]:
    """(domain, operator, version of the domain) of everything that must exist for the graph to load."""
    result: set[tuple[str, str, int]] = set()
    own = {(domain, name) for domain, name, _ in model.functions}
    roots = [(model.graph, model.opsets)]
    roots += [(body, body.opsets or model.opsets) for body in called(model)]
    for root, opsets in roots:
        for graph in root.walk():
            for node in graph.nodes:
                if node.domain in NEWEST and (node.domain, node.op) not in own:
                    result.add((node.domain, node.op, opsets.get(node.domain, 0)))
    return result
