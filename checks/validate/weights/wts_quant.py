"""WTS-QUANT: the configuration and the weights disagree on whether the weights are quantised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ....models.hf_config import text_config
from ....models.weights import WeightTable
from ....report.finding import Severity
from ..config.quantisation import FILES, declared, flat, method
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .scales import unscaled

RULE = Rule(
    id="WTS-QUANT",
    name="quantization-disagrees",
    family="WTS",
    severity=Severity.ERROR,
    summary="the configuration says that the weights are quantised and they are not, or otherwise, or the other way "
    "around",
    what="quantization_config of config.json against the names and types in the headers: packed weights, scales and "
    "zero points; for weights of eight bits the scales beside each, input scales where activation_scheme is static, "
    "the shape that weight_block_size gives them, and the format of compressed-tensors.",
    why="the server allocates packed weights and scales that nobody fills, or finds tensors that it has no place for: "
    "loading fails, or every answer is garbage",
    hint="ship the configuration that was saved with these weights",
    bad='{"quantization_config": {"quant_method": "gptq", "bits": 4}} with F16 weights and no qweight',
    good='{"quantization_config": {"quant_method": "gptq", "bits": 4}} with qweight, qzeros and scales',
    example="text",
    exemptions=(
        "methods that quantise plain weights while they load, such as bitsandbytes and torchao",
        "quantised weights with hf_quant_config.json, quantize_config.json or quant_config.json beside them",
    ),
    reads=("config", "safetensors"),
)

# Methods whose loaders read packed weights or scales from the file and cannot make them.
_STORED = frozenset({"gptq", "awq", "fp8", "fbgemm_fp8", "modelopt", "modelopt_fp4", "compressed-tensors"})
_PLAIN = frozenset({"F16", "BF16", "F32", "F64"})
# Last words of names that only quantised weights have.
_PARTS = (
    "qweight",
    "qzeros",
    "scales",
    "scale",
    "scale_inv",
    "absmax",
    "q_weight",
    "b",
    "s",
    "blocks",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Judge NEW; what OLD has just the same is a note, since it serves."""
    fault = _fault(ctx.new)
    if fault is None:
        return
    known = ctx.old is not None and _fault(ctx.old) == fault
    message, tensor = fault
    yield ctx.finding(
        RULE,
        "hot" if known else "breaks",
        message + (", as in the live version" if known else ""),
        path="config.json",
        pointer="/quantization_config",
        tensor=tensor,
    )


def _fault(side: Side) -> tuple[str, str] | None:
    config, table = side.config, side.weights
    if config is None or table is None or not table.tensors or not isinstance(config.get("architectures"), list):
        return None
    settings = declared(config)
    if settings:
        return _unfilled(settings, table)
    if any(name in side.tree.files for name in FILES) or any("quant" in key for key in text_config(config)):
        return None  # another stack's way to say it
    return _undeclared(table)


def _unfilled(settings: dict[str, Any], table: WeightTable) -> tuple[str, str] | None:
    name = method(settings)
    if name not in _STORED or not _on_weights(name, settings):
        return None
    for tensor, entry in table.tensors.items():
        if entry.dtype not in _PLAIN or tensor.rpartition(".")[2].rpartition("weight_")[2].lower() in _PARTS:
            if tensor.endswith((".k_scale", ".v_scale", ".position_ids", ".inv_freq")):
                continue
            return unscaled(name, settings, table)
    first = next((each for each in table.tensors if each.endswith("_proj.weight")), next(iter(table.tensors)))
    return f"quantised with {name}, says the configuration, but every tensor is plain", first


def _on_weights(name: str, settings: dict[str, Any]) -> bool:
    """Whether the method is said to be on the weights, not on the KV cache or activations alone."""
    if name.startswith("modelopt"):
        return bool(flat(settings).get("quant_algo"))
    if name != "compressed-tensors":
        return True
    match settings:
        case {"config_groups": {**groups}} if settings.get("quantization_status", "compressed") == "compressed":
            kinds = cast("dict[str, Any]", groups).values()
            return any(isinstance(each, dict) and "weights" in each for each in kinds)
        case _:
            return False


def _undeclared(table: WeightTable) -> tuple[str, str] | None:
    for tensor, entry in table.tensors.items():
        packed = tensor.endswith(".qweight") and entry.dtype in ("I32", "U32", "I16")
        scaled = tensor.endswith(".weight") and entry.dtype.startswith("F8_") and _scale(table, tensor)
        whole = tensor.endswith(".weight") and entry.dtype in ("I8", "U8") and len(entry.shape) == 2
        if packed or scaled or whole:
            return f"'{tensor}' is quantised, but nothing says with which method", tensor
    return None


def _scale(table: WeightTable, tensor: str) -> bool:
    return any(f"{tensor}{end}" in table.tensors for end in ("_scale", "_scale_inv"))
