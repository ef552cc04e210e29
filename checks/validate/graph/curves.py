"""Inputs that a graph first brings through a function of each value, or of all values of a request."""

from __future__ import annotations

from ....models.onnx_flow import Step
from .families import AFFINE, REDUCTIONS
from .reading import SHAPING, TRANSPARENT, Reading, floats

# Behind these, twice as much in is not twice as much out.
CURVES = frozenset({"Log", "Exp", "Sqrt", "Abs", "Square", "Reciprocal", "Sigmoid", "Tanh", "Pow", "Binarizer"})
OWN = "normalisation"  # by a mean, deviation, length or sum of the request's own values
FUNCTIONS = CURVES | {OWN}
_OWN = frozenset({"LpNormalization", "Normalizer", "MeanVarianceNormalization", "LayerNormalization"}) | {
    *("InstanceNormalization", "Softmax", "LogSoftmax", "Hardmax", "RMSNormalization"),
}
_STATISTICS = REDUCTIONS | {"ReduceSumSquare", "ReduceLogSumExp", "GlobalAveragePool", "GlobalMaxPool"}
# What stands behind one of several of these may be anything.
_PASSING = (
    SHAPING
    | {"Transpose", "Clip", "Relu", "Pad", "Resize", "Neg", "Not", "Where", "Concat", "If", "Imputer"}
    | {
        *("Split", "Slice", "Gather", "ArrayFeatureExtractor", "QuantizeLinear", "DequantizeLinear", "Scaler"),
    }
)
UNSURE = "?"  # the mark of several operators that are the same on both sides, or not to be compared
_STEPS = 30
POWERS = {2.0: "Square", 0.5: "Sqrt", -1.0: "Reciprocal"}

Users = list[tuple[Step, int]]


def function(reading: Reading, value: int, users: Users) -> str:
    """The function that a value is first brought through, or the operators that take it; '' where that is unclear."""
    for step, place in users:
        if place == 0 and not step.domain.startswith("com.") and step.op in _OWN:
            return OWN
        if step.op in ("Sub", "Div") and place == 0 and _statistic(reading, step.inputs[1], value):
            return OWN
    if len(users) != 1:
        if not users or any(step.op in _PASSING for step, _ in users):
            return ""
        unsure = any(step.op in TRANSPARENT or _moved(reading, step, place) for step, place in users)
        return (UNSURE if unsure else "") + "+".join(sorted(step.op for step, _ in users))
    step, place = users[0]
    if step.op == "Mul" and len(step.inputs) == 2 and step.inputs[0] == step.inputs[1]:
        return "Square"
    if step.op == "Pow" and place == 0 and (power := floats(reading.values(step.inputs[1]))) and len(set(power)) == 1:
        return POWERS.get(power[0], "Pow")
    if step.op == "Div" and place == 1 and set(reading.values(step.inputs[0]) or ()) == {1.0}:
        return "Reciprocal"
    return step.op if place == 0 or step.op not in CURVES else ""


def _moved(reading: Reading, step: Step, place: int) -> bool:
    """Whether an operator scales or shifts a value by a constant."""
    return step.op in AFFINE and len(step.inputs) == 2 and reading.held(step.inputs[1 - place]) is not None


def _statistic(reading: Reading, found: int, value: int) -> bool:
    """Whether what a value is moved or divided by is made of that value and nothing else, by a reduction."""
    todo, reduced = [found], False
    for _ in range(_STEPS):
        if not todo:
            return reduced
        each = todo.pop()
        if each == value or reading.held(each) is not None:
            continue
        made = reading.maker(each)
        if made is None or made[0].domain:
            return False
        reduced |= made[0].op in _STATISTICS
        todo.extend(each for each in made[0].inputs if each)
    return False
