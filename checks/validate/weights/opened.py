"""Which weights a loader opens: by name, and not every loader the same ones.

`transformers` opens model.safetensors, else what model.safetensors.index.json names, else pytorch_model.bin or what its
index names; nothing else, whatever lies there (modeling_utils, order of SAFE_WEIGHTS_NAME, SAFE_WEIGHTS_INDEX_NAME).
vLLM and SGLang take every *.safetensors file, or those that the index names where there is one.
"""

from __future__ import annotations

import re

from ....models.safetensors import shard_of
from ....models.weights import WeightTable
from ..config.quantisation import declared
from ..delta import Files
from ..rulebase import Context
from ..side import Side

_OPENED = re.compile(
    r"(model(\.\w+)?\.safetensors|model\.safetensors\.index(\.\w+)?\.json|tf_model\.h5|flax_model\.msgpack"
    r"|pytorch_model(\.\w+)?\.bin|pytorch_model\.bin\.index(\.\w+)?\.json)"
)
_OTHERS = frozenset({"gguf", "onnx", "engine"})
_SAMPLES = 8
_SAMPLE = 256


def unopened(side: Side) -> str | None:
    """Why `transformers` opens none of the safetensors files in the top folder, None where it opens some."""
    config, tree = side.config, side.tree
    if tree.single or config is None or not isinstance(config.get("model_type"), str):
        return None
    if not isinstance(config.get("architectures"), list) or config.get("transformers_weights"):
        return None
    top = [name for name in tree.files if "/" not in name]
    if any(map(_OPENED.fullmatch, top)) or "params.json" in top or not tree.kinds.isdisjoint(_OTHERS):
        return None
    files = [name for name in top if tree.files[name].kind == "safetensors" and not name.startswith("adapter_model")]
    shards = [name for name in files if shard_of(name)]
    if shards:
        return f"there are {len(shards)} shards, but no model.safetensors.index.json, without which none is opened"
    if not files or declared(config):
        return None  # quantisers name the file themselves
    return f"'{files[0]}' is not opened: loaders look for model.safetensors or its index"


def takes_all(ctx: Context) -> bool:
    """Whether the server is declared to be one that takes every safetensors file."""
    named = f"{ctx.contract.server} {' '.join(ctx.contract.runtimes)}".lower()
    return "vllm" in named or "sglang" in named


def same_values(side: Side, one: WeightTable, other: WeightTable) -> bool:
    """Whether the tensors of two sets of one model agree in type, shape and samples of their bytes."""
    if one.tensors.keys() != other.tensors.keys():
        return False
    with Files() as files:
        for name, tensor in one.tensors.items():
            twin = other.tensors[name]
            if (tensor.dtype, tensor.shape) != (twin.dtype, twin.shape):
                return False
            a, b = side.tree.files[tensor.file], side.tree.files[twin.file]
            if a.partial or b.partial:
                continue
            room, length = max(0, tensor.size - _SAMPLE), min(_SAMPLE, tensor.size)
            for offset in {room * step // (_SAMPLES - 1) for step in range(_SAMPLES)}:
                before = files.read(str(a.path), tensor.begin + offset, length)
                if before != files.read(str(b.path), twin.begin + offset, length):
                    return False
    return True
