"""One of two graphs that are followed back side by side, and a value in it, behind what changes none."""

from __future__ import annotations

from typing import NamedTuple

from ....models.onnx_flow import Step
from .reading import SHAPING, Reading
from .told import Settings, told
from .weightless import Free

_CHAIN = 40
_FLOATS = frozenset({1, 10, 11, 16})
_KEPT = frozenset({"Identity", "Dropout", "CastLike"})
_WHOLE = frozenset({"Shape", "Size", "ArgMax", "ArgMin", "NonZero", "Equal", "Greater", "Less", "And", "Or", "Not"}) | {
    *("GreaterOrEqual", "LessOrEqual", "IsNaN", "IsInf", "StringSplit", "RegexFullMatch"),
}


class End(NamedTuple):
    """A value on one side, and how its axes were turned on the way from the output."""

    value: int
    turned: tuple[tuple[int, ...], ...] = ()


class Side(NamedTuple):
    """One graph, and its values that follow from no input."""

    reading: Reading
    free: Free


Shapes = list[tuple[int, ...]]


def skip(side: Side, at: End, shapes: Shapes | None = None) -> End:
    """The value behind what changes none: shapes, turns of the axes, casts that keep fractions. What a Reshape names
    as the shape that it makes goes to `shapes`."""
    for _ in range(_CHAIN * _CHAIN):
        made = side.reading.maker(at.value)
        if made is None or made[0].domain or not made[0].inputs or at.value in side.free.held:
            break
        step = made[0]
        if step.op == "Transpose":
            at = End(step.inputs[0], (*at.turned, side.reading.integers(step, "perm") or ()))
        elif step.op in SHAPING or step.op in _KEPT or (step.op == "Cast" and _keeps(side, step)):
            if shapes is not None and step.op == "Reshape" and (made_of := side.reading.integers(step, "shape", 1)):
                shapes.append(made_of)
            at = at._replace(value=step.inputs[0])
        else:
            break
    return at


def measured(side: Side, at: End) -> int | None:
    """The axis of which a value is the size, None where it is something else."""
    value = at.value
    for _ in range(_CHAIN):
        made = side.reading.maker(value)
        if made is None or made[0].domain or not made[0].inputs:
            return None
        step = made[0]
        if step.op in ("Gather", "Slice"):
            inner = side.reading.maker(side.reading.plain(step.inputs[0]))
            if inner is None or inner[0].op != "Shape" or "start" in inner[0].attributes:
                return None
            first = side.reading.integers(step, "", 1)
            rank = _rank(side, inner[0].inputs[0], 0) or 0
            if first is None or len(first) != 1:
                return None
            return first[0] + rank if first[0] < 0 else first[0]
        if step.op == "Shape":
            return side.reading.number(step, "start", 0) if "end" in step.attributes else None
        if step.op not in SHAPING | _KEPT | {"Cast"}:
            return None
        value = step.inputs[0]
    return None


def _keeps(side: Side, step: Step) -> bool:
    return side.reading.number(step, "to", 1) in _FLOATS or _whole(side, step.inputs[0])


def _whole(side: Side, value: int) -> bool:
    """Whether a value is known to be of integers or truth values."""
    for _ in range(_CHAIN):
        if value in side.free.all:
            return True
        declared = side.reading.declared.get(side.reading.names.get(value, ""))
        if declared is not None:
            return declared.type.startswith(("tensor(int", "tensor(uint", "tensor(bool"))
        made = side.reading.maker(value)
        if made is None or made[0].domain or not made[0].inputs:
            return False
        step, place = made
        if step.op in _WHOLE or (step.op == "TopK" and place):
            return True
        if step.op == "Cast":
            return side.reading.number(step, "to", 1) not in _FLOATS
        value = next((each for each in step.inputs if each not in side.free.all), 0)
    return False


def _rank(side: Side, value: int, depth: int) -> int | None:
    """The number of dimensions of a value, where operators keep that of an input."""
    known = side.free.ranks
    if (value, depth) not in known:
        known[value, depth] = _ranked(side, value, depth)
    return known[value, depth]


def _ranked(side: Side, value: int, depth: int) -> int | None:
    declared = side.reading.declared.get(side.reading.names.get(value, ""))
    if declared is not None:
        return None if declared.shape is None else len(declared.shape)
    held = side.reading.flow.held.get(value)
    if held is not None:
        return None if held.dims is None else len(held.dims)
    made = side.reading.maker(value)
    if made is None or depth > _CHAIN or not made[0].inputs or made[0].op in _UNRANKED or made[0].domain:
        return None
    step = made[0]
    ranks = [_rank(side, each, depth + 1) for each in step.inputs[: 2 if step.op in _PAIRS else 1]]
    known = [each for each in ranks if each is not None]
    if len(known) < len(ranks) or not known:
        return None
    found = max(known)
    if step.op in ("Squeeze", "Unsqueeze"):
        axes = side.reading.integers(step, "axes", 1)
        return None if axes is None else found + (len(axes) if step.op == "Unsqueeze" else -len(axes))
    if step.op.startswith(("Reduce", "Arg")) and not side.reading.number(step, "keepdims", 1):
        axes = side.reading.integers(step, "axes", 1)
        return found - 1 if step.op.startswith("Arg") else None if axes is None else found - len(axes)
    return found


_PAIRS = frozenset({"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Equal", "Greater", "Less", "And", "Or"})
_UNRANKED = (SHAPING - {"Squeeze", "Unsqueeze"}) | {
    *("Gather", "GatherND", "If", "Loop", "Scan", "Where", "MatMul", "Einsum", "STFT", "DFT", "OneHot", "NonZero"),
    *("SequenceAt", "ConcatFromSequence", "StringSplit", "NonMaxSuppression", "Shape", "Range", "ConstantOfShape"),
}


def settings_of(side: Side, step: Step) -> Settings:
    """The settings of a step, its axes counted from the front where the rank is known."""
    rank = _rank(side, step.inputs[0], 0) if step.inputs else None
    return told(side.reading, step, rank, lambda value: value in side.free.held)


def what_of(side: Side, at: End) -> str:
    """What makes a value, for people."""
    made = side.reading.maker(at.value)
    if made is None:
        return "constant" if at.value in side.free.all else "input"
    return f"{made[0].domain}.{made[0].op}" if made[0].domain else made[0].op
