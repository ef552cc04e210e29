"""Two outputs that nothing trained has a part in, followed back to the inputs: whether both are the same function.

Exporters write one function in many ways. What is known to change nothing is passed over: casts between numbers with a
fraction, shapes, layouts that are turned back, scales in several steps, limits by another operator. Sizes that a graph
measures are judged by ONX-SHAPE.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ....models.onnx_flow import Step
from ....models.onnx_values import Values, values
from .foreign import foreign
from .forms import close, limited, scaled, word
from .operands import Difference, show
from .reading import Reading
from .sides import End, Shapes, Side, measured, settings_of, skip, what_of
from .told import places
from .weightless import LONG, Free, weightless

_LIMIT = 4000
_NESTED = 12
_EITHER = frozenset({"Add", "Mul", "Max", "Min", "Sum", "And", "Or", "Xor", "Equal"})
_WAYS = frozenset({"axis", "axes", "perm", "pads", "starts", "ends", "steps", "scales", "sizes", "repeats"})


def compare(old: Side, new: Side, a: int, b: int) -> Difference | None:
    """The first thing that makes two outputs other functions of the inputs; None where they are the same."""
    return _Pairing(old, new, _Shared()).run(End(a), End(b))


def same_function(old: Reading, new: Reading) -> bool:
    """Whether all outputs are the same functions of the inputs, and nothing in between was trained."""
    one, two = Side(old, Free(old)), Side(new, Free(new))
    ends = [(old.flow.outputs[name], new.flow.outputs.get(name, 0)) for name in old.flow.outputs]
    return all(weightless(*one, a) and weightless(*two, b) and compare(one, two, a, b) is None for a, b in ends)


@dataclass(slots=True)
class _Shared:
    """How many pairs may still be looked at, and those that are known to be the same."""

    left: int = _LIMIT
    proven: set[tuple[End, End]] = field(default_factory=set[tuple[End, End]])


class _Pairing:
    def __init__(self, old: Side, new: Side, shared: _Shared, depth: int = 0) -> None:
        self.old, self.new, self.shared, self.depth = old, new, shared, depth
        self.seen: set[tuple[End, End]] = set()
        self.todo: list[tuple[End, End]] = []

    def run(self, a: End, b: End) -> Difference | None:
        self.todo.append((a, b))
        while self.todo:
            self.shared.left -= 1
            if self.shared.left < 0 or self.depth > _NESTED:
                return _other("operator than could be followed", None, None)
            if (found := self.pair(*self.todo.pop())) is not None:
                return found
        return None

    def pair(self, a: End, b: End) -> Difference | None:
        shapes: tuple[Shapes, Shapes] = [], []
        a, b = skip(self.old, a, shapes[0]), skip(self.new, b, shapes[1])
        if (a, b) in self.seen or (a, b) in self.shared.proven:
            return None
        self.seen.add((a, b))
        fixed = a.value in self.old.free.all, b.value in self.new.free.all
        if all(fixed):
            return self.constants(a, b)
        if (reshaped := _reshaped(*shapes)) is not None:
            return reshaped
        one, two = self.old.reading.maker(a.value), self.new.reading.maker(b.value)
        if one is None and two is None and not any(fixed):
            return self.inputs(a, b)
        found: Difference | None = None
        if one is not None and two is not None and not any(fixed):
            if (one[0].op, one[0].domain) == (two[0].op, two[0].domain):
                found = self.same(a, b, one, two)
                if found is None:
                    return None
            elif foreign(one[0]) and foreign(two[0]):
                return None  # ONX-CUSTOM speaks
        if found is None:
            found = _other("operator", what_of(self.old, a), what_of(self.new, b))
        return None if self.otherwise(a, b) else found

    def inputs(self, a: End, b: End) -> Difference | None:
        """Both come to an input, or to what a round of a loop starts from."""
        one, two = self.old.reading.names.get(a.value, ""), self.new.reading.names.get(b.value, "")
        if one != two and (one in self.new.reading.flow.inputs or two in self.old.reading.flow.inputs):
            return _other("input in this place", one or None, two or None)
        turns = _composed(a.turned), _composed(b.turned)
        if turns[0] is not None and turns[1] is not None and turns[0] != turns[1]:
            return _other("order of axes", *(", ".join(map(str, each or ())) or None for each in turns))
        return None

    def constants(self, a: End, b: End) -> Difference | None:
        """What follows from no input's values: of what only one side has worked out, nothing is known."""
        one, two = self.old.reading.maker(a.value), self.new.reading.maker(b.value)
        if a.value not in self.old.free.held and b.value not in self.new.free.held:
            axes = measured(self.old, a), measured(self.new, b)
            x, y = axes
            if x is not None and y is not None and x != y and (x < 0) == (y < 0):
                return _other("axis whose size it takes", x, y)
            return None
        held = self.old.reading.held(a.value) is not None, self.new.reading.held(b.value) is not None
        if not any(held) and one is not None and two is not None and a.value in self.old.free.held:
            if one[0].op != two[0].op:
                return _other("operator of a constant", one[0].op, two[0].op)
            return self.same(a, b, one, two) if b.value in self.new.free.held else None
        if not all(held):
            return None
        was, now = _constant(self.old, a.value), _constant(self.new, b.value)
        if was is None or now is None or close(was, now):
            return None
        return _other("constant", show(was), show(now))

    def same(self, a: End, b: End, one: tuple[Step, int], two: tuple[Step, int]) -> Difference | None:
        """The same operator on both sides: its settings, then what it takes."""
        (before, place), (after, other) = one, two
        if place != other:
            return _other(f"part of {before.op}", place, other)
        if not foreign(before):
            turned = a.turned != b.turned
            was, now = (settings_of(side, step) for side, step in ((self.old, before), (self.new, after)))
            for name in [name for name in was | now if not (turned and name in _WAYS)]:
                if name in was and name in now:
                    if not close(was[name], now[name]) and not _unsure(name, was[name], now[name]):
                        return _other(f"{before.op} {name}", show(was[name]), show(now[name]))
                elif not _computed(self.old, before, name) and not _computed(self.new, after, name):
                    shown = (show(each[name]) if name in each else None for each in (was, now))
                    return _other(f"{before.op} {name}", *shown)
        return self.taken(before.op, self.operands(self.old, a, before), self.operands(self.new, b, after))

    def operands(self, side: Side, at: End, step: Step) -> list[End]:
        """What a step takes besides its settings."""
        moved = set(places(step).values())
        return [
            at._replace(value=each)
            for i, each in enumerate(step.inputs)
            if each and (i not in moved or each not in side.free.all)
        ]

    def taken(self, op: str, one: list[End], two: list[End]) -> Difference | None:
        """What both take; either way round where that is the same."""
        if len(one) != len(two):
            return _other(f"number of inputs of {op}", len(one), len(two))
        if op in _EITHER and len(one) == 2:
            kinds = [
                [what_of(side, skip(side, end)) for end in ends] for side, ends in ((self.old, one), (self.new, two))
            ]
            unsure = kinds[0][0] == kinds[0][1]
            straight = self.agree(zip(one, two, strict=True)) if unsure else kinds[0] != kinds[1][::-1]
            two = two if straight else two[::-1]
        for x, y in zip(one, two, strict=True):
            if x.value in self.old.free.all and y.value in self.new.free.all:
                if (found := self.constants(x, y)) is not None:
                    return found
            else:
                self.todo.append((x, y))
        return None

    def agree(self, ends: Iterable[tuple[End, End]]) -> bool:
        """Whether all of these pairs are the same."""
        for each in ends:
            inner = _Pairing(self.old, self.new, self.shared, self.depth + 1)
            if inner.run(*each) is not None:
                return False
            self.shared.proven |= inner.seen
        return True

    def otherwise(self, a: End, b: End) -> bool:
        """Whether two values are the same, written in another way."""
        one, two = scaled(self.old, a), scaled(self.new, b)
        if (one[1], two[1]) != (a, b) and one[0].known and two[0].known:
            alike = all(close(x, y) for x, y in ((one[0].scale, two[0].scale), (one[0].offset, two[0].offset)))
            if alike and self.agree([(one[1], two[1])]):
                return True
        was, now = limited(self.old, a), limited(self.new, b)
        alike = all(close((x,), (y,)) for x, y in zip(was[0], now[0], strict=True))
        if (was[1] != a or now[1] != b) and alike and self.agree([(was[1], now[1])]):
            return True
        words = word(self.old, a), word(self.new, b)
        if words[0] and words[1] and words[0][0] == words[1][0] and what_of(self.old, a) != what_of(self.new, b):
            return len(words[0][1]) == len(words[1][1]) and self.agree(zip(words[0][1], words[1][1], strict=True))
        for k, (side, end) in enumerate(((self.old, a), (self.new, b))):
            made = side.reading.maker(end.value)
            if made is not None and made[0].op == "If" and not made[0].domain:
                for each in made[0].inputs[1:]:
                    branch = end._replace(value=each)
                    if self.agree([(a, branch) if k else (branch, b)]):
                        return True
        return False


