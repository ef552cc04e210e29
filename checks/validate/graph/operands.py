"""What the constants and settings of an operator near an output say beside those of another."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose, isinf
from typing import Literal, NamedTuple

from ....models.onnx_flow import Step
from ....models.onnx_values import Scalar, Values
from .meanings import Meaning, affine, bias
from .reading import Reading, integral, textual
from .traits import bounded, quantised, width

CONVOLUTIONS = frozenset({"Conv", "ConvTranspose", "BatchNormalization", "MaxPool", "AveragePool", "QLinearConv"})
ALONG = frozenset({"Softmax", "LogSoftmax", "Hardmax", "ArgMax", "ArgMin", "TopK", "Concat"})
# Operators whose constants are settings of the export, never weights; of recurrent layers the attributes are.
COMPARED = frozenset({"Greater", "Less", "Equal", "Clip", "TopK", "NonMaxSuppression", "Normalizer"}) | {
    *("Mod", "OneHot", "Binarizer", "CumSum", "LSTM", "GRU", "RNN"),
}
# Attributes whose default stands for what exporters may write out.
_SETTINGS: dict[str, tuple[tuple[str, Scalar], ...]] = {
    "TopK": (("largest", 1), ("sorted", 1)),
    "Normalizer": (("norm", "MAX"),),
    "Binarizer": (("threshold", 0.0),),
    "CumSum": (("exclusive", 0), ("reverse", 0)),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), (("direction", "forward"), ("layout", 0))),
    "Gather": (("axis", 0),),
    "GatherElements": (("axis", 0),),
}
_LISTS: dict[str, tuple[tuple[str, int], ...]] = {
    "TopK": (("k", 1),),
    "Clip": (("min", 1), ("max", 2)),
    "NonMaxSuppression": (("", 2), ("", 3), ("", 4)),
    "Slice": (("starts", 1), ("ends", 2), ("axes", 3), ("", 4)),
    "Resize": (("scales", 1), ("", 2), ("", 3)),
    "Pad": (("pads", 1), ("value", 2)),
    "OneHot": (("", 1), ("", 2)),
    "Gather": (("", 1),),
    "GatherElements": (("", 1),),
    "GatherND": (("", 1),),
    "ArrayFeatureExtractor": (("", 1),),
    "Where": (("", 1), ("", 2)),
}
# Of a step of a recurrent layer, where none are named.
_ACTIVATIONS = {"LSTM": ("sigmoid", "tanh", "tanh"), "GRU": ("sigmoid", "tanh"), "RNN": ("tanh",)}
# A number learned from data moves by little from one training to the next; a change of unit does not.
_UNIT = 2.0


class Difference(NamedTuple):
    """Something that a client can tell apart."""

    level: Literal["breaks", "unproven"]
    what: str
    old: object = None
    new: object = None


def compare(old: Reading, new: Reading, before: Meaning, after: Meaning, exposed: bool) -> Iterator[Difference]:
    """Constants and settings of the same operator on both sides."""
    op = before.op
    for name, default in _SETTINGS.get(op, ()) if exposed else ():
        was, now = old.scalar(before.step, name, default), new.scalar(after.step, name, default)
        if was != now:
            yield Difference("breaks" if op == "TopK" else "unproven", f"{op} {name}", was, now)
    if exposed and op in _ACTIVATIONS:
        was, now = (_activations(*side) for side in ((old, before), (new, after)))
        if was != now:
            yield Difference("unproven", f"{op} activations", ", ".join(was), ", ".join(now))
    if op in _LISTS:
        for name, place in _LISTS[op]:
            was, now = _list(old, before, name, place), _list(new, after, name, place)
            choice = op in ("Gather", "ArrayFeatureExtractor") and was is not None and len(was) > 1
            if was is None or now is None or _close(was, now) or not (exposed or choice):
                continue
            if not any(isinstance(each, str) for each in was + now):
                yield Difference("unproven", f"{op} {name or 'constant'}", show(was), show(now))
    elif op == "Loop":
        was, now = old.values(_at(before.inputs, 0)), new.values(_at(after.inputs, 0))
        if was and now and was != now:
            yield Difference("unproven", "number of rounds", show(was), show(now))
    elif op not in _ACTIVATIONS:
        yield from _numbers(old, new, before, after, exposed)


def _activations(reading: Reading, found: Meaning) -> tuple[str, ...]:
    """Of one direction; both have the same unless they are named."""
    said = reading.setting(found.step, "activations") or ()
    named, each = tuple(str(name).lower() for name in said), _ACTIVATIONS[found.op]
    return each if not named or named == each * 2 else named


def scales(old: Reading, new: Reading, before: Meaning, after: Meaning) -> Iterator[Difference]:
    """What integers that a client gets stand for."""
    was, now = quantised(old, before), quantised(new, after)
    for a, b, what in zip(was or (), now or (), ("scale", "zero point"), strict=False):
        if not _close(a, b):
            yield Difference("breaks", f"quantisation {what}", show(a), show(b))


def tokens(old: Reading, new: Reading, before: Meaning, after: Meaning) -> Iterator[Difference]:
    """Ids with a meaning that operators which generate text carry: their end, padding and start."""
    for name in before.step.attributes:
        if name.endswith("_id") and name in after.step.attributes:
            was, now = old.setting(before.step, name), new.setting(after.step, name)
            if was and now and was != now:
                yield Difference("breaks", name, show(was), show(now))


def means(old: Reading, new: Reading, before: Meaning, after: Meaning) -> Iterator[Difference]:
    """By what two sums of equally many values are divided."""
    terms = [reading.maker(reading.plain(m.inputs[0])) for reading, m in ((old, before), (new, after))]
    if terms[0] is not None and terms[1] is not None and len(terms[0][0].inputs) == len(terms[1][0].inputs):
        was, now = old.values(before.inputs[1]), new.values(after.inputs[1])
        if was and now and not _close(was, now):
            yield Difference("unproven", "divisor of a mean", show(was), show(now))


def pieces(old: Reading, new: Reading, before: Meaning, after: Meaning) -> Iterator[Difference]:
    """Where the parts that a Concat joins begin and end, if they are as wide together as before."""
    was, now = ([width(reading, each) for each in m.inputs] for reading, m in ((old, before), (new, after)))
    if all(was) and all(now) and was != now and sum(was) == sum(now):
        yield Difference("unproven", "size of joined parts", *(", ".join(map(str, each)) for each in (was, now)))


def _numbers(old: Reading, new: Reading, before: Meaning, after: Meaning, exposed: bool) -> Iterator[Difference]:
    """The constant operand of arithmetic or a comparison."""
    held = [
        [i for i, each in enumerate(m.inputs) if r.held(each) is not None] for r, m in ((old, before), (new, after))
    ]
    if len(held[0]) != 1 or len(held[1]) != 1:
        return
    if held[0] != held[1] and before.op in ("Sub", "Div", "Pow", "Greater", "Less"):
        if exposed:
            yield Difference("unproven", f"{before.op} operands", "value first", "constant first")
        return
    a, b = before.inputs[held[0][0]], after.inputs[held[1][0]]
    was, now = old.values(a), new.values(b)
    scales = affine(old, before), affine(new, after)
    if not exposed and scales[0] and scales[1] and scales[0].reverses != scales[1].reverses:
        yield Difference("unproven", "order before the final operator", scales[0].shown, scales[1].shown)
    if not exposed or was is None or now is None or _close(was, now) or bias(old, before) or bias(new, after):
        return
    if textual(old.held(a)) or textual(new.held(b)):
        return
    if integral(old.held(a)) and integral(new.held(b)):
        yield Difference("breaks", f"{before.op} constant", show(was), show(now))
    elif before.op in COMPARED or bounded(old, before) or bounded(new, after) or _other_unit(was, now):
        yield Difference("unproven", f"{before.op} constant", show(was), show(now))


def constants(old: Reading, new: Reading, a: int, b: int) -> Iterator[Difference]:
    """Two constants that come out as they are: numbers with a fraction are weights, integers are not."""
    was, now = old.values(a), new.values(b)
    if was is not None and now is not None and was != now and integral(old.held(a)) and integral(new.held(b)):
        yield Difference("unproven", "constant", show(was), show(now))


def _coerced(step: Step) -> bool:
    """Whether an operator works along all axes from the given one on, as it did before operator set 13."""
    return step.op in ("Softmax", "LogSoftmax", "Hardmax") and step.version < 13


def axis(reading: Reading, step: Step) -> int:
    """The axis that an operator names, or its default."""
    default = 1 if _coerced(step) else 0 if step.op in ("ArgMax", "ArgMin", "Concat") else -1
    return reading.number(step, "axis", default)


def along(
    reading: Reading, step: Step, rank: int | None, turned: tuple[tuple[int, ...], ...]
) -> tuple[int, ...] | None:
    """The axes of the output that an operator works along; None where that cannot be told."""
    coerced, place = _coerced(step), axis(reading, step)
    if rank is None:
        return None
    if step.op in ("ArgMax", "ArgMin") and not reading.number(step, "keepdims", 1):
        if turned:
            return None
        rank += 1
    place += rank if place < 0 else 0
    axes = tuple(range(place, rank)) if coerced else (place,)
    for turn in reversed(turned):
        order = turn or tuple(range(rank))[::-1]
        if any(each not in order for each in axes):
            return None
        axes = tuple(sorted(order.index(each) for each in axes))
    return axes


def _other_unit(was: Values, now: Values) -> bool:
    """Whether all numbers changed by one factor that no training explains."""
    if any(isinstance(each, str) for each in was + now):
        return False
    if len(was) != len(now):
        return len(set(was)) == len(set(now)) == 1 and _other_unit(was[:1], now[:1])
    factors = [_factor(a, b) for a, b in zip(was, now, strict=True)]
    if any(factor <= 0 or isinf(factor) for factor in factors):
        return len(factors) == 1
    return apart(was, now) and all(isclose(factor, factors[0], rel_tol=1e-3) for factor in factors)


def apart(was: Values, now: Values) -> bool:
    """Whether each number is another one by more than a training explains."""
    factors = [_factor(a, b) for a, b in zip(was, now, strict=False)]
    return all(factor >= _UNIT or factor <= 1 / _UNIT for factor in factors)


def _factor(a: Scalar, b: Scalar) -> float:
    a, b = float(a), float(b)
    return 1.0 if a == b else float("inf") if a == 0 else b / a


def _close(a: Values, b: Values) -> bool:
    if len(a) != len(b):
        return len(set(a)) == len(set(b)) == 1 and _close(a[:1], b[:1])  # one number, or the same written out
    return all(
        x == y or (isinstance(x, float) and isinstance(y, float) and isclose(x, y, rel_tol=1e-4, abs_tol=1e-9))
        for x, y in zip(a, b, strict=True)
    )


def _at(inputs: tuple[int, ...], place: int) -> int:
    return inputs[place] if place < len(inputs) else 0


def _list(reading: Reading, found: Meaning, name: str, place: int) -> Values | None:
    said = reading.setting(found.step, name) if name else None
    return said if said is not None else reading.values(_at(found.inputs, place))


def show(said: Values, first: int = 4) -> str:
    """The first values of a list, for people."""
    shown = ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in said[:first])
    return f"{shown}, …" if len(said) > first else shown
