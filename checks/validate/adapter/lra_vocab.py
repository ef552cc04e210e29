"""LRA-VOCAB: the adapter brings rows for tokens that the base does not have."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.weights import WeightTable
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..weights.wts_tie import EMBEDDINGS, HEADS
from .subjects import subjects

RULE = Rule(
    id="LRA-VOCAB",
    name="adapter-extends-vocabulary",
    family="LRA",
    severity=Severity.ERROR,
    summary="the adapter's embedding or head has other rows than the base",
    what="Whole embeddings and heads in the adapter, and low-rank pairs on them, against the rows of the base.",
    why="servers dropped support for adapters with vocabulary of their own; its new tokens have no row in the base",
    hint="resize and merge into a new base, or train without new tokens",
    references=("https://github.com/vllm-project/vllm/pull/28382",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Rows against the base's, or against the live adapter's own where no base is given."""
    for subject in subjects(ctx):
        rows = _rows(subject.base) if subject.base else None
        for name, tensor in subject.adapter.others.items():
            if not tensor.shape or not any(part in name for part in ("embed_tokens", "lm_head", "wte")):
                continue
            if rows is None or tensor.shape[0] != rows:
                has = f"the base has {rows}" if rows else "no base was given to compare with"
                message = f"'{name}' has {tensor.shape[0]} rows; {has}"
                path = subject.weights_file
                yield ctx.finding(RULE, "breaks", message, path=path, side=subject.side, tensor=name)
        for module, lora in subject.adapter.modules.items():
            if rows is None or not lora.base_shape or not module.endswith(("embed_tokens", "lm_head", "wte")):
                continue
            if lora.base_shape[0] > rows:
                message = f"'{module}' is for {lora.base_shape[0]} tokens, the base has {rows}"
                path = subject.weights_file
                yield ctx.finding(RULE, "breaks", message, path=path, side=subject.side, tensor=module)


def _rows(base: WeightTable) -> int | None:
    for name in (*EMBEDDINGS, *HEADS):
        if name in base.tensors and base.tensors[name].shape:
            return base.tensors[name].shape[0]
    return None
