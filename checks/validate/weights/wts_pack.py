"""WTS-PACK: quantised weights are packed otherwise than the configuration says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from ....models.weights import WeightTable
from ....report.finding import Severity
from ..config.quantisation import method, quantisation
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .misfits import judge

RULE = Rule(
    id="WTS-PACK",
    name="packing-disagrees",
    family="WTS",
    severity=Severity.ERROR,
    summary="bits or group_size do not agree with the shapes of the packed weights",
    what="bits and group_size of a GPTQ or AWQ configuration against qweight, qzeros, scales and g_idx in the "
    "safetensors headers. GPTQ packs rows: qweight [in * bits / 32, out]; AWQ packs columns: qweight "
    "[in, out * bits / 32]; both have scales [in / group_size, out] and qzeros [in / group_size, out * bits / 32].",
    why="loading stops with a size mismatch after the old model was let go, or weights are unpacked wrongly and every "
    "answer is garbage",
    hint="ship the configuration that was saved with these weights",
    bad="bits 8, group_size 128, qweight [512, 4096], scales [32, 4096]",
    good="bits 4, group_size 128, qweight [512, 4096], scales [32, 4096]",
    example="text",
    exemptions=(
        "other methods, and other layouts of these two, such as Marlin and GEMV",
        "GPTQ with settings of its own for single modules (`dynamic`)",
    ),
    reads=("config", "safetensors"),
)

# Settings of single modules, and another layout.
_BY_MODULE = ("dynamic", "extra_config", "is_marlin_format")
_WORD = 32  # bits of the integers that hold packed weights


class Settings(NamedTuple):
    """`group` is how many inputs share a scale, -1 for all of them."""

    method: str
    bits: int
    group: int


def check(ctx: Context) -> Iterator[Finding]:
    """Judge NEW alone, and against an OLD that serves."""
    yield from judge(ctx, RULE, faults)


def faults(side: Side) -> list[tuple[str, list[str]]]:
    """(what does not agree, the tensors), one for each part of a module."""
    table = side.weights
    if table is None or side.config is None:
        return []
    settings = _settings(quantisation(side))
    if settings is None:
        return []
    odd: dict[str, list[str]] = defaultdict(list)
    for name in table.tensors:
        module, _, end = name.rpartition(".")
        if end == "qweight":
            part = _odd(table, module, settings)
            if part:
                odd[part].append(f"{module}.{part}")
    said = f"{settings.bits} bits and group_size {settings.group}"
    result: list[tuple[str, list[str]]] = []
    for tensors in odd.values():
        first = min(tensors)
        more = f", as {len(tensors) - 1} others" if len(tensors) > 1 else ""
        shape = ",".join(map(str, table.tensors[first].shape))
        qweight = ",".join(map(str, table.tensors[f"{first.rpartition('.')[0]}.qweight"].shape))
        result.append((f"'{first}' is [{shape}]{more}; {said} do not make it from qweight [{qweight}]", tensors))
    return result


def _settings(said: dict[str, Any]) -> Settings | None:
    name = method(said)
    layout = str(said.get("checkpoint_format") or said.get("version") or "").lower()
    if name not in ("gptq", "awq") or any(map(said.get, _BY_MODULE)):
        return None
    if layout not in ("", "gptq", "gptq_v2") if name == "gptq" else layout not in ("", "gemm"):
        return None
    bits = said.get("bits", said.get("w_bit"))
    group = said.get("group_size", said.get("q_group_size"))
    if bits not in (2, 3, 4, 8) or not isinstance(group, int) or (group != -1 and group <= 0):
        return None
    return Settings(name, bits, group)


def _odd(table: WeightTable, module: str, settings: Settings) -> str:
    """The first part of a module that does not agree with its qweight; empty where all do, or some are not there."""
    found = {part: table.tensors.get(f"{module}.{part}") for part in ("qweight", "qzeros", "scales", "g_idx")}
    shapes = {part: tensor.shape for part, tensor in found.items() if tensor is not None}
    qweight, scales = found["qweight"], found["scales"]
    if qweight is None or scales is None or qweight.dtype != "I32" or not len(qweight.shape) == len(scales.shape) == 2:
        return ""
    rows, columns = qweight.shape
    bits = settings.bits
    if settings.method == "gptq":
        inputs, outputs = rows * _WORD // bits, columns
    else:
        inputs, outputs = rows, columns * _WORD // bits
    groups = 1 if settings.group == -1 else -(-inputs // settings.group)
    wanted = {"scales": (groups, outputs), "qzeros": (groups, -(-outputs * bits // _WORD)), "g_idx": (inputs,)}
    return next((part for part, shape in wanted.items() if shapes.get(part, shape) != shape), "")
