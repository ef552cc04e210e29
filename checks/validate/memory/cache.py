"""How much KV cache a token takes: 2 · layers · kv_heads · head_dim · bytes over all GPUs.

With multi-head latent attention it is layers · (kv_lora_rank + qk_rope_head_dim) · bytes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from ....models.hf_config import text_config
from ..config.fields import effective
from ..serving.sta_kv import cacheless
from ..side import Side

if TYPE_CHECKING:
    from ....models.gguf import GgufModel

# What graphs call the tensors that hold keys and values of earlier tokens.
_CACHE = re.compile(r"past|present|cache|key_value|\bkv", re.IGNORECASE)
_HALF = 2  # bytes of an element of llama.cpp's cache, unless it is told otherwise


def kv_bytes(side: Side) -> int | None:
    """Bytes of KV cache that a token takes; 0 for a model that keeps none, None where nothing says.

    Raises UnreadableModel.
    """
    if cacheless(side.config):
        return 0
    kinds = side.tree.kinds
    if "onnx" in kinds and kinds.isdisjoint({"safetensors", "index", "gguf"}) and not _cached(side):
        return 0
    known = _configured(side.config)
    if known is None and "gguf" in kinds:
        sizes = {_llama_cpp(side, model) for model in side.gguf.values() if model.get("block_count") is not None}
        return sizes.pop() if len(sizes) == 1 else None
    return known


def _cached(side: Side) -> bool:
    """Whether a graph takes or gives keys and values of earlier tokens."""
    return any(
        _CACHE.search(value.name)
        for model in side.onnx.values()
        for value in (*model.graph.inputs, *model.graph.outputs)
    )


def _configured(config: dict[str, Any] | None) -> int | None:
    if not config:
        return None
    flat = text_config(config)
    layers = effective(config, "layers")
    kind = cast("str", config.get("torch_dtype") or config.get("dtype") or "bfloat16")
    size = 4 if "float32" in str(kind) else 2
    latent, rope = flat.get("kv_lora_rank"), flat.get("qk_rope_head_dim")
    if isinstance(layers, int) and isinstance(latent, int) and isinstance(rope, int):
        return layers * (latent + rope) * size
    heads, width = effective(config, "key-value heads"), effective(config, "head size")
    if isinstance(layers, int) and isinstance(heads, int) and isinstance(width, int):
        return 2 * layers * heads * width * size or None
    return None


def _llama_cpp(side: Side, model: GgufModel) -> int | None:
    """The same of a GGUF file: head counts may be given block by block, lengths of keys and values apart."""
    from ....models.gguf import GgufArray, read_array

    if model.get("attention.kv_lora_rank") is not None:
        return None  # depends on how the file was converted
    blocks, heads, width = (model.get(key) for key in ("block_count", "attention.head_count", "embedding_length"))
    own = model.get("attention.head_count_kv")
    own = heads if own is None else own
    if isinstance(own, GgufArray):
        own = read_array(side.tree.files[model.file], model, own)
    total = sum(cast("list[int]", own)) if isinstance(own, list | tuple) else own
    if isinstance(total, int) and total is own and isinstance(blocks, int):
        total *= blocks
    each = width // heads if isinstance(width, int) and isinstance(heads, int) and heads > 0 else None
    lengths = [model.get(f"attention.{part}_length") or each for part in ("key", "value")]
    if not isinstance(total, int) or not all(isinstance(length, int) for length in lengths):
        return None
    return total * sum(cast("list[int]", lengths)) * _HALF or None
