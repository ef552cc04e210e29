"""CFG-CTX: less context than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....models.hf_config import text_config
from ....models.strict_json import items_of
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .cfg_rope import parameters

RULE = Rule(
    id="CFG-CTX",
    name="context-changed",
    family="CFG",
    severity=Severity.ERROR,
    summary="the model takes shorter prompts than before",
    what="The effective context: positions times the rope factor, the sliding window where every layer uses it, and "
    "the tokenizer's model_max_length; the smallest counts.",
    why="prompts that were accepted are refused with a 4xx, or lose their beginning",
    hint="keep the context, or tell clients the new limit before the swap",
    bad='{"max_position_embeddings": 8192}   (was 32768)',
    good='{"max_position_embeddings": 32768}',
    example="json",
    exemptions=("a sliding window that is switched off or used by some layers only",),
    references=("vllm-project/vllm#6253", "QwenLM/Qwen3#679"),
    reads=("config", "tokenizer-config"),
)

_POSITIONS = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length", "n_ctx")
# Scalings whose max_position_embeddings is already the scaled length, as vLLM reads them.
_SCALED = frozenset({"su", "longrope", "llama3", "mrope", "default", "proportional"})
# Families that slide in some layers only, whatever the configuration writes.
_MIXED = frozenset({"gemma2", "gemma3", "gemma3_text", "gemma3n_text", "cohere2", "gpt_oss", "llama4_text"})
_ENDLESS = 10**9


def check(ctx: Context) -> Iterator[Finding]:
    """Compare the effective contexts."""
    if ctx.old is None or ctx.old.config is None or ctx.new.config is None:
        return
    key = next((key for key in _POSITIONS if _length(text_config(ctx.old.config).get(key))), None)
    if key is not None and not any(_length(text_config(ctx.new.config).get(each)) for each in _POSITIONS):
        yield ctx.finding(
            RULE,
            "unproven",
            f"{key} is no longer written; the default of the family counts, which may be shorter",
            path="config.json",
            pointer=f"/{key}",
        )
    old, new = effective(ctx.old), effective(ctx.new)
    if old is None or new is None or old[0] == new[0]:
        return
    shrinks = new[0] < old[0]
    yield ctx.finding(
        RULE,
        "breaks" if shrinks else "hot",
        "the context shrinks" if shrinks else "the context grows",
        path="tokenizer_config.json" if new[1] == "model_max_length" else "config.json",
        pointer=f"/{new[1]}",
        old=f"{old[0]:,} ({old[1]})",
        new=f"{new[0]:,} ({new[1]})",
        hint="" if shrinks else "check that the KV cache of the longest prompt fits before raising the server's limit",
    )


def effective(side: Side) -> tuple[int, str] | None:
    """(tokens, the key that limits them), None where nothing says."""
    limits: list[tuple[int, str]] = []
    config = text_config(side.config or {})
    for key in _POSITIONS:
        positions = _length(config.get(key))
        if positions is not None:
            limits.append((_scaled(positions, config), key))
            break
    window = _length(config.get("sliding_window"))
    if window is not None and _everywhere(config):
        limits.append((window, "sliding_window"))
    longest = _length((side.tokenizer_config or {}).get("model_max_length"))
    if longest is not None:
        limits.append((longest, "model_max_length"))
    return min(limits, default=None)


def _length(value: Any) -> int | None:
    """A number of tokens; None for nothing and for tokenizers' 10^30, which means no limit."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if number and 0 < value < _ENDLESS else None


def _scaled(positions: int, config: dict[str, Any]) -> int:
    match config.get("rope_scaling") or parameters(config):
        case {"factor": int() | float() as factor, **rest} if 0 < factor < _ENDLESS:
            kind = str(rest.get("rope_type", rest.get("type", "linear")))
            if kind in _SCALED:
                return positions
            original = rest.get("original_max_position_embeddings")
            base = _length(original) if kind == "yarn" else None
            return int((base or positions) * factor)
        case _:
            return positions


def _everywhere(config: dict[str, Any]) -> bool:
    """Whether every layer attends to the window only."""
    if config.get("use_sliding_window") is False or str(config.get("model_type")) in _MIXED:
        return False
    kinds = items_of(config.get("layer_types"))
    if kinds:
        return all(kind == "sliding_attention" for kind in kinds)
    if config.get("sliding_window_pattern") or config.get("layer_group_size"):
        return False
    first, layers = config.get("max_window_layers"), config.get("num_hidden_layers")
    return not (isinstance(first, int) and isinstance(layers, int) and first > 0)