def _computed(side: Side, step: Step, name: str) -> bool:
    """Whether a graph works a setting out, or gives it as something that is not read."""
    place = places(step).get(name, -1)
    if name in ("scales", "sizes") and step.op in ("Resize", "Upsample"):
        return True  # either is given, and the sizes are judged by ONX-SHAPE
    said = 0 <= place < len(step.inputs) and bool(step.inputs[place])
    return said and side.reading.values(step.inputs[place]) != ()


def _composed(turned: tuple[tuple[int, ...], ...]) -> tuple[int, ...] | None:
    """All turns as one, () where the order is as it was; None where that cannot be told."""
    size = max(map(len, turned), default=0)
    order = tuple(range(size))
    for each in turned:
        turn = each or tuple(range(size))[::-1]
        if sorted(turn) != list(range(size)):
            return None
        order = tuple(turn[i] for i in order)
    return () if order == tuple(range(size)) else order


def _unsure(name: str, was: Values, now: Values) -> bool:
    """Whether axes are counted from different ends of a shape that is not known."""
    if name not in ("axis", "axes") or len(was) != len(now):
        return False
    return any(isinstance(x, int) and isinstance(y, int) and (x < 0) != (y < 0) for x, y in zip(was, now, strict=True))


def _constant(side: Side, value: int) -> Values | None:
    held = side.reading.held(value)
    tensor = None if held is None else held.tensor
    return side.reading.values(value) if tensor is None else values(side.reading.source, tensor, LONG)


def _reshaped(was: Shapes, now: Shapes) -> Difference | None:
    """Whether both sides bring what they have into another shape; one number may stand for the rest, or a batch."""
    if len(was) == len(now):
        for one, two in zip(was, now, strict=True):
            if len(one) == len(two) and any(x != y and x > 0 and y > 0 for x, y in zip(one, two, strict=True)):
                return _other("shape on the way", show(one), show(two))
    return None


def _other(what: str, old: object, new: object) -> Difference:
    return Difference("unproven", what, old, new)
