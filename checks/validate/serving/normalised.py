"""Vectors that a graph divides by their Euclidean length, in the forms that exporters write it."""

from __future__ import annotations

from typing import NamedTuple

from ....models.onnx_flow import Step
from ..graph.reading import Reading

# What stands between a length and the division: a floor against zero, and the shape of the vectors.
_FLOORS = frozenset({"Clip", "Max", "Add"})
_TINY = 1e-4  # torch writes 1e-12 for its floor, others up to 1e-6
_STEPS = 12


class Normalised(NamedTuple):
    """The vectors before, and along which axes; None where that is not written as constants. `exact` is unset where a
    floor is so large that the result may not have length one."""

    before: int
    axes: tuple[int, ...] | None
    exact: bool


def normalised(reading: Reading, value: int) -> Normalised | None:
    """How a value is normalised: LpNormalization, or a division by ReduceL2 or by the root of a sum of squares."""
    made = reading.maker(reading.plain(value))
    if made is None or made[0].domain:
        return None
    step = made[0]
    if step.op == "LpNormalization":
        order = reading.number(step, "p", 2)
        return Normalised(step.inputs[0], (reading.number(step, "axis", -1),), exact=order == 2)
    if step.op == "Div" and len(step.inputs) == 2:
        return _length(reading, step.inputs[1], step.inputs[0])
    if step.op == "Mul" and len(step.inputs) == 2:
        for vector, factor in (step.inputs, step.inputs[::-1]):
            inverse = reading.maker(reading.plain(factor))
            if inverse is not None and inverse[0].op == "Reciprocal":
                return _length(reading, inverse[0].inputs[0], vector)
    return None


def _length(reading: Reading, value: int, vector: int) -> Normalised | None:
    """Whether a value is the length of `vector`, however it is kept from being zero."""
    exact = True
    for _ in range(_STEPS):
        made = reading.maker(reading.plain(value))
        if made is None or made[0].domain:
            return None
        step = made[0]
        if step.op in _FLOORS:
            floors = [each for each in step.inputs[: 2 if step.op == "Clip" else None] if reading.held(each)]
            known = [number for each in floors for number in reading.values(each) or ("",)]
            known += reading.setting(step, "min") or ()
            exact &= all(isinstance(number, int | float) and number <= _TINY for number in known)
            exact &= step.op != "Clip" or (len(step.inputs) < 3 and "max" not in step.attributes)
            rest = [each for each in step.inputs if each and each not in floors]
            if not rest:
                return None
            value = rest[0]
        elif step.op == "ReduceL2":
            return _of(reading, step, step.inputs[0], vector, exact=exact)
        elif step.op in ("Sqrt", "Pow"):
            return _root(reading, step, vector, exact=exact)
        else:
            return None
    return None


def _root(reading: Reading, step: Step, vector: int, *, exact: bool) -> Normalised | None:
    if step.op == "Pow" and (len(step.inputs) < 2 or reading.values(step.inputs[1]) != (0.5,)):
        return None
    made = reading.maker(reading.plain(step.inputs[0]))
    if made is None:
        return None
    total = made[0]
    if total.op == "ReduceSumSquare":
        return _of(reading, total, total.inputs[0], vector, exact=exact)
    squared = reading.maker(reading.plain(total.inputs[0])) if total.op == "ReduceSum" else None
    if squared is None or len(squared[0].inputs) != 2:
        return None
    square, (a, b) = squared[0], squared[0].inputs
    twice = square.op == "Mul" and reading.plain(a) == reading.plain(b)
    power = square.op == "Pow" and reading.values(b) == (2,)
    return _of(reading, total, a, vector, exact=exact) if twice or power else None


def _of(reading: Reading, step: Step, value: int, vector: int, *, exact: bool) -> Normalised | None:
    if reading.plain(value) != reading.plain(vector):
        return None
    return Normalised(vector, reading.integers(step, "axes", 1), exact=exact and value == vector)
