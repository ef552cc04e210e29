"""Numbers for each column of an output, by which a graph scales or shifts what it computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .meanings import Meaning, affine, bias, meaning
from .operands import Difference, apart, show
from .reading import Reading, floats

_CHAIN = 8
_PRODUCTS = frozenset({"Gemm", "FusedMatMul"})
_Sides = tuple[tuple[Reading, Meaning], tuple[Reading, Meaning]]


class Varied(NamedTuple):
    """Of which value, by what, and the factors where it is scaled by an operator of one constant."""

    value: int
    shown: str
    factors: tuple[float, ...] = ()


def columns(sides: _Sides) -> tuple[Difference | None, tuple[int, int]]:
    """The difference between two operators of which one or both scale by columns, and the values to go on with:
    0 where that is the same one."""
    one, two = (varied(*side) for side in sides)
    if one and two and one.factors and two.factors:
        found = Difference("unproven", "scale", one.shown, two.shown) if apart(one.factors, two.factors) else None
        return found, (one.value, two.value)
    for k, own in enumerate((one, two)):
        other = core(*sides[1 - k])
        for value in behind(*sides[k]) if own else ():
            inner = meaning(sides[k][0], sides[k][0].plain(value))
            if own and inner is not None and core(sides[k][0], inner) == other:
                shown, values = (None, own.shown) if k else (own.shown, None), (0, value) if k else (value, 0)
                return Difference("unproven", "scale", *shown), values
    return None, (0, 0)


def varied(reading: Reading, found: Meaning) -> Varied | None:
    """What an operator scales or shifts by a number for each column; a bias is trained with its product."""
    if found.op == "Scaler" and found.inputs:
        said = reading.setting(found.step, "scale") or reading.setting(found.step, "offset")
        return Varied(found.inputs[0], f"Scaler {show(said or (), 3)}")
    if found.op not in ("Add", "Sub", "Mul", "Div") or len(found.inputs) != 2 or bias(reading, found):
        return None
    for place in (1, 0):
        said = reading.values(found.inputs[place])
        if said and len(set(said)) > 1 and reading.held(found.inputs[1 - place]) is None:
            factors: tuple[float, ...] = ()
            numbers = floats(said) or ()
            if found.op in ("Mul", "Div") and all(numbers) and (place or found.op == "Mul"):
                factors = tuple(1 / each for each in numbers) if found.op == "Div" else numbers
            return Varied(found.inputs[1 - place], f"{found.op} {show(said or (), 3)}", factors)
    return None


def behind(reading: Reading, found: Meaning) -> Iterator[int]:
    """The values that an operator, and those before it, only scale or shift by constants."""
    at: Meaning | None = found
    for _ in range(_CHAIN):
        if at is None:
            break
        step = (None if bias(reading, at) else affine(reading, at)) or varied(reading, at)
        if step is None:
            break
        yield step.value
        at = meaning(reading, reading.plain(step.value))


def core(reading: Reading, found: Meaning) -> str:
    """The operator that makes values, whatever an exporter calls a product with or without a bias."""
    made = next((made for each in found.inputs if (made := reading.maker(reading.plain(each)))), None)
    op = made[0].op if made is not None and bias(reading, found) else found.op
    return "MatMul" if op in _PRODUCTS else op
