"""Settings of standard operators, whichever way an exporter writes them: left to their default or not, as attributes or
as the inputs that they became, axes counted from the front.

The defaults are those of onnx.defs; tests/validate compares them.
"""

from __future__ import annotations

from collections.abc import Callable

from ....models.onnx_flow import Step
from ....models.onnx_values import Scalar, Values
from .operands import axis
from .reading import Reading

_DEFAULTS = """
AffineGrid align_corners=0
ArgMax select_last_index=0 keepdims=1 axis=0
ArgMin select_last_index=0 keepdims=1 axis=0
AveragePool count_include_pad=0 ceil_mode=0 auto_pad=NOTSET
BatchNormalization epsilon=1e-05
BlackmanWindow periodic=1
Celu alpha=1
ConcatFromSequence new_axis=0
Conv group=1 auto_pad=NOTSET
ConvTranspose group=1 auto_pad=NOTSET
CumProd reverse=0 exclusive=0
CumSum reverse=0 exclusive=0
DFT inverse=0 onesided=0
DepthToSpace mode=DCR
Elu alpha=1
EyeLike k=0
Gather axis=0
GatherElements axis=0
GatherND batch_dims=0
Gelu approximate=none
Gemm beta=1 transB=0 alpha=1 transA=0
GlobalLpPool p=2
GridSample align_corners=0 padding_mode=zeros mode=linear
GroupNormalization epsilon=1e-05
HammingWindow periodic=1
HannWindow periodic=1
HardSigmoid beta=0.5 alpha=0.2
InstanceNormalization epsilon=1e-05
IsInf detect_negative=1 detect_positive=1
LRN bias=1 beta=0.75 alpha=0.0001
LayerNormalization epsilon=1e-05 axis=-1
LeakyRelu alpha=0.01
LpNormalization p=2 axis=-1
LpPool p=2 auto_pad=NOTSET ceil_mode=0
MaxPool storage_order=0 ceil_mode=0 auto_pad=NOTSET
MaxRoiPool spatial_scale=1
Mod fmod=0
NonMaxSuppression center_point_box=0
OneHot axis=-1
Pad mode=constant value=0
Resize keep_aspect_ratio_policy=stretch antialias=0 extrapolation_value=0 exclude_outside=0 cubic_coeff_a=-0.75
Resize nearest_mode=round_prefer_floor coordinate_transformation_mode=half_pixel mode=nearest
RMSNormalization epsilon=1e-05 axis=-1
ReverseSequence batch_axis=1 time_axis=0
RoiAlign coordinate_transformation_mode=half_pixel mode=avg output_height=1 sampling_ratio=0 output_width=1
RoiAlign spatial_scale=1
STFT onesided=1
Scatter axis=0
ScatterElements reduction=none axis=0
ScatterND reduction=none
Selu gamma=1.0507 alpha=1.67326
Shrink bias=0 lambd=0.5
Split axis=0
SplitToSequence keepdims=1 axis=0
StringNormalizer is_case_sensitive=0 case_change_action=NONE
Swish alpha=1
ThresholdedRelu alpha=1
TopK sorted=1 largest=1 axis=-1
Trilu upper=1
Unique sorted=1
Upsample mode=nearest
"""
DEFAULTS: dict[str, dict[str, str]] = {}
for _line in _DEFAULTS.split("\n"):
    if _line:
        _op, *_said = _line.split()
        DEFAULTS.setdefault(_op, {}).update({name: said for name, _, said in (each.partition("=") for each in _said)})
