"""How much KV cache a token takes: 2 · layers · kv_heads · head_dim · bytes over all GPUs.

With multi-head latent attention it is layers · (kv_lora_rank + qk_rope_head_dim) · bytes. A head is never split, and
the latent vector has none: where there are more GPUs than heads, several hold the same ones.
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
    if known is None and side.config is None:
        return _tensorrt(_engine(side))
    return known


def kv_share(side: Side, kv: int, gpus: int) -> int:
    """Bytes of the `kv` of a token that each of `gpus` GPUs holds. Raises UnreadableModel."""
    heads = _heads(side)
    if heads is None or kv % heads:
        return -(-kv // gpus)  # by layers, as llama.cpp does, or nobody knows
    return kv // heads * -(-heads // gpus)


def _heads(side: Side) -> int | None:
    """Into how many parts the cache can be split; 1 for a latent vector."""
    config = side.config
    if config:
        if isinstance(text_config(config).get("kv_lora_rank"), int):
            return 1
        heads = effective(config, "key-value heads")
    else:
        engine = _engine(side)
        heads = engine.get("num_key_value_heads") or engine.get("num_attention_heads")
    return heads if isinstance(heads, int) and heads > 0 else None


def _engine(side: Side) -> dict[str, Any]:
    """pretrained_config of the only TensorRT-LLM engine."""
    found = list(side.engines.values())
    return found[0].model if len(found) == 1 else {}


def _tensorrt(model: dict[str, Any]) -> int | None:
    """The same of a TensorRT-LLM engine: the cache may be quantised to a byte."""
    layers, width = model.get("num_hidden_layers"), model.get("hidden_size")
    heads = model.get("num_attention_heads")
    own, each = model.get("num_key_value_heads") or heads, model.get("head_size")
    if not each and isinstance(width, int) and isinstance(heads, int) and heads > 0:
        each = width // heads
    match model.get("quantization"):
        case {"kv_cache_quant_algo": str()}:
            size = 1
        case _:
            size = 4 if model.get("dtype") == "float32" else 2
    if isinstance(layers, int) and isinstance(own, int) and isinstance(each, int):
        return 2 * layers * own * each * size or None
    return None


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
    size = 4 if "float32" in str(flat.get("torch_dtype") or flat.get("dtype")) else 2
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
    total = own
    if isinstance(own, list | tuple):
        counts = cast("list[object]", own)
        known = [count for count in counts if isinstance(count, int)]
        total = sum(known) if len(known) == len(counts) else None
    if isinstance(total, int) and total is own and isinstance(blocks, int):
        total *= blocks
    each = width // heads if isinstance(width, int) and isinstance(heads, int) and heads > 0 else None
    lengths = [model.get(f"attention.{part}_length") or each for part in ("key", "value")]
    if not isinstance(total, int) or not all(isinstance(length, int) for length in lengths):
        return None
    return total * sum(cast("list[int]", lengths)) * _HALF or None
