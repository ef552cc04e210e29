"""Sizes that may follow from sizes of the inputs: a whole number times named, unknown sizes.

`(6, ())` is 6 and `(2, ("x[0]",))` twice what the caller sends as axis 0 of `x`. Other arithmetic on unknown sizes
makes a new name out of the expression, so that the same expression is the same size wherever it occurs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b

from .samples import Term, follows

Shape = tuple[Term, ...]

# A name with it stands for a size of which nothing is known, or follows from one.
UNKNOWN_MARK = "?"
_LONG = 160
# Sizes and shape values are 64-bit numbers: what is larger would wrap, and nothing is known of it.
_LARGE = 1 << 63
_MANY = 16


def whole(number: int) -> Term:
    """A known number."""
    return _bounded(number, ())


def _bounded(number: int, names: tuple[str, ...]) -> Term:
    """The term, or an unknown one where it grew beyond what a runtime can hold, so that work on terms stays small."""
    if -_LARGE <= number <= _LARGE and len(names) <= _MANY:
        return number, names
    text = f"{number:x}*{'*'.join(names)}"
    return 1, (UNKNOWN_MARK + blake2b(text.encode(), digest_size=12).hexdigest(),)


def named(name: str) -> Term:
    """An unknown size; the same name is the same size."""
    if len(name) > _LONG:
        mark = UNKNOWN_MARK if UNKNOWN_MARK in name else ""
        name = mark + blake2b(name.encode(), digest_size=12).hexdigest()
    return 1, (name,)


def unclear(term: Term) -> bool:
    """Whether a size follows from one of which nothing is known."""
    return any(UNKNOWN_MARK in name for name in term[1])


def axis_of(name: str, axis: int) -> str:
    """The name of the size of an axis."""
    return f"{name}[{axis}]"


def fixed(term: Term) -> int | None:
    """The number, None where it depends on a name."""
    return None if term[1] else term[0]


def times(terms: Iterable[Term]) -> Term:
    """The product."""
    number, names = 1, ()
    for factor, more in terms:
        number *= factor
        names += more
        if number.bit_length() > 64 or len(names) > _MANY:
            number, names = _bounded(number, tuple(sorted(names)))
    return _bounded(number, tuple(sorted(names))) if number else (0, ())


def divide(term: Term, by: Term) -> Term | None:
    """The quotient where it is exact whatever the names are, else None."""
    if by[0] == 0 or term[0] % by[0]:
        return None
    left = Counter(term[1])
    left.subtract(by[1])
    if any(count < 0 for count in left.values()):
        return None
    return term[0] // by[0], tuple(sorted(left.elements()))


def cancel(a: Term, b: Term) -> tuple[Term, Term]:
    """Both without the names that they share."""
    shared = Counter(a[1]) & Counter(b[1])
    return tuple((number, tuple(sorted((Counter(names) - shared).elements()))) for number, names in (a, b))  # type: ignore[return-value]


def plus(terms: Iterable[Term]) -> Term:
    """The sum of sizes."""
    counts: Counter[tuple[str, ...]] = Counter()
    for number, names in terms:
        counts[names] += number
    number = counts.pop((), 0)
    if len(counts) < 2 and not (counts and number):
        names, count = next(iter(counts.items()), ((), number))
        return _bounded(count, names)
    parts = [(count, names) for names, count in counts.items()]
    name = "+".join([str(number), *sorted(map(show, parts))])
    return follows(named(name), [*parts, (number, ())], sum)


def show(term: Term) -> str:
    """A size for names and messages."""
    number, names = term
    return "*".join([*([str(number)] if number != 1 or not names else []), *names])
