"""What an operator near an output means, however an exporter wrote it down."""

from __future__ import annotations

from math import isclose
from typing import Literal, NamedTuple

from ....models.onnx_flow import Step
from .families import ACTIVATIONS
from .reading import Reading

_PRODUCTS = frozenset({"MatMul", "Gemm", "Conv", "ConvTranspose", "MatMulInteger", "FusedMatMul", "LinearRegressor"})
# Operators of ONNX Runtime that end in an activation; others name theirs in an attribute.
_FUSED = {"BiasSoftmax": "Softmax", "QLinearSoftmax": "Softmax", "QLinearSigmoid": "Sigmoid"}
_SAME = {"GreaterOrEqual": "Greater", "LessOrEqual": "Less", "Upsample": "Resize"}
_MIRRORED = {"Greater": "Less", "Less": "Greater"}
_TURNS = 8
_ROUNDING = 1e-3  # what sixteen bits leave of a constant


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
    kind: Literal["plus", "minus from", "times", "divided from", "power"] = "times"
    by: float = 1.0

    def equals(self, other: Affine) -> bool:
        """Whether both do the same, by whatever operator."""
        return self.kind == other.kind and isclose(self.by, other.by, rel_tol=_ROUNDING)


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
    behind = [op_of(reading, each) for each in step.inputs]
    op, inputs = _SAME.get(step.op, step.op), step.inputs
    if op == "Div" and behind[0] == "Exp" and behind[1] == "ReduceSum":
        op, inputs = "Softmax", inputs_of(reading, step.inputs[0])
    elif (op == "Div" and reading.values(step.inputs[0]) == (1.0,) and _logistic(reading, step.inputs[1])) or (
        op == "Reciprocal" and _logistic(reading, step.inputs[0])
    ):
        power = inputs_of(reading, next(v for v in inputs_of(reading, step.inputs[-1]) if op_of(reading, v) == "Exp"))
        plain = _negated(reading, power[0])
        op, inputs = ("Sigmoid", (plain,)) if plain else ("1 - Sigmoid", power)
    elif (op == "Log" and behind[0] == "Softmax") or (op == "Sub" and _log_sum(reading, inputs[1])):
        op = "LogSoftmax"
    elif op == "Exp" and behind[0] == "LogSoftmax" and (inner := reading.maker(reading.plain(inputs[0]))):
        op, inputs, step = "Softmax", inner[0].inputs, inner[0]._replace(op="Softmax")
    elif op == "Exp" and behind[0] == "Sub" and _log_sum(reading, inputs_of(reading, inputs[0])[1]):
        op, inputs = "Softmax", inputs_of(reading, inputs[0])
    elif op == "Div" and _sums(reading, inputs[1], 5):
        op = "Share"
    elif op in _MIRRORED and len(inputs) == 2 and reading.held(inputs[0]) is not None:
        op, inputs = _MIRRORED[op], inputs[::-1]
    elif op == "Not" and _SAME.get(behind[0], behind[0]) in _MIRRORED:
        inner = meaning(reading, reading.plain(inputs[0]))
        op, inputs = (_MIRRORED[inner.op], inner.inputs) if inner is not None else (op, inputs)
    elif gone := _turned(reading, step):
        op, inputs = "Neg", (gone,)
    elif op == "Add" and len(inputs) == 2 and (terms := _difference(reading, inputs)):
        op, inputs = "Sub", terms
    elif op == "Div" and behind[0] in ("Sum", "Add", "ReduceSum") and reading.values(inputs[1]) is not None:
        op = "Mean"
    elif op == "Mul" and "Sigmoid" in behind and len(inputs) == 2:
        gate, other = (0, 1) if behind[0] == "Sigmoid" else (1, 0)
        if reading.plain(inputs[other]) in map(reading.plain, inputs_of(reading, inputs[gate])):
            op = "Swish"
    return Meaning(op, inputs, step, place)


