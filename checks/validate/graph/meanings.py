"""What an operator near an output means, however an exporter wrote it down."""

from __future__ import annotations

from typing import NamedTuple

from ....models.onnx_flow import Step
from ....models.onnx_values import Values, setting
from .classes import CLASSIFIERS, LOOKUPS, MAPS
from .families import ACTIVATIONS
from .reading import SHAPING, TRANSPARENT, Reading, integral, textual

_PRODUCTS = frozenset({"MatMul", "Gemm", "Conv", "ConvTranspose", "MatMulInteger", "FusedMatMul", "LinearRegressor"})
_BOUNDED = frozenset({"Softmax", "Sigmoid", "HardSigmoid", "Tanh", "Clip", "LogSoftmax", "Hardmax", "Normalizer"})
_MARGIN = 1e-4  # from 0 and 1: what keeps a logarithm finite
_PROBABLE = frozenset({"LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"})
# Operators of ONNX Runtime that end in an activation; others name theirs in an attribute.
_FUSED = {"BiasSoftmax": "Softmax", "QLinearSoftmax": "Softmax", "QLinearSigmoid": "Sigmoid"}
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
_SAME = {"GreaterOrEqual": "Greater", "LessOrEqual": "Less", "Upsample": "Resize"}


class Meaning(NamedTuple):
    """An operator as it is meant: decomposed activations count as themselves."""

    op: str
    inputs: tuple[int, ...]
    step: Step
    place: int = 0


class Affine(NamedTuple):
    """A scale or offset by one number: of which value, and whether it changes anything, or turns its order round."""

    value: int
    changes: bool
    reverses: bool
    shown: str


def meaning(reading: Reading, value: int) -> Meaning | None:
    """The operator that makes a value, None for inputs and constants."""
    made = reading.maker(value)
    if made is None:
        return None
    step, place = made
    if step.domain and step.domain != "ai.onnx.ml" and step.op not in ("QuantizeLinear", "DequantizeLinear"):
        fused = _FUSED.get(step.op) or str(reading.scalar(step, "activation", ""))
        known = fused in ACTIVATIONS and step.inputs
        return Meaning(fused if known else f"{step.domain}.{step.op}", step.inputs, step, place)
    behind = [_op(reading, each) for each in step.inputs]
    op, inputs = _SAME.get(step.op, step.op), step.inputs
    if op == "Div" and behind[0] == "Exp" and behind[1] == "ReduceSum":
        op, inputs = "Softmax", _inputs(reading, step.inputs[0])
    elif (op == "Div" and reading.values(step.inputs[0]) == (1.0,) and _logistic(reading, step.inputs[1])) or (
        op == "Reciprocal" and _logistic(reading, step.inputs[0])
    ):
        power = _inputs(reading, next(v for v in _inputs(reading, step.inputs[-1]) if _op(reading, v) == "Exp"))
        plain = _negated(reading, power[0])
        op, inputs = ("Sigmoid", (plain,)) if plain else ("1 - Sigmoid", power)
    elif (op == "Log" and behind[0] == "Softmax") or (op == "Sub" and _log_sum(reading, inputs[1])):
        op = "LogSoftmax"
    elif op == "Exp" and behind[0] == "LogSoftmax" and (inner := reading.maker(reading.plain(inputs[0]))):
        op, inputs, step = "Softmax", inner[0].inputs, inner[0]._replace(op="Softmax")
    elif op == "Exp" and behind[0] == "Sub" and _log_sum(reading, _inputs(reading, inputs[0])[1]):
        op, inputs = "Softmax", _inputs(reading, inputs[0])
    elif op == "Div" and _sums(reading, inputs[1], 5):
        op = "Share"
    elif op == "Div" and behind[0] in ("Sum", "Add", "ReduceSum") and reading.values(inputs[1]) is not None:
        op = "Mean"
    elif op == "Mul" and "Sigmoid" in behind and len(inputs) == 2:
        gate, other = (0, 1) if behind[0] == "Sigmoid" else (1, 0)
        if reading.plain(inputs[other]) in map(reading.plain, _inputs(reading, inputs[gate])):
            op = "Swish"
    return Meaning(op, inputs, step, place)


def _op(reading: Reading, value: int) -> str:
    made = reading.maker(reading.plain(value)) if value else None
    return made[0].op if made is not None and not made[0].domain else ""


def _inputs(reading: Reading, value: int) -> tuple[int, ...]:
    made = reading.maker(reading.plain(value))
    return made[0].inputs if made is not None else ()


