"""The scale and offset that a graph applies to what a client sends, before anything trained: y = scale · x + offset.

A pixel's mean and deviation, bytes brought to 0..1, features brought to one size: none of it changes a type or shape,
and a client that has to do it itself from now on is not told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isclose

from ....models.onnx_values import Values

FEW = 4  # constants for up to so many are of channels, or of a handful of features; more are of learned features
_SLIGHT = 1e-3  # what keeps a logarithm or a division finite
_CLOSE = 2e-3  # the same numbers in sixteen bits
_DEVIATIONS = 1.5  # a mean that moves further is another unit, if it moves by half of itself too
_SHARE = 0.5

Numbers = tuple[float, ...]


@dataclass(slots=True)
class Prepared:
    """By channel or feature, one number where all have the same. `known` is unset where the constants do not fit
    each other."""

    scale: Numbers = (1.0,)
    offset: Numbers = (0.0,)
    known: bool = True

    def multiply(self, said: Values | None, power: int = 1) -> None:
        """Behind y·c, or y/c for a power of -1."""
        numbers = self._numbers(said)
        if power < 0 and not all(numbers):
            self.known = False
        elif numbers:
            by = numbers if power > 0 else tuple(1 / each for each in numbers)
            self.scale = self._both(self.scale, by, lambda a, b: a * b)
            self.offset = self._both(self.offset, by, lambda a, b: a * b)

    def add(self, said: Values | None, sign: int = 1) -> None:
        """Behind y+c, or y-c for a sign of -1."""
        self.offset = self._both(self.offset, self._numbers(said), lambda a, b: a + sign * b)

    def reorder(self, order: tuple[int, ...]) -> None:
        """Behind a choice of channels; (-1,) turns them round."""
        for name in ("scale", "offset"):
            was: Numbers = getattr(self, name)
            if len(was) > 1 and order == (-1,):
                setattr(self, name, was[::-1])
            elif len(was) > 1 and len(was) == len(order):
                setattr(self, name, tuple(was[i] for i in order))
            elif len(was) > 1:
                self.known = False

    @property
    def many(self) -> bool:
        """Whether there is a number for each of many features."""
        return max(len(self.scale), len(self.offset)) > FEW

    @property
    def varied(self) -> bool:
        """Whether channels or features have numbers of their own."""
        return max(len(self.scale), len(self.offset)) > 1

    @property
    def changes(self) -> bool:
        """Whether what a client sends is anything else afterwards."""
        return any(abs(each - 1) > _SLIGHT for each in self.scale) or any(abs(each) > _SLIGHT for each in self.offset)

    def show(self) -> str:
        """As a formula."""
        scale, offset = _list(self.scale), _list(self.offset)
        return f"{scale} · x + {offset}" if self.changes else "as sent"

    def _numbers(self, said: Values | None) -> Numbers:
        numbers = tuple(float(each) for each in said or () if not isinstance(each, str))
        self.known &= bool(numbers)
        return numbers[:1] if len(set(numbers)) == 1 else numbers

    def _both(self, one: Numbers, two: Numbers, how: Callable[[float, float], float]) -> Numbers:
        if len(one) != len(two) and len(one) > 1 and len(two) > 1:
            self.known = False
        size = max(len(one), len(two)) if self.known else 0
        if not size:
            return one
        pairs = zip(one * size if len(one) == 1 else one, two * size if len(two) == 1 else two, strict=True)
        return tuple(how(a, b) for a, b in pairs)


def differences(was: Prepared, now: Prepared, features: bool, scaleless: bool) -> Iterator[tuple[str, str, str]]:
    """What a client can tell apart: (what, before, after).

    `features` of a table differ from one training to the next. What is `scaleless`, such as a tree, takes them raw
    where another model takes them scaled.
    """
    if not (was.known and now.known):
        return
    shown = was.show(), now.show()
    if was.changes != now.changes:
        if not (was.many or now.many or scaleless):
            yield ("is scaled or shifted in one of the two only", *shown)
        return
    if _same(was.scale, now.scale) and _same(was.offset, now.offset):
        return
    if _same(sorted(was.scale), sorted(now.scale)) and _same(sorted(was.offset), sorted(now.offset)):
        yield ("has the constants of its channels in another order", *shown)
    elif not (features or was.many or now.many) and any(_moved(was, now)):
        yield ("is shifted by another amount", *shown)


def _moved(was: Prepared, now: Prepared) -> Iterator[bool]:
    """By channel, whether the value that becomes zero is far from the one that did."""
    lists = (was.scale, now.scale, was.offset, now.offset)
    size = max([len(each) for each in lists])
    if any(len(each) not in (1, size) for each in lists):
        return
    for a, b, c, d in zip(*(each * size if len(each) == 1 else each for each in lists), strict=True):
        if a and b:
            one, two, wide = -c / a, -d / b, max(abs(1 / a), abs(1 / b))
            yield abs(one - two) > max(_DEVIATIONS * wide, _SHARE * max(abs(one), abs(two)))


def _same(one: Numbers | list[float], two: Numbers | list[float]) -> bool:
    return len(one) == len(two) and all(
        isclose(a, b, rel_tol=_CLOSE, abs_tol=_SLIGHT * 1e-3) for a, b in zip(one, two, strict=True)
    )


def _list(numbers: Numbers) -> str:
    shown = ", ".join(f"{each:.4g}" for each in numbers[:FEW])
    more = ", …" if len(numbers) > FEW else ""
    return shown if len(numbers) == 1 else f"({shown}{more})"
