"""Whether weights of eight bits have the scales, and weights of any size the form, that their configuration promises.

Names are those of compressed-tensors, ModelOpt, AutoFP8 and DeepSeek's blocks: `weight_scale` or `weight_scale_inv`
beside `weight`, and `input_scale` where activations are scaled by numbers that were measured beforehand.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ....models.weights import WeightTable

# What a tensor of the form is called, or of which types it is; other formats of compressed-tensors are left alone.
_FORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "pack-quantized": ("weight_packed", ("I32",)),
    "nvfp4-pack-quantized": ("weight_packed", ("U8",)),
    "float-quantized": ("weight", ("F8_E4M3", "F8_E5M2")),
    "int-quantized": ("weight", ("I8",)),
}


def unscaled(name: str, settings: dict[str, Any], table: WeightTable) -> tuple[str, str] | None:
    """(what does not agree, a tensor) for weights quantised by the method `name`; None where nothing is odd."""
    form = settings.get("format") if name == "compressed-tensors" else None
    if isinstance(form, str) and form in _FORMS and not _held(table, *_FORMS[form]):
        first = next(iter(table.tensors))
        word, types = _FORMS[form]
        return f"format is {form}, but no '{word}' is {' or '.join(types)}", first
    weights = [
        tensor
        for tensor, entry in table.tensors.items()
        if tensor.endswith(".weight") and entry.dtype.startswith("F8_E") and len(entry.shape) == 2
    ]
    if not weights:
        return None
    scales: dict[str, list[str]] = defaultdict(list)
    for tensor in table.tensors:
        module, _, word = tensor.rpartition(".")
        if "scale" in word:
            scales[module].append(word)
    static = name == "fp8" and settings.get("activation_scheme") == "static"
    for weight in weights:
        words = scales.get(weight.removesuffix(".weight"), [])
        if not any("input" not in word and "act" not in word for word in words):
            return f"'{weight}' is {table.tensors[weight].dtype} and has no scale beside it", weight
        if static and not any("input" in word or "act" in word for word in words):
            return f"activation_scheme is static, but '{weight}' has no input_scale beside it", weight
    return _blocks(settings.get("weight_block_size"), table, weights)


def _held(table: WeightTable, word: str, types: tuple[str, ...]) -> bool:
    return any(tensor.rpartition(".")[2] == word and entry.dtype in types for tensor, entry in table.tensors.items())


def _blocks(size: Any, table: WeightTable, weights: list[str]) -> tuple[str, str] | None:
    """One scale for each block of `size`, those at the edges being cut."""
    match size:
        case [int(high), int(wide)] if high > 0 and wide > 0:
            pass
        case _:
            return None
    for weight in weights:
        scale = next((f"{weight}{end}" for end in ("_scale_inv", "_scale") if f"{weight}{end}" in table.tensors), "")
        rows, columns = table.tensors[weight].shape
        shape = [-(-rows // high), -(-columns // wide)]
        if scale and list(table.tensors[scale].shape) != shape:
            found = list(table.tensors[scale].shape)
            return f"'{scale}' is {found}, but blocks of {[high, wide]} of [{rows}, {columns}] make {shape}", scale
    return None