_REDUCE = {"keepdims": "1"}
# Attributes that became inputs, by place.
_MOVED: dict[str, dict[str, int]] = {
    "Clip": {"min": 1, "max": 2},
    "Pad": {"pads": 1, "value": 2, "axes": 3},
    "Slice": {"starts": 1, "ends": 2, "axes": 3, "steps": 4},
    "TopK": {"k": 1},
    "Split": {"split": 1},
    "Resize": {"scales": 2, "sizes": 3},
    "Upsample": {"scales": 1},
    "DFT": {"dft_length": 1, "axis": 2},
    "CumSum": {"axis": 1},
    "Tile": {"repeats": 1},
    "OneHot": {"depth": 1, "values": 2},
}
# What a reading of the settings alone can tell nothing by, or another rule reads.
_NOTES = frozenset({"stash_type", "noop_with_empty_axes", "output_datatype", "num_outputs", "scan_input_axes"}) | {
    *("consumed_inputs", "is_test", "momentum", "training_mode", "allowzero", "round_mode", "saturate"),
}
_MODES = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}
_ONES, _ZEROS = frozenset({"strides", "dilations", "steps"}), frozenset({"pads", "output_padding"})
_AXES = frozenset({"axis", "axes"})
_COERCED = frozenset({"Softmax", "LogSoftmax", "Hardmax"})
_FAR = 1 << 30  # an end beyond any size
Settings = dict[str, Values]


def places(step: Step) -> dict[str, int]:
    """The inputs of an operator that are settings."""
    if step.domain:
        return {}
    if step.op.startswith("Reduce"):
        return {"axes": 1}
    if step.op == "Resize" and len(step.inputs) == 2:
        return {"scales": 1}
    return _MOVED.get(step.op, {})


def told(reading: Reading, step: Step, rank: int | None, constant: Callable[[int], bool]) -> Settings:
    """The settings of a step by name; what a graph computes is left out. `rank` is that of its first input."""
    found: Settings = {}
    defaults = _REDUCE if step.op.startswith("Reduce") else DEFAULTS.get(step.op, {})
    for name, default in defaults.items():
        found[name] = (_scalar(default),)
    if step.op in ("Resize", "Upsample") and (step.op == "Upsample" or step.version < 11):
        found["coordinate_transformation_mode"], found["nearest_mode"] = ("asymmetric",), ("floor",)
    for name in step.attributes:
        if name not in _NOTES and not name.startswith("__") and (said := reading.setting(step, name)):
            found[name] = said
    for name, place in places(step).items():
        if place < len(step.inputs) and step.inputs[place]:
            found.pop(name, None)
            said = reading.values(step.inputs[place]) if constant(step.inputs[place]) else None
            if said:
                found[name] = said
    if step.op in _COERCED:
        found["axis"] = (axis(reading, step),)
    return _plain(step.op, found, rank)


def _plain(op: str, found: Settings, rank: int | None) -> Settings:
    """Without what changes nothing."""
    if op in ("Resize", "Upsample", "GridSample"):
        mode = str(found.get("mode", ("nearest",))[0])
        found["mode"] = (_MODES.get(mode, mode),)
    if op in ("Resize", "Upsample"):
        unused = {"nearest": "nearest_mode", "cubic": "cubic_coeff_a"}
        for kind, name in unused.items():
            if found["mode"] != (kind,):
                found.pop(name, None)
        if found.get("coordinate_transformation_mode") != ("tf_crop_and_resize",):
            found.pop("extrapolation_value", None)
    elif op in ("QuantizeLinear", "DequantizeLinear"):
        found.pop("axis", None)  # of one scale it says nothing, and several are trained
    elif op == "Pad" and found["mode"] != ("constant",):
        found.pop("value", None)
    elif op == "Slice":
        found["ends"] = tuple(min(each, _FAR) if isinstance(each, int) else each for each in found.get("ends", ()))
        if "axes" not in found and (ends := found["ends"]):
            found["axes"] = tuple(range(len(ends)))
    for name in list(found):
        said = found[name]
        if not said or (name in _ONES and set(said) == {1}) or (name in _ZEROS and set(said) == {0}):
            del found[name]
        elif name in _AXES and rank:
            found[name] = tuple(each + rank if isinstance(each, int) and each < 0 else each for each in said)
    if rank and op.startswith("Reduce") and set(found.get("axes", ())) == set(range(rank)):
        del found["axes"]  # all of them, as without any
    return found


def _scalar(text: str) -> Scalar:
    if text.removeprefix("-").isdecimal():
        return int(text)
    return float(text) if text[-1].isdecimal() else text
