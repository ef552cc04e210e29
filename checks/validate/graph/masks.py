"""Which value of a mask keeps a position, however the graph turns the mask into scores or factors.

The values 0 and 1 of every input are followed through casts, complements, factors and choices of constants, to where
they push a score far below any other, choose between a score and such a number, or multiply by zero. `(1 - m) * -1e4`,
`Where(m, x, -1e4)` and `Where(m == 0, lowest, x)` say the same: 1 keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite, isnan
from typing import NamedTuple

from ....models.onnx_flow import Step
from .families import INTEGERS
from .reading import SHAPING, Reading

_FAR = -1000.0  # no trained score comes near; exporters take -1e4, the lowest number of a type, or minus infinity
_BOOL = 9
_KEEPS = SHAPING | {"Identity", "CastLike", "Dropout", "Transpose", "Slice", "Tile"}
_COMPARISONS = frozenset({"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"})


class _Mask(NamedTuple):
    """What stands at a value where the input is 0, and where it is 1."""

    input: str
    zero: float
    one: float

    def map(self, zero: float, one: float) -> _Mask | None:
        """Other values from the same input, None where they are no numbers."""
        return None if isnan(zero) or isnan(one) else _Mask(self.input, zero, one)


def kept(reading: Reading) -> dict[str, set[int]]:
    """By input that masks something: the values (0, 1) that keep a position, in any place that it is used."""
    known: dict[int, _Mask] = {value: _Mask(name, 0.0, 1.0) for name, value in reading.flow.inputs.items()}
    found: dict[str, set[int]] = {}
    fed = set(known)  # values that depend on any input: constants that the graph computes are no scores
    for step in reading.flow.steps:
        if not fed.isdisjoint(step.inputs):
            fed.update(each for each in step.outputs if each)
        if step.domain or not step.outputs or not any(each in known for each in step.inputs):
            continue
        for mask, stays in _ends(reading, step, known, fed):
            if stays[0] != stays[1]:
                found.setdefault(mask.input, set()).add(1 if stays[1] else 0)
        made = _made(reading, step, known)
        if made is not None:
            known[step.outputs[0]] = made
    return found


def _ends(
    reading: Reading, step: Step, known: dict[int, _Mask], fed: set[int]
) -> Iterator[tuple[_Mask, tuple[bool, bool]]]:
    """Where a mask meets what it masks: which of its two values let that through."""
    inputs = step.inputs
    if step.op == "Where" and len(inputs) == 3 and (mask := known.get(inputs[0])):
        numbers = [_number(reading, each) for each in inputs[1:]]
        for place, number in enumerate(numbers):
            if number is not None and number <= _FAR and _masked(inputs[2 - place], mask, known, fed):
                chosen = bool(mask.zero), bool(mask.one)
                yield mask, chosen if place else (not chosen[0], not chosen[1])
    elif step.op in ("Add", "Sub", "Mul") and len(inputs) == 2:
        for place, each in enumerate(inputs):
            mask = known.get(each)
            if mask is None or not _masked(inputs[1 - place], mask, known, fed):
                continue
            if step.op == "Mul" and {mask.zero, mask.one} == {0.0, 1.0}:
                yield mask, (bool(mask.zero), bool(mask.one))
            elif step.op == "Add" or (step.op == "Sub" and place == 1):
                sign = -1 if step.op == "Sub" else 1
                pushed = sign * mask.zero <= _FAR, sign * mask.one <= _FAR
                if any(pushed) and abs(mask.zero if pushed[1] else mask.one) <= 1:
                    yield mask, (not pushed[0], not pushed[1])


def _masked(value: int, mask: _Mask, known: dict[int, _Mask], fed: set[int]) -> bool:
    """Whether a value is what a mask is for: computed from an input, and not of the mask itself alone."""
    return value in fed and (value not in known or known[value].input != mask.input)


def _made(reading: Reading, step: Step, known: dict[int, _Mask]) -> _Mask | None:
    """What an operator makes of a mask, None where that can't be told by its two values."""
    op, inputs = step.op, step.inputs
    first = known.get(inputs[0])
    if op in _KEEPS:
        return first
    if op == "Cast" and first:
        kind = reading.number(step, "to", 1)
        if kind == _BOOL:
            return first.map(float(bool(first.zero)), float(bool(first.one)))
        whole = kind in INTEGERS and isfinite(first.zero) and isfinite(first.one)
        return first.map(float(int(first.zero)), float(int(first.one))) if whole else first
    if op == "Not" and first:
        return first.map(float(not first.zero), float(not first.one))
    if op == "Neg" and first:
        return first.map(-first.zero, -first.one)
    if op == "Where" and len(inputs) == 3:
        return _chosen(reading, inputs, known)
    if len(inputs) != 2:
        return None
    if op in ("And", "Or") and (one := first or known.get(inputs[1])):
        return one  # with another mask, such as the causal one: it keeps what both keep
    left, right = (_pair(reading, each, known) for each in inputs)
    mask = first or known.get(inputs[1])
    if mask is None or left is None or right is None or not _single(mask, inputs, known):
        return None
    zero, one = (_computed(op, a, b) for a, b in zip(left, right, strict=True))
    return None if zero is None or one is None else mask.map(zero, one)


def _single(mask: _Mask, inputs: tuple[int, ...], known: dict[int, _Mask]) -> bool:
    return all(each not in known or known[each].input == mask.input for each in inputs)


def _chosen(reading: Reading, inputs: tuple[int, ...], known: dict[int, _Mask]) -> _Mask | None:
    """A choice by a mask between numbers, or numbers and the mask itself."""
    mask = known.get(inputs[0])
    one, two = (_pair(reading, each, known) for each in inputs[1:])
    if mask is None or one is None or two is None or not _single(mask, inputs, known):
        return None
    return mask.map((one if mask.zero else two)[0], (one if mask.one else two)[1])


def _computed(op: str, a: float, b: float) -> float | None:
    if op in _COMPARISONS:
        larger, same = a > b, a == b
        said = {"Equal": same, "Greater": larger, "GreaterOrEqual": larger or same, "LessOrEqual": not larger}
        return float(said.get(op, not larger and not same))
    if op == "Div":
        return a / b if b else None
    return {"Add": a + b, "Sub": a - b, "Mul": a * b}.get(op)


def _pair(reading: Reading, value: int, known: dict[int, _Mask]) -> tuple[float, float] | None:
    if value in known:
        return known[value].zero, known[value].one
    number = _number(reading, value)
    return None if number is None else (number, number)


def _number(reading: Reading, value: int) -> float | None:
    """The one number that a constant holds, everywhere in it."""
    made = reading.maker(reading.plain(value)) if value else None
    if made is not None and made[0].op == "ConstantOfShape" and not made[0].domain:
        said = reading.setting(made[0], "value") or (0.0,)
    else:
        said = reading.values(value) if value else None
    if not said or isinstance(said[0], str) or any(each != said[0] for each in said):
        return None
    return float(said[0])
