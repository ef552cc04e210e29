"""ONX-HEAD: an output has the same type and shape, but other values: probabilities became logits, or the reverse."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.onnx import OnnxModel
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import match, pairs

RULE = Rule(
    id="ONX-HEAD",
    name="output-activation-changed",
    family="ONX",
    severity=Severity.WARNING,
    summary="an output gained or lost its final activation",
    what="The operator that makes an output, shape operators skipped: an activation against a linear one.",
    why="clients take the output for a probability or compare it with a threshold; the contract does not tell",
    hint="keep the activation in the graph, or ship the clients first",
    exemptions=("operators that are neither: fused and decomposed exports are not judged",),
)

_ACTIVATIONS = frozenset({"Softmax", "LogSoftmax", "Sigmoid", "HardSigmoid", "Softplus", "Tanh"})
_LINEAR = frozenset({"Gemm", "MatMul", "Conv", "Add", "BatchNormalization", "ConvTranspose", "LayerNormalization"})
_SHAPING = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Identity", "Transpose", "Flatten", "Cast"})


def check(ctx: Context) -> Iterator[Finding]:
    """Outputs that both graphs have."""
    for pair in pairs(ctx):
        for old, new in match(ctx, pair, "outputs").all_kept:
            before, after = _maker(pair.old, old.name), _maker(pair.new, new.name)
            kinds = {before, after}
            if before == after or not (kinds & _ACTIVATIONS and kinds <= _ACTIVATIONS | _LINEAR):
                continue
            yield ctx.finding(
                RULE,
                "unproven",
                f"output '{new.name}' has another final operator",
                old=before,
                new=after,
                path=pair.new.file,
                tensor=new.name,
                pointer="graph.output",
            )


def _maker(model: OnnxModel, name: str) -> str:
    """The operator that makes a value, looking through those that only change its shape or type."""
    makers = {output: node for node in model.graph.nodes for output in node.outputs}
    for _ in range(len(model.graph.nodes)):
        node = makers.get(name)
        if node is None:
            return ""
        if node.op not in _SHAPING or not node.inputs or node.domain:
            return node.op
        name = node.inputs[0]
    return ""
