"""TRT-IO: inputs, outputs or numbers inside the engine are laid out otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .matching import pairs

RULE = Rule(
    id="TRT-IO",
    name="engine-io-changed",
    family="TRT",
    severity=Severity.WARNING,
    summary="types or sizes that the engine's inputs and outputs follow from changed",
    what="Architecture, dtypes, vocabulary, layers, heads, hidden size and quantisation of pretrained_config, and the "
    "extra outputs that build_config asks for.",
    why="the batch manager binds buffers by these numbers; a mismatch fails or reads garbage",
    hint="restart the server with the new engine and its configuration",
)

_MODEL = (
    *("architecture", "dtype", "logits_dtype", "vocab_size", "hidden_size", "num_hidden_layers"),
    *("num_attention_heads", "num_key_value_heads", "head_size", "intermediate_size", "max_position_embeddings"),
    *("position_embedding_type", "rotary_base", "quantization", "share_embedding_table", "use_parallel_embedding"),
)
_BUILD = (
    *("gather_context_logits", "gather_generation_logits", "gather_all_token_logits", "kv_cache_type"),
    *("strongly_typed", "speculative_decoding_mode", "input_timing_cache", "lora_config"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Every value that differs; fewer outputs break clients that read them."""
    for pair in pairs(ctx):
        for table, keys in (("model", _MODEL), ("build", _BUILD)):
            old, new = getattr(pair.old, table), getattr(pair.new, table)
            for key in keys:
                if old.get(key) == new.get(key):
                    continue
                lost = key.startswith("gather_") and bool(old.get(key)) and not new.get(key)
                section = "build_config" if table == "build" else "pretrained_config"
                yield ctx.finding(
                    RULE,
                    "breaks" if lost else "restart",
                    f"{key} changed",
                    old=old.get(key),
                    new=new.get(key),
                    path=pair.new.file,
                    pointer=f"/{section}/{key}",
                )
