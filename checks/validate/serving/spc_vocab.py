"""SPC-VOCAB: the draft model of speculative decoding has another vocabulary than the target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ....models.strict_json import items_of
from ....report.finding import Severity
from ..config.fields import effective
from ..rulebase import Context, Finding, Rule
from ..side import Side
from ..weights.wts_tie import EMBEDDINGS, HEADS

RULE = Rule(
    id="SPC-VOCAB",
    name="draft-vocabulary-differs",
    family="SPC",
    severity=Severity.WARNING,
    summary="draft and target model have other tokens, or states of another size",
    what="With --draft: vocab_size of both configurations, or the rows of embedding or head; the text of every id, "
    "where both tokenizers are of one format; what two GGUF files put around a text; for EAGLE heads the size of the "
    "target's states.",
    why="speculative decoding compares token by token: servers refuse the pair, read past the smaller vocabulary, or "
    "hardly ever accept what is drafted",
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
        message = f"the draft model has {own} tokens, the target {target}"
        yield ctx.finding(RULE, "restart", message, path="config.json", side=draft)
    else:
        yield from _tokens(ctx, draft)
    yield from _states(ctx, draft)


def _tokens(ctx: Context, draft: Side) -> Iterator[Finding]:
    """Ids that mean another token to the draft model, and what it puts around a text."""
    own, target = draft.tokenizer, ctx.new.tokenizer
    if own is None or target is None or own.format != target.format:
        return
    both = own.tokens.keys() & target.tokens.keys()
    others = sorted(number for number in both if own.tokens[number] != target.tokens[number])
    file = own.path.rsplit("/", 1)[-1]
    if others:
        first = others[0]
        shown = f"id {first} is {own.tokens[first]!r} to the draft model and {target.tokens[first]!r} to the target"
        more = f", and {len(others) - 1} more ids differ" if len(others) > 1 else ""
        yield ctx.finding(RULE, "restart", shown + more, path=file, side=draft)
    elif own.format == "gguf" and own.post_processor != target.post_processor:
        message = "the draft model puts other tokens around a text than the target: llama.cpp refuses the pair"
        yield ctx.finding(RULE, "restart", message, path=file, side=draft)


def _states(ctx: Context, draft: Side) -> Iterator[Finding]:
    """An EAGLE head reads the states of the target's layers."""
    config = draft.config or {}
    if not any("eagle" in str(each).lower() for each in items_of(config.get("architectures"))):
        return
    own = config.get("target_hidden_size") or effective(config, "hidden size")
    target = effective(ctx.new.config or {}, "hidden size")
    if isinstance(own, int) and isinstance(target, int) and own != target:
        message = f"the draft head reads states of {own} values, and the target's have {target}"
        yield ctx.finding(RULE, "restart", message, path="config.json", side=draft)


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