def _logistic(reading: Reading, value: int) -> bool:
    """Whether a value is 1 + exp(…)."""
    inputs = _inputs(reading, value)
    return (
        _op(reading, value) == "Add"
        and any(_op(reading, each) == "Exp" for each in inputs)
        and any(reading.values(each) == (1.0,) for each in inputs)
    )


def _negated(reading: Reading, value: int) -> int:
    """The value of which this one is the negative, perhaps scaled or moved; 0 where it is none."""
    made = reading.maker(reading.plain(value))
    if made is None or made[0].domain:
        return 0
    step, place = made
    if step.op == "Neg":
        return step.inputs[0]
    found = affine(reading, Meaning(step.op, step.inputs, step, place))
    return found.value if found is not None and found.reverses else 0


def _log_sum(reading: Reading, value: int) -> bool:
    """Whether a value is log(sum(exp(…)))."""
    op, inputs = _op(reading, value), _inputs(reading, value)
    return op == "ReduceLogSumExp" or (op == "Log" and _op(reading, inputs[0]) == "ReduceSum")


def _sums(reading: Reading, value: int, left: int) -> bool:
    """Whether a value is a sum over an axis, perhaps guarded against zero."""
    op = _op(reading, value)
    if op in ("Add", "Where", "Max", "Clip", "Cast", "Sub", "Mul") and left:
        return any(_sums(reading, each, left - 1) for each in _inputs(reading, value) if each)
    return op in ("ReduceSum", "Sum")


def _complement(reading: Reading, value: int) -> bool:
    """Whether a value is 1 - p."""
    inputs = _inputs(reading, value)
    return _op(reading, value) == "Sub" and reading.values(inputs[0]) == (1.0,)


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


def affine(reading: Reading, found: Meaning) -> Affine | None:
    """The one number that an operator adds to or multiplies with a computed value."""
    made = reading.maker(found.inputs[0]) if found.op == "DequantizeLinear" else None
    if made is not None and (factor := reading.rescaled(found.step)):
        return Affine(made[0].inputs[0], True, factor < 0, f"by {factor:g}")
    if found.op not in ("Add", "Sub", "Mul", "Div", "Pow") or len(found.inputs) != 2:
        return None
    for place in (1, 0):
        said = reading.values(found.inputs[place])
        if said and isinstance(said[0], int | float) and all(each == said[0] for each in said):
            neutral = 0 if found.op in ("Add", "Sub") else 1
            same = said[0] == neutral and (place == 1 or found.op in ("Add", "Mul"))
            shown = f"{said[0]:g}" if place else f"from {said[0]:g}"
            negative = said[0] < 0 if found.op in ("Mul", "Div") else found.op == "Sub" and place == 0
            return Affine(found.inputs[1 - place], not same, negative, shown)
    return None


def bias(reading: Reading, found: Meaning) -> bool:
    """Whether an Add is the bias of a product, which is trained with it."""
    if found.op not in ("Add", "Sub") or (found.op == "Sub" and reading.held(found.inputs[0]) is not None):
        return False
    for each in found.inputs:
        made = reading.maker(reading.plain(each)) if reading.held(each) is None else None
        if made is not None and made[0].op in _PRODUCTS:
            if made[0].op == "MatMul" and not any(_weight(reading, value) for value in made[0].inputs):
                return False  # what a client sends, or two computed values: nothing was trained with it
            return len([value for value in made[0].inputs if value]) < 3 or made[0].op == "FusedMatMul"
    return False


def _weight(reading: Reading, value: int) -> bool:
    """Whether a value is a weight, perhaps turned or made of integers."""
    made = reading.maker(reading.plain(value))
    turned = made is not None and made[0].op == "Transpose" and bool(made[0].inputs)
    return reading.held(value) is not None or (turned and made is not None and _weight(reading, made[0].inputs[0]))


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
    values = (behind, *_inputs(reading, behind)) if _op(reading, behind) == "Add" else (behind,)
    inner = [meaning(reading, reading.plain(each)) for each in values]
    return any(each is not None and each.op in ACTIVATIONS for each in inner)


def clipped(reading: Reading, step: Step) -> bool:
    """Whether a Clip only keeps probabilities where they are anyway: from 0 to 1."""
    low, high = (
        reading.setting(step, name) or (reading.values(step.inputs[place]) if place < len(step.inputs) else None)
        for name, place in (("min", 1), ("max", 2))
    )
    wide = (not low or float(low[0]) <= _MARGIN) and (not high or float(high[0]) >= 1 - _MARGIN)
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
