"""EMB-SPACE: an embedding model changed, so stored vectors and heads trained on them no longer fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from ..weights.tables import contents
from ..weights.tables import pairs as sets

RULE = Rule(
    id="EMB-SPACE",
    name="embedding-space-changed",
    family="EMB",
    severity=Severity.ERROR,
    summary="an embedding model has other weights: old and new vectors do not share a space",
    what="Pooling modules (modules.json), graphs whose file, name or output says embedding, and graphs that end in "
    "a normalised vector, where the weights or the pooling changed.",
    why="a vector index or a classifier trained on the old vectors silently mixes two spaces of the same dimension",
    hint="embed the stored vectors again and switch index and model together; or show with --run that the cosine "
    "similarity is at least contract.cosine",
)

if TYPE_CHECKING:
    from ....models.onnx import OnnxModel, Value

_NAME = r"(?i)embed(?!_tokens|_in\b)|sentence_vec|pooler_output|image_features|text_features"
_POOLING = r"(^|/)(modules\.json|sentence_bert_config\.json|\d+_\w+/config\.json)$"


def check(ctx: Context) -> Iterator[Finding]:
    """Embedding models whose numbers changed, unless the behavioural stage measured that they did not."""
    if ctx.old is None:
        return
    measured = ctx.options.get("cosine")
    if measured is not None and ctx.contract.cosine and measured >= ctx.contract.cosine:
        return
    if "onnx" in ctx.new.tree.kinds:
        yield from _graphs(ctx, measured)
    pooled = _pooled(ctx.new) or _pooled(ctx.old)
    if not pooled:
        return
    for pair in sets(ctx):
        if contents(ctx, pair) != "same":
            yield _finding(ctx, pair.new.files[0], f"the embedding model changed ({pooled})", measured)
    for name in sorted(ctx.old.tree.files.keys() | ctx.new.tree.files.keys()):
        if re.search(_POOLING, name) and ctx.same(name, name) != "same":
            side = ctx.new if name in ctx.new.tree.files else ctx.old
            yield ctx.finding(
                RULE, "breaks", f"pooling changed in '{name}'", path=name, side=side, plan=("reembed-index",)
            )


def _graphs(ctx: Context, measured: float | None) -> Iterator[Finding]:
    from ..graph.contract import pairs as graphs
    from ..graph.contract import promised, unchanged

    for pair in graphs(ctx):
        outputs = [promised(model, "outputs") for model in (pair.new, pair.old)]
        sign = _sign(pair.new, outputs[0]) or _sign(pair.old, outputs[1])
        if sign and not unchanged(ctx, pair):
            yield _finding(ctx, pair.new.file, f"the embedding model changed ({sign})", measured)


def _finding(ctx: Context, path: str, message: str, measured: float | None) -> Finding:
    seen = "" if measured is None else f"; lowest cosine similarity measured is {measured:.4f}"
    return ctx.finding(RULE, "breaks", message + seen, path=path, plan=("reembed-index",))


def _sign(model: OnnxModel, outputs: list[Value]) -> str:
    """Why a graph with these outputs counts as an embedding model; empty where it does not."""
    if re.search(_NAME, model.file.rsplit("/", 1)[-1]):
        return f"the file is named {model.file}"
    for value in outputs:
        if re.search(_NAME, value.name):
            return f"output '{value.name}'"
    if [value.name for value in outputs] == ["last_hidden_state"]:
        return "its only output is last_hidden_state"
    last = {name: node.op for node in model.graph.nodes for name in node.outputs}
    if any(last.get(value.name) == "LpNormalization" for value in outputs):
        return "it ends in a normalised vector"
    return ""


def _pooled(side: Side) -> str:
    return next((name for name in side.tree.files if name == "modules.json" or "_Pooling/" in name), "")