def op_of(reading: Reading, value: int) -> str:
    made = reading.maker(reading.plain(value)) if value else None
    return made[0].op if made is not None and not made[0].domain else ""


def inputs_of(reading: Reading, value: int) -> tuple[int, ...]:
    made = reading.maker(reading.plain(value))
    return made[0].inputs if made is not None else ()


def _logistic(reading: Reading, value: int) -> bool:
    """Whether a value is 1 + exp(…)."""
    inputs = inputs_of(reading, value)
    return (
        op_of(reading, value) == "Add"
        and any(op_of(reading, each) == "Exp" for each in inputs)
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


def _turned(reading: Reading, step: Step | None) -> int:
    """The value of which a step makes the negative by itself, 0 where it makes something else."""
    if step is None or step.domain:
        return 0
    if step.op in ("Mul", "Div") and len(step.inputs) == 2:
        for place in (1, 0) if step.op == "Mul" else (1,):
            if set(reading.values(step.inputs[place]) or ()) == {-1.0}:
                return step.inputs[1 - place]
    return step.inputs[0] if step.op == "Neg" else 0


def _difference(reading: Reading, inputs: tuple[int, ...]) -> tuple[int, int] | None:
    """a - b, where it is written as a + -b."""
    for place in (0, 1):
        made = reading.maker(reading.plain(inputs[place]))
        if gone := _turned(reading, made[0] if made is not None else None):
            return inputs[1 - place], gone
    return None


def _log_sum(reading: Reading, value: int) -> bool:
    """Whether a value is log(sum(exp(…)))."""
    op, inputs = op_of(reading, value), inputs_of(reading, value)
    return op == "ReduceLogSumExp" or (op == "Log" and op_of(reading, inputs[0]) == "ReduceSum")


def _sums(reading: Reading, value: int, left: int) -> bool:
    """Whether a value is a sum over an axis, perhaps guarded against zero."""
    op = op_of(reading, value)
    if op in ("Add", "Where", "Max", "Clip", "Cast", "Sub", "Mul") and left:
        return any(_sums(reading, each, left - 1) for each in inputs_of(reading, value) if each)
    return op in ("ReduceSum", "Sum")


def affine(reading: Reading, found: Meaning) -> Affine | None:
    """The one number that an operator adds to or multiplies with a computed value."""
    made = reading.maker(found.inputs[0]) if found.op == "DequantizeLinear" else None
    if made is not None and (factor := reading.rescaled(found.step)):
        return Affine(made[0].inputs[0], True, factor < 0, f"by {factor:g}", by=factor)
    if found.op not in ("Add", "Sub", "Mul", "Div", "Pow") or len(found.inputs) != 2:
        return None
    for place in (1, 0):
        said = reading.values(found.inputs[place])
        if said and isinstance(said[0], int | float) and all(each == said[0] for each in said):
            neutral = 0 if found.op in ("Add", "Sub") else 1
            same = said[0] == neutral and (place == 1 or found.op in ("Add", "Mul"))
            shown = f"{said[0]:g}" if place else f"from {said[0]:g}"
            negative = said[0] < 0 if found.op in ("Mul", "Div") else found.op == "Sub" and place == 0
            value = found.inputs[1 - place]
            return Affine(value, not same, negative, shown, *_amount(found.op, place, float(said[0])))
    return None


def _amount(
    op: str, place: int, by: float
) -> tuple[Literal["plus", "minus from", "times", "divided from", "power"], float]:
    """What a constant in this place does."""
    if op in ("Add", "Sub"):
        return ("minus from", by) if op == "Sub" and not place else ("plus", -by if op == "Sub" else by)
    if op == "Pow":
        return "power", by
    return ("divided from", by) if op == "Div" and not place else ("times", 1 / by if op == "Div" and by else by)


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
    for _ in range(_TURNS):
        if reading.held(value) is not None:
            return True
        made = reading.maker(reading.plain(value))
        if made is None or made[0].op != "Transpose" or not made[0].inputs:
            return False
        value = made[0].inputs[0]
    return False
