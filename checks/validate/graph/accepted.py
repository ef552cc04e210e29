"""How many different values an input may have: rows of the tables that it indexes, categories that it is looked up in.

A value is followed back from where it is used to the input it came from, through operators that keep it or move it by
a constant. What the graph computes from it is its own affair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ....models.numerals import whole
from ....models.onnx_flow import Step
from ....models.onnx_values import Values
from .classes import MAPS, default, named, table
from .reading import MEASURES, SHAPING, TRANSPARENT, Reading, floats

Kind = Literal["value", "length"]


class Origin(NamedTuple):
    """An input, which part of it, and whether its values or its length count; `offset` is added on the way, and what
    is above `most` counts as that."""

    input: str
    kind: Kind
    part: str
    offset: int = 0
    most: int | None = None


@dataclass(slots=True)
class Accepted:
    """The smallest table that a part of an input indexes, and the categories it is looked up in."""

    rows: int = 0
    table: str = ""
    clipped: bool = False  # `rows` is where the graph cuts values off, which fails no request
    strict: bool = False  # a value beyond fails the request, instead of counting as unknown
    names: set[str] = field(default_factory=set[str])


_KEPT = SHAPING | TRANSPARENT | {"Transpose", "Relu", "Abs", "Tile"}
_EITHER = frozenset({"Concat", "Where", "Min", "Max", "If", "Loop", "Scan"})
_STEPS = 100  # deep enough for any preparation of ids, and far from Python's own limit
# Operators of other domains with tables: where the table and where its index lie among their inputs.
_FUSED = {
    "EmbedLayerNormalization": ((2, 0), (3, 0), (4, 1)),
    "GatherBlockQuantized": ((0, 1),),
    "RotaryEmbedding": ((2, 1), (3, 1)),
    "GroupQueryAttention": ((7, 6),),
}


def accepted(reading: Reading) -> dict[tuple[str, Kind, str], Accepted]:
    """By input, what counts and part of it."""
    found: dict[tuple[str, Kind, str], Accepted] = {}
    origins = _Origins(reading)
    for step in reading.flow.steps:
        for rows, ids, strict, name, known, length in _tables(reading, step):
            for origin in origins.of(ids):
                kind: Kind = "length" if length else origin.kind
                entry = found.setdefault((origin.input, kind, origin.part), Accepted())
                if known:
                    entry.names = entry.names & known if entry.names else set(known)
                    entry.strict |= strict
                    continue
                count = rows - origin.offset
                clipped = origin.most is not None and origin.most < count
                count = origin.most + 1 if clipped and origin.most is not None else count
                if not entry.rows or count < entry.rows:
                    entry.rows, entry.table, entry.strict, entry.clipped = count, name, strict, clipped
    return found


class _Table(NamedTuple):
    rows: int
    ids: int
    strict: bool
    name: str = ""
    known: frozenset[str] = frozenset()
    length: bool = False


def _tables(reading: Reading, step: Step) -> Iterator[_Table]:
    """The tables that a step looks its inputs up in."""
    op, inputs, count = step.op, step.inputs, len(step.inputs)
    if op in ("Gather", "GatherElements", "GatherND") and not step.domain and count > 1:
        yield from _rows(reading, inputs[0], inputs[1], reading.number(step, "axis", 0))
    elif op == "OneHot" and not step.domain and count > 1:
        depth = floats(reading.values(inputs[1]))
        if depth and depth[0].is_integer():
            yield _Table(int(depth[0]), inputs[0], strict=False)
    elif op == "RotaryEmbedding" and not step.domain and count > 3:
        yield from _rows(reading, inputs[1], inputs[3], 0)
    elif step.domain == "com.microsoft" and op in _FUSED:
        for place, ids in _FUSED[op]:
            if count > max(place, ids):
                length = op == "GroupQueryAttention" or (op == "EmbedLayerNormalization" and place == 3)
                for each in _rows(reading, inputs[place], inputs[ids], 0):
                    yield each._replace(length=length)
    elif step.domain == "ai.onnx.ml" and op in MAPS and count:
        known = table(reading, step)
        if known:
            yield _Table(0, inputs[0], strict=_nowhere(reading, step), known=frozenset(known))
    elif step.domain == "ai.onnx.ml" and op in ("DictVectorizer", "OneHotEncoder") and count:
        names = named(reading, step)
        strict = op == "OneHotEncoder" and not reading.number(step, "zeros", 1)
        if names:
            yield _Table(0, inputs[0], strict, known=frozenset(map(str, names)))


def _nowhere(reading: Reading, step: Step) -> bool:
    """Whether the number that unknown categories get is beyond the table that it indexes."""
    said = default(reading, step)
    size = whole(said.removeprefix("-"))
    if not step.outputs or size is None:
        return False
    number = -size if said.startswith("-") else size
    todo = [step.outputs[0]]
    for _ in range(_STEPS):
        if not todo:
            break
        for user, place in reading.flow.users[todo.pop()]:
            if not user.domain and user.op in SHAPING | TRANSPARENT and place == 0:
                todo.extend(user.outputs)
            elif not user.domain and user.op == "Gather" and place == 1:
                tables = _rows(reading, user.inputs[0], user.inputs[1], reading.number(user, "axis", 0))
                if any(not -each.rows <= number < each.rows for each in tables):
                    return True
    return False


def _rows(reading: Reading, data: int, index: int, axis: int) -> Iterator[_Table]:
    """A table whose rows lie along `axis`, unless the graph computes it."""
    for _ in range(_STEPS):
        made = reading.maker(data)
        if made is None or not made[0].inputs or made[0].op not in TRANSPARENT | {"DequantizeLinear"}:
            break
        data = made[0].inputs[0]
    held = reading.flow.held.get(data)
    dims = None if held is None else held.dims
    if held is not None and held.tensor is not None and dims and -len(dims) <= axis < len(dims):
        yield _Table(dims[axis], index, strict=True, name=held.tensor.name)


class _Origins:
    """Where values come from, each followed once."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.names = reading.names
        self.known: dict[int, tuple[Origin, ...]] = {}

    def of(self, value: int, depth: int = 0) -> tuple[Origin, ...]:
        """The inputs that a value is taken from, none where the graph computes or holds it."""
        if not value or depth > _STEPS:
            return ()
        if value not in self.known:
            self.known[value] = ()  # a circle has no origin
            self.known[value] = tuple(dict.fromkeys(self._of(value, depth)))[:64]
        return self.known[value]

    def _of(self, value: int, depth: int) -> Iterator[Origin]:
        if value in self.names:
            yield Origin(self.names[value], "value", "")
            return
        made = self.reading.maker(value)
        if made is None or made[0].domain:
            return
        step, place = made
        op, inputs = step.op, step.inputs
        if op == "Clip":
            most = self.reading.integers(step, "max", 2)
            for origin in self.of(inputs[0], depth + 1):
                cut = most[0] - origin.offset if most and origin.kind == "value" else None
                known = [each for each in (origin.most, cut) if each is not None]
                yield origin._replace(most=min(known)) if known else origin
        elif op in _KEPT:
            yield from self.of(inputs[0], depth + 1)
        elif op in _EITHER:
            for each in inputs[1:] if op in ("Where", "If", "Loop") else inputs:
                yield from self.of(each, depth + 1)
        elif op in ("Add", "Sub"):
            yield from self._moved(step, depth)
        elif op == "Mul":
            for each in inputs:
                yield from (origin for origin in self.of(each, depth + 1) if origin.kind == "length")
        elif op in ("Gather", "Slice", "Split"):
            yield from self._part(step, place, depth)
        elif op == "CumSum" or op in MEASURES:
            for name in self._root(inputs[0]):
                yield Origin(name, "length", "")
        elif op in ("Range", "ConstantOfShape", "NonZero"):
            for each in inputs:
                yield from (origin for origin in self.of(each, depth + 1) if origin.kind == "length")

    def _moved(self, step: Step, depth: int) -> Iterator[Origin]:
        for i, each in enumerate(step.inputs):
            other = self.reading.values(step.inputs[1 - i])
            by = int(other[0]) if other and len(other) == 1 and isinstance(other[0], int | float) else 0
            for origin in self.of(each, depth + 1):
                yield origin._replace(offset=origin.offset + (-by if step.op == "Sub" else by))

    def _part(self, step: Step, place: int, depth: int) -> Iterator[Origin]:
        """A column or a slice of something: the part is named as the graph names it."""
        said: list[Values | None] = [self.reading.values(each) for each in step.inputs[1:]]
        part = f"{place}" if step.op == "Split" else ",".join(str(list(each)) for each in said if each is not None)
        for origin in self.of(step.inputs[0], depth + 1):
            yield origin if origin.kind == "length" else origin._replace(part=f"{origin.part}/{part}")
        for each in step.inputs[1:]:  # a constant list of positions cut to the length of the input
            yield from (origin for origin in self.of(each, depth + 1) if origin.kind == "length")

    def _root(self, value: int) -> set[str]:
        """The inputs that a value's length is taken from."""
        for _ in range(_STEPS):
            if value in self.names:
                return {self.names[value]}
            made = self.reading.maker(value)
            if made is None:
                return set()
            value = next((each for each in made[0].inputs if each and self.reading.held(each) is None), 0)
        return set()
