"""Which values of two graphs correspond, and which operators give values of the same kind."""

from __future__ import annotations

from collections.abc import Iterator

from . import traits
from .classes import CLASSIFIERS, LOOKUPS
from .meanings import Meaning, meaning
from .reading import Reading

_TURNS = 8


def part(reading: Reading, value: int) -> str:
    """The operator that makes a part; a difference only where both of its sides are computed."""
    found = meaning(reading, reading.plain(value))
    if found is None or (found.op == "Sub" and any(reading.held(each) is not None for each in found.inputs)):
        return ""
    return found.op


def parts(reading: Reading, found: Meaning) -> list[str]:
    """The operators that make what is joined, whatever way their axes are turned."""
    kinds: dict[str, None] = {}
    for value in found.inputs:
        made = reading.maker(reading.plain(value))
        for _ in range(_TURNS):
            if made is None or made[0].op != "Transpose" or not made[0].inputs:
                break
            made = reading.maker(reading.plain(made[0].inputs[0]))
        kinds[made[0].op if made is not None else "input"] = None
    return list(kinds)


def neighbours(reading: Reading, found: Meaning) -> bool:
    """Whether a mean is one of numbers that a table has for the nearest samples: that table was learned."""
    inner = meaning(reading, reading.plain(found.inputs[0]))
    if inner is None or inner.op not in LOOKUPS or reading.held(inner.inputs[0]) is None:
        return False
    made = reading.maker(reading.plain(inner.inputs[1]))
    return made is not None and made[0].op == "TopK"


def paired(old: Reading, new: Reading, before: Meaning, after: Meaning) -> Iterator[tuple[int, int]]:
    """Inputs that correspond; those of a commutative operator may be the other way round."""
    one = [value for value in before.inputs if value and old.held(value) is None]
    two = [value for value in after.inputs if value and new.held(value) is None]
    if before.op in ("If", "Where"):
        one, two = list(before.inputs), list(after.inputs)
    elif before.op == "Loop":
        one, two = list(before.inputs[1:]), list(after.inputs[1:])
    elif before.op in ("Add", "Mul", "Max", "Min") and len(one) == len(two) == 2:
        ops = [[_kind(reading, value) for value in side] for reading, side in ((old, one), (new, two))]
        if ops[0] != ops[1] and ops[0] == ops[1][::-1]:
            two.reverse()
    yield from zip(one, two, strict=False)


def _kind(reading: Reading, value: int) -> str:
    """The operator that makes a value, or the input that it is."""
    found = meaning(reading, reading.plain(value))
    return found.op if found is not None else reading.names.get(reading.plain(value), "")


def equivalent(old: Reading, new: Reading, before: Meaning, after: Meaning) -> bool:
    """Whether two different operators give values of the same kind."""
    if {before.op, after.op} & CLASSIFIERS and {before.op, after.op} & {"Sigmoid", "Normalizer"}:
        return True  # a transform of its own, and columns brought to a sum of one
    if any(found.op in CLASSIFIERS and found.place == 0 for found in (before, after)):
        return {before.op, after.op} <= CLASSIFIERS | {"ArgMax"}  # the class with the largest score
    return traits.shared(old, before) and traits.shared(new, after)
