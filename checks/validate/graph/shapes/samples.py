"""Sizes that follow from open ones, worked out for a few sizes that clients may send: to tell different formulas apart.

Every open axis of every input has the same size in a sample, so that sizes which a graph needs to be equal are. The
sizes are usual ones of images, texts and sound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

SIZES = (32, 64, 96, 128, 224, 320, 640, 1024, 4096, 16000, 48000)
Sampled = tuple["int | None", ...]
Term = tuple[int, tuple[str, ...]]


class Name(str):
    """The name of a size that is known for every sample (None where the graph fails), from the open axes `of`."""

    __slots__ = ("of", "samples")
    samples: Sampled
    of: frozenset[str]


def open_axis(name: str) -> Term:
    """The size of an axis that clients choose."""
    return 1, (_made(name, SIZES, frozenset((name,))),)


def _made(name: str, samples: Sampled, of: frozenset[str]) -> Name:
    result = Name(name)
    result.samples, result.of = samples, of
    return result


def follows(term: Term, inputs: Iterable[Term], formula: Callable[[list[int]], int | None]) -> Term:
    """The single name `term` with what a formula gives for the samples of `inputs`, where those are known."""
    known = [sampled(each) for each in inputs]
    found = [each for each in known if each is not None]
    if len(found) < len(known) or len(term[1]) != 1:
        return term
    rows = zip(*(values for values, _ in found), strict=True)
    values = tuple(None if None in row else formula([n for n in row if n is not None]) for row in rows)
    return term[0], (_made(term[1][0], values, frozenset[str]().union(*(of for _, of in found))),)


def sampled(term: Term) -> tuple[Sampled, frozenset[str]] | None:
    """The size for every sample, and the open axes that it follows from; None where nothing is known of it."""
    result: list[int | None] = [term[0]] * len(SIZES)
    of: frozenset[str] = frozenset()
    for name in term[1]:
        if not isinstance(name, Name):
            return None
        result = [None if a is None or b is None else a * b for a, b in zip(result, name.samples, strict=True)]
        of |= name.of
    return tuple(result), of


def apart(old: Term, new: Term, but: Iterable[str]) -> tuple[Literal["always", "sometimes"], int, int, int] | None:
    """How often two sizes differ, and an example: the size that is sent, the old and the new one. None where they do
    not, or follow from axes `but`, which cannot have the sizes of the samples."""
    a, b = sampled(old), sampled(new)
    if a is None or b is None or not (a[1] | b[1]).isdisjoint(but):
        return None
    rows = [(size, x, y) for size, x, y in zip(SIZES, a[0], b[0], strict=True) if x is not None and y is not None]
    other = [row for row in rows if row[1] != row[2]]
    if len(rows) < _ENOUGH or not other:
        return None
    return ("always" if len(other) == len(rows) else "sometimes", *other[0])


_ENOUGH = 3
