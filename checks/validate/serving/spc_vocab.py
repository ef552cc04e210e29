"""SPC-VOCAB: the draft model of speculative decoding has another vocabulary than the target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from ..weights.wts_tie import EMBEDDINGS, HEADS

RULE = Rule(
    id="SPC-VOCAB",
    name="draft-vocabulary-differs",
    family="SPC",
    severity=Severity.WARNING,
    summary="draft and target model have another number of tokens",
    what="vocab_size of both configurations, or the rows of embedding or head, with --draft.",
    why="speculative decoding compares token by token: servers refuse the pair, or read past the smaller vocabulary",
    hint="use a draft model of the same vocabulary, padded to the same number of rows",
    references=("https://github.com/vllm-project/vllm/issues/7252", "https://github.com/ggml-org/llama.cpp/pull/3812"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """NEW against the draft model that serves with it."""
    draft = cast("Side | None", ctx.options.get("draft"))
    if draft is None:
        return
    target, own = vocabulary(ctx.new), vocabulary(draft)
    if target is None or own is None:
        yield ctx.finding(RULE, "unproven", "the size of a vocabulary is not known", old=own, new=target)
    elif target != own:
        yield ctx.finding(
            RULE, "restart", f"the draft model has {own} tokens, the target {target}", path="config.json", side=draft
        )


def vocabulary(side: Side) -> int | None:
    """How many tokens a model can emit: vocab_size, or the rows of its head or embedding."""
    config: dict[str, Any] = side.config or {}
    text: Any = config.get("text_config")
    for part in (config, cast("dict[str, Any]", text) if isinstance(text, dict) else {}):
        if isinstance(part.get("vocab_size"), int):
            return part["vocab_size"]
    table = side.weights if not side.tree.kinds.isdisjoint({"safetensors", "index"}) else None
    for name in (*HEADS, *EMBEDDINGS):
        if table is not None and name in table.tensors and table.tensors[name].shape:
            return table.tensors[name].shape[0]
    for model in side.gguf.values():
        tokens = model.metadata.get("tokenizer.ggml.tokens")
        if tokens is not None:
            return tokens.length
    return None
