"""Fields of config.json under the names that model families give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ....models.hf_config import text_config
from .switches import default

# One quantity, the keys it goes by. Only keys of the same quantity may share a row.
NAMES: Mapping[str, tuple[str, ...]] = {
    "hidden size": ("hidden_size", "n_embd", "d_model", "dim"),
    "layers": ("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
    "attention heads": ("num_attention_heads", "n_head", "num_heads", "n_heads"),
    "key-value heads": ("num_key_value_heads", "n_head_kv", "num_kv_heads", "multi_query_group_num"),
    "head size": ("head_dim", "kv_channels", "attention_head_dim"),
    "feed-forward size": ("intermediate_size", "n_inner", "d_ff", "ffn_dim", "ffn_hidden_size"),
    "experts": ("num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"),
    "experts per token": ("num_experts_per_tok", "moe_top_k", "num_selected_experts", "top_k_experts"),
    "expert size": ("moe_intermediate_size",),
    "shared experts": ("n_shared_experts", "shared_expert_intermediate_size"),
    "latent rank": ("kv_lora_rank",),
    "decoder layers": ("decoder_layers", "num_decoder_layers"),
    "encoder layers": ("encoder_layers",),
    "activation": ("hidden_act", "activation_function", "hidden_activation", "activation"),
    "norm epsilon": ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps"),
    "attention bias": ("attention_bias", "qkv_bias", "use_qkv_bias"),
    "positions": ("position_embedding_type",),
    "vocabulary size": ("vocab_size", "padded_vocab_size"),
    "number type": ("dtype", "torch_dtype"),
    "attention window": ("sliding_window",),
    "kinds of layer": ("layer_types",),
    "window pattern": ("sliding_window_pattern", "_sliding_window_pattern"),
    "first layer with a window": ("max_window_layers",),
}


_WINDOW = frozenset(("attention window", "first layer with a window"))


# Families whose layers take turns, and after how many layers one attends to everything.
_TURNS = {"gemma2": 2, "gemma3": 6, "gemma3_text": 6, "gemma3n_text": 5, "cohere2": 4}
_MOST = 4096


def value(config: Mapping[str, Any], quantity: str) -> tuple[str, Any]:
    """(key, value) of a quantity, ("", None) where the configuration does not say."""
    flat = text_config(dict(config))
    for key in NAMES[quantity]:
        if flat.get(key) is not None:
            return key, flat[key]
    return "", None


def effective(config: Mapping[str, Any], quantity: str) -> Any:
    """A quantity with what `transformers` derives when it is not written."""
    flat = text_config(dict(config))
    if quantity in _WINDOW and not _windowed(flat):
        return None  # switched off, whatever its size
    if quantity in ("kinds of layer", "window pattern"):
        kinds = _kinds(flat)
        return kinds if quantity == "kinds of layer" else None if kinds else value(config, quantity)[1]
    found = value(config, quantity)[1]
    if found is not None:
        return found.removeprefix("torch.") if quantity == "number type" and isinstance(found, str) else found
    return _derived(config, flat, quantity)


def _derived(config: Mapping[str, Any], flat: dict[str, Any], quantity: str) -> Any:
    hidden, heads = value(config, "hidden size")[1], value(config, "attention heads")[1]
    match quantity:
        case "key-value heads":
            return heads
        case "head size" if isinstance(hidden, int) and isinstance(heads, int) and heads > 0 and hidden % heads == 0:
            return hidden // heads
        case "feed-forward size" if isinstance(hidden, int):
            return 4 * hidden  # where a family does not always write it
        case "layers":
            return flat.get("encoder_layers")
        case "positions":
            return "absolute"
        case "attention bias":
            return any(default(key, flat.get("model_type")) for key in NAMES[quantity])
        case _:
            return None


def _windowed(flat: dict[str, Any]) -> bool:
    return flat.get("sliding_window") is not None and flat.get("use_sliding_window") is not False


def _kinds(flat: dict[str, Any]) -> list[Any] | None:
    """The kind of each layer, None where all attend to everything or there is no telling."""
    written, layers = flat.get("layer_types"), flat.get("num_hidden_layers")
    if isinstance(written, list):
        kinds = cast("list[Any]", written)
        return None if all(kind == "full_attention" for kind in kinds) else kinds
    if not isinstance(layers, int) or not 0 < layers <= _MOST or not _windowed(flat):
        return None
    first = flat.get("max_window_layers")
    turn = (
        flat.get("sliding_window_pattern")
        or flat.get("_sliding_window_pattern")
        or _TURNS.get(str(flat.get("model_type")))
    )
    if isinstance(turn, int) and turn > 0:
        full = [not (number + 1) % turn for number in range(layers)]
    elif isinstance(first, int):
        full = [number < first for number in range(layers)]
    else:
        full = [False] * layers
    return ["full_attention" if each else "sliding_attention" for each in full]
