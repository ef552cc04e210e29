"""Fields of config.json under the names that model families give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....models.hf_config import text_config

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
    "activation": ("hidden_act", "activation_function", "hidden_activation"),
    "norm epsilon": ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps"),
    "attention bias": ("attention_bias", "qkv_bias", "use_qkv_bias"),
    "positions": ("position_embedding_type",),
    "vocabulary size": ("vocab_size", "padded_vocab_size"),
    "number type": ("dtype", "torch_dtype"),
    "attention window": ("sliding_window",),
    "kinds of layer": ("layer_types",),
    "window pattern": ("sliding_window_pattern",),
    "first layer with a window": ("max_window_layers",),
}


_WINDOW = frozenset(("attention window", "first layer with a window"))


def value(config: Mapping[str, Any], quantity: str) -> tuple[str, Any]:
    """(key, value) of a quantity, ("", None) where the configuration does not say."""
    flat = text_config(dict(config))
    for key in NAMES[quantity]:
        if flat.get(key) is not None:
            return key, flat[key]
    return "", None


def effective(config: Mapping[str, Any], quantity: str) -> Any:
    """A quantity with what `transformers` derives when it is not written."""
    if quantity in _WINDOW and text_config(dict(config)).get("use_sliding_window") is False:
        return None  # switched off, whatever its size
    found = value(config, quantity)[1]
    if found is not None:
        return found.removeprefix("torch.") if quantity == "number type" and isinstance(found, str) else found
    if quantity == "key-value heads":
        return value(config, "attention heads")[1]
    if quantity == "head size":
        hidden, heads = value(config, "hidden size")[1], value(config, "attention heads")[1]
        if isinstance(hidden, int) and isinstance(heads, int) and heads > 0 and hidden % heads == 0:
            return hidden // heads
    return None
