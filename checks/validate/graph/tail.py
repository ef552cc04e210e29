"""Two outputs followed back side by side, from what a client sees to the last operator that was trained.

What was trained may differ: that is what an update is for. What stands between it and the client may not: activations,
axes, constants that give the values their scale, sorting and selection.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import meanings, operands, traits
from .alike import equivalent, neighbours, paired, part, parts
from .classes import CLASSIFIERS, LOOKUPS
from .columns import columns
from .families import (
    AFFINE,
    BODIES,
    JOINS,
    LIMITED,
    LINEAR,
    PASSES,
    RANKED,
    REDUCTIONS,
    SHIELDS,
    STRONG,
    WHOLE,
)
from .meanings import Meaning, meaning
from .operands import Difference
from .places import At, skip
from .reading import Reading

_LIMIT = 2000
_PLAIN = frozenset({"MatMul", "Gemm", "Conv"})
_SCORES = frozenset({"Add", "Sub", "Sum", "MatMul", "Gemm"})
_NESTED = 20


def compare(old: Reading, new: Reading, a: int, b: int, rank: int | None) -> Iterator[Difference]:
    """What a client can tell apart between value `a` of the old flow and value `b` of the new one.

    `rank` is the output's number of dimensions, None where it is not declared.
    """
    left = [_LIMIT]
    yield from _Pairing(old, new, rank, left).run(At(a), At(b), True)
    if left[0] <= 0:
        # A few hundred do for any published model; what was left unread is not called the same.
        yield Difference("unproven", f"head than {_LIMIT} steps could compare")


class _Pairing:
    """The pairs of values still to compare. `left` bounds them over all bodies together."""

    def __init__(self, old: Reading, new: Reading, rank: int | None, left: list[int], depth: int = 0) -> None:
        self.old, self.new, self.rank, self.left, self.depth = old, new, rank, left, depth
        self.seen: set[tuple[int, int, bool]] = set()
        self.todo: list[tuple[At, At, bool]] = []

    def run(self, a: At, b: At, exposed: bool) -> Iterator[Difference]:
        """Compare a pair and all that it leads to; `exposed` where a client sees these numbers."""
        self.todo.append((a, b, exposed))
        while self.todo and self.left[0] > 0:
            self.left[0] -= 1
            yield from self.pair(*self.todo.pop())

    def pair(self, a: At, b: At, exposed: bool) -> Iterator[Difference]:
        """One pair of values."""
        a, b = skip(self.old, a), skip(self.new, b)
        if (a.value, b.value, exposed) in self.seen:
            return
        self.seen.add((a.value, b.value, exposed))
        before, after = meaning(self.old, a.value), meaning(self.new, b.value)
        if exposed and before is not None and after is not None:
            yield from operands.scales(self.old, self.new, before, after)
            if a.cut != b.cut and before.op == after.op and before.op not in WHOLE:
                yield Difference("unproven", "rounding", *("whole" if each.cut else "as computed" for each in (a, b)))
        if before is None or after is None:
            yield from self.ends(a, b, before, after, exposed)
        elif before.op == after.op:
            yield from self.same(a, b, before, after, exposed)
        else:
            yield from self.other(a, b, before, after, exposed)

    def ends(self, a: At, b: At, before: Meaning | None, after: Meaning | None, exposed: bool) -> Iterator[Difference]:
        """One side comes to an input or a constant."""
        if before is None and after is None:
            one, two = self.old.names.get(a.value, ""), self.new.names.get(b.value, "")
            if one != two and one in self.new.flow.inputs and two in self.old.flow.inputs:
                yield Difference("unproven", "input in this place", one, two)
            elif exposed:
                yield from operands.constants(self.old, self.new, a.value, b.value)
            return
        found = before or after
        if exposed and found is not None and found.op in STRONG:
            yield Difference("unproven", "final operator", before.op if before else None, after.op if after else None)

    def other(self, a: At, b: At, before: Meaning, after: Meaning, exposed: bool) -> Iterator[Difference]:
        """Two operators that are not the same: the graph of one side may have a step more."""
        if (steps := self.undecoded(a, b, before, after)) is not None:
            self.todo.append((*steps, exposed))
            return
        amounts = meanings.affine(self.old, before), meanings.affine(self.new, after)
        if amounts[0] and amounts[1] and amounts[0].equals(amounts[1]):
            values = a._replace(value=amounts[0].value), b._replace(value=amounts[1].value)
            self.todo.append((*values, exposed))
            return
        for side, reading, at, found in ((0, self.old, a, before), (1, self.new, b, after)):
            if found.op in BODIES:
                yield from self.branches(a, b, found, side, exposed)
                return
            added = amounts[side]
            if added is not None and not meanings.bias(reading, found):
                if added.changes and (exposed or added.reverses):
                    shown = f"{found.op} {added.shown}"
                    what = "scale" if exposed else "order before the final operator"
                    yield Difference("unproven", what, None if side else shown, shown if side else None)
                further = at._replace(value=added.value)
                self.todo.append((a, further, exposed) if side else (further, b, exposed))
                return
        if exposed:
            found, values = columns(((self.old, before), (self.new, after)))
            if any(values):
                yield from (found,) if found else ()
                self.todo.append((a._replace(value=values[0] or a.value), b._replace(value=values[1] or b.value), True))
                return
        kinds = {before.op, after.op}
        if not exposed:
            if "Neg" in kinds:
                yield Difference("unproven", "order before the final operator", before.op, after.op)
        elif before.op in LIMITED and after.op in LINEAR:
            yield Difference("unproven", "range", before.op, after.op)
        elif before.place == after.place == 1 and kinds <= CLASSIFIERS:
            known = traits.probable(self.old, before.step), traits.probable(self.new, after.step)
            if known[0] != known[1]:
                yield Difference(
                    "unproven", "kind of scores", *("probabilities" if each else "scores" for each in known)
                )
        elif (self.strong(before, after) or kinds <= REDUCTIONS) and not equivalent(self.old, self.new, before, after):
            yield Difference("unproven", "final operator", before.op, after.op)

    def strong(self, before: Meaning, after: Meaning) -> bool:
        """Whether one of two operators decides what the values mean."""
        kinds = {before.op, after.op}
        svm = any(
            found.op == "SVMClassifier" and found.place == 1 and traits.probable(reading, found.step)
            for reading, found in ((self.old, before), (self.new, after))
        )
        if svm and kinds & _SCORES:
            return True
        return bool(kinds & STRONG) or traits.normalised(self.old, before) != traits.normalised(self.new, after)

    def undecoded(self, a: At, b: At, before: Meaning, after: Meaning) -> tuple[At, At] | None:
        """The two values without the label lookup that is on one side only, or None. ONX-LABEL reads the labels."""
        one, two = traits.decoded(self.old, before), traits.decoded(self.new, after)
        if bool(one) == bool(two):
            return None
        return (a._replace(value=one), b) if one else (a, b._replace(value=two))

    def branches(self, a: At, b: At, found: Meaning, side: int, exposed: bool) -> Iterator[Difference]:
        """A choice of bodies against none: it differs where none of the bodies agrees."""
        said: list[list[Difference]] = []
        if self.depth >= _NESTED:
            self.left[0] = 0
            return
        for value in found.inputs if found.op == "Scan" else found.inputs[1:]:
            one, two = (a, b._replace(value=value)) if side else (a._replace(value=value), b)
            inner = _Pairing(self.old, self.new, self.rank, self.left, self.depth + 1)
            said.append(list(inner.run(one, two, exposed)))
        yield from min(said, key=len) if said else ()

    def same(self, a: At, b: At, before: Meaning, after: Meaning, exposed: bool) -> Iterator[Difference]:
        """The same operator on both sides: its settings, its constants, and what it takes."""
        op = before.op
        if op in CLASSIFIERS:
            yield from self.transforms(before, after)
            return
        yield from self.axes(a, b, before, after, exposed)
        if op == "Split" and exposed and before.place != after.place:
            yield Difference("unproven", "part of what is split", before.place, after.place)
        if op == "Concat" and exposed and len(before.inputs) == len(after.inputs):
            yield from operands.pieces(self.old, self.new, before, after)
            yield from self.corners(before, after)
        if op in operands.COMPARED or op in AFFINE or op in PASSES or op in JOINS or op in LOOKUPS:
            yield from operands.compare(self.old, self.new, before, after, exposed)
        elif before.step.domain == "com.microsoft":
            yield from operands.tokens(self.old, self.new, before, after)
        elif op == "Mean":
            yield from operands.means(self.old, self.new, before, after)
        elif op in operands.CONVOLUTIONS and exposed and not (a.shaped or b.shaped) and a.turned != b.turned:
            yield Difference("unproven", "order of axes", a.turned[::-1] or None, b.turned[::-1] or None)
        further = exposed and op not in SHIELDS
        if op in RANKED:
            a, b = a._replace(shaped=True), b._replace(shaped=True)
        if op == "ReduceMean" and neighbours(self.old, before) and neighbours(self.new, after):
            return
        if op in SHIELDS or op in PASSES:
            hidden = further and not (op == "TopK" and before.place == 1)
            self.todo.append((a._replace(value=before.inputs[0]), b._replace(value=after.inputs[0]), hidden))
        elif not exposed and op in (JOINS | AFFINE) - BODIES and meanings.affine(self.old, before) is None:
            return  # what is joined here has an order of its own
        elif op in JOINS or op in AFFINE:
            shown = further and (op in JOINS or meanings.affine(self.old, before) is not None)
            for one, two in paired(self.old, self.new, before, after):
                self.todo.append((a._replace(value=one), b._replace(value=two), shown))
        elif op in LOOKUPS:
            self.todo.append((a._replace(value=before.inputs[0]), b._replace(value=after.inputs[0]), further))
            if self.old.held(before.inputs[0]) is not None:
                self.todo.append((a._replace(value=before.inputs[1]), b._replace(value=after.inputs[1]), False))

    def corners(self, before: Meaning, after: Meaning) -> Iterator[Difference]:
        """Parts that one side takes from a product as they are, and the other as a difference: boxes by their corners,
        or by their centre and size."""
        for one, two in zip(before.inputs, after.inputs, strict=True):
            kinds = part(self.old, one), part(self.new, two)
            if "Sub" in kinds and set(kinds) & _PLAIN:
                yield Difference("unproven", "kind of joined part", *kinds)

    def transforms(self, before: Meaning, after: Meaning) -> Iterator[Difference]:
        """What two classifiers make of their scores."""
        sides = (self.old, before.step), (self.new, after.step)
        was, now = (str(reading.scalar(step, "post_transform", "NONE")) for reading, step in sides)
        if before.place == after.place == 0:
            return  # the label is chosen by the scores themselves
        known = [traits.probable(*side) for side in sides]
        if was != now and not all(known):
            yield Difference("unproven", f"{before.op} post_transform", was, now)
        elif known[0] != known[1] and before.op == "SVMClassifier":
            yield Difference(
                "unproven", "kind of scores", *("probabilities" if each else "decisions" for each in known)
            )

    def axes(self, a: At, b: At, before: Meaning, after: Meaning, exposed: bool) -> Iterator[Difference]:
        """The axis that an operator works along, in terms of the output's axes."""
        if before.op not in operands.ALONG or before.step.op != before.op or after.step.op != after.op:
            return
        old = operands.along(self.old, before.step, None if a.shaped else self.rank, a.turned)
        new = operands.along(self.new, after.step, None if b.shaped else self.rank, b.turned)
        if a.shaped and b.shaped and a.turned == b.turned:
            one, two = operands.axis(self.old, before.step), operands.axis(self.new, after.step)
            if one != two and (one < 0) == (two < 0):
                yield Difference("unproven", f"{before.op} axis", one, two)
        if old is not None and new is not None and old != new and (exposed or not (a.shaped or b.shaped)):
            if before.op == "Concat":
                kinds = parts(self.old, before), parts(self.new, after)
                if not set(kinds[0]) & set(kinds[1]):
                    # Other things are joined: coordinates that a graph worked out, or what it worked them out from.
                    yield Difference("breaks", "kind of joined parts", *(", ".join(each) or None for each in kinds))
                    return
            yield Difference("breaks", f"{before.op} axis", *(",".join(map(str, each)) for each in (old, new)))
