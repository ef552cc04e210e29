"""What is known of the values that an operator near an output makes: probabilities, a range, integers, columns."""

from __future__ import annotations

from ....models.onnx_flow import Step
from ....models.onnx_values import Values, setting
from .classes import CLASSIFIERS, LOOKUPS, MAPS
from .families import ACTIVATIONS
from .meanings import Meaning, affine, inputs_of, meaning, op_of
from .reading import SHAPING, TRANSPARENT, Reading, floats, integral, textual

_BOUNDED = frozenset({"Softmax", "Sigmoid", "HardSigmoid", "Tanh", "Clip", "LogSoftmax", "Hardmax", "Normalizer"})
_MARGIN = 1e-4  # from 0 and 1: what keeps a logarithm finite
_PROBABLE = frozenset({"LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"})
# Where an operator's inputs hold the scale of the integers that it makes; the zero point follows.
_SCALES = {
    **dict.fromkeys(("QLinearConv", "QLinearMatMul", "QLinearAdd", "QLinearMul"), 6),
    **dict.fromkeys(("QLinearSoftmax", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearGlobalAveragePool"), 3),
    "QuantizeLinear": 1,
    "QGemm": 7,
    "QLinearConcat": 0,
    "QLinearAveragePool": 3,
}
_SINGLE = frozenset({"Add", "Sub", "Mul", "Div", "Relu", "Neg", "Exp", "Clip"})
_LONG = 20


def _complement(reading: Reading, value: int) -> bool:
    """Whether a value is 1 - p."""
    inputs = inputs_of(reading, value)
    return op_of(reading, value) == "Sub" and reading.values(inputs[0]) == (1.0,)


def quantised(reading: Reading, found: Meaning) -> tuple[Values, Values] | None:
    """Scale and zero point of the integers that an operator makes, None where it makes none or they are computed."""
    place = _SCALES.get(found.step.op)
    inputs = found.step.inputs
    if place is None or place >= len(inputs) or (scale := reading.values(inputs[place])) is None:
        return None
    zero = reading.values(inputs[place + 1]) if place + 1 < len(inputs) and inputs[place + 1] else None
    return scale, zero or (0,)


def decoded(reading: Reading, found: Meaning) -> int:
    """The index or key that an operator turns into a label, 0 where it is another operator."""
    if found.op in MAPS:
        return found.inputs[0]
    held = reading.held(found.inputs[0]) if found.op in LOOKUPS else None
    return found.inputs[1] if textual(held) or integral(held) else 0


def shared(reading: Reading, found: Meaning) -> bool:
    """Whether values are probabilities that add up to one."""
    if found.op == "Normalizer":
        return reading.scalar(found.step, "norm", "MAX") == "L1"
    if found.op in CLASSIFIERS:
        return probable(reading, found.step)
    if found.op == "Concat":
        return any(_complement(reading, each) for each in found.inputs)
    return found.op in ("Softmax", "Share", "Mean", "ReduceMean")


def width(reading: Reading, value: int) -> int:
    """How many columns the product that makes a value has, through what changes each number by itself; 0: not known."""
    for _ in range(_LONG):
        made = reading.maker(reading.plain(value))
        if made is None or made[0].domain or len(made[0].inputs) < 1:
            break
        step = made[0]
        if step.op in ("MatMul", "Gemm") and (held := reading.flow.held.get(step.inputs[1])) and held.dims:
            return held.dims[0 if reading.number(step, "transB", 0) else -1]
        if step.op not in ACTIVATIONS | _SINGLE:
            break
        value = next((each for each in step.inputs if each and reading.held(each) is None), 0)
    return 0


def probable(reading: Reading, step: Step) -> bool:
    """Whether a classifier of ai.onnx.ml gives probabilities: by its transform, or because its leaves hold them."""
    transformed = reading.scalar(step, "post_transform", "NONE") in _PROBABLE
    leaves = step.attributes.get("class_weights")
    if leaves is None:
        return transformed != ("prob_a" in step.attributes)
    first = setting(reading.source, leaves, first=4096) or ()
    return transformed != all(isinstance(each, float) and -1e-6 <= each <= 1 + 1e-6 for each in first)


def normalised(reading: Reading, found: Meaning) -> bool:
    """Whether activations of classes are divided by their sum."""
    if found.op != "Share":
        return False
    behind = found.inputs[0]
    values = (behind, *inputs_of(reading, behind)) if op_of(reading, behind) == "Add" else (behind,)
    inner = [meaning(reading, reading.plain(each)) for each in values]
    return any(each is not None and each.op in ACTIVATIONS for each in inner)


def clipped(reading: Reading, step: Step) -> bool:
    """Whether a Clip only keeps probabilities where they are anyway: from 0 to 1."""
    low, high = (
        floats(
            reading.setting(step, name) or (reading.values(step.inputs[place]) if place < len(step.inputs) else None)
        )
        for name, place in (("min", 1), ("max", 2))
    )
    wide = (not low or low[0] <= _MARGIN) and (not high or high[0] >= 1 - _MARGIN)
    inner = meaning(reading, reading.plain(step.inputs[0])) if wide else None
    return inner is not None and (inner.op in ("Softmax", "Sigmoid") or normalised(reading, inner))


def bounded(reading: Reading, found: Meaning) -> bool:
    """Whether what is scaled here has a fixed range, so that its scale is the client's."""
    for _ in range(8):
        rest = [reading.plain(each) for each in found.inputs if each and reading.held(each) is None]
        inner = meaning(reading, rest[0]) if len(rest) == 1 else None
        if inner is None:
            return False
        if inner.op in _BOUNDED:
            return True
        if affine(reading, inner) is None and inner.op not in SHAPING | TRANSPARENT | {"Transpose"}:
            return False
        found = inner
    return False
