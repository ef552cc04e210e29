"""Operators that join, cut, pick and repeat values."""

from __future__ import annotations

from .elementwise import show_shape
from .engine import MAX_VALUES, UNKNOWN, Call, Fact, Step
from .samples import follows
from .terms import Shape, Term, fixed, named, plus, show, times, whole

_FAR = (1 << 31) - 1


def concat(call: Call) -> list[Fact]:
    """One after the other along an axis."""
    known = [fact.shape for fact in call.inputs if fact.shape is not None]
    if len(known) < len(call.inputs) or not known:
        return [UNKNOWN]
    if len({len(each) for each in known}) > 1:
        call.fault(f"joins {' and '.join(map(show_shape, known[:4]))}, which differ in rank")
        return [UNKNOWN]
    axis = call.axis(call.integer("axis", 1), len(known[0]))
    if axis is None:
        return [UNKNOWN]
    result = list(known[0])
    for each in known[1:]:

        def told(each: Shape = each) -> str:
            return f"joins {show_shape(known[0])} and {show_shape(each)} along axis {axis}"

        result = [a if i == axis else call.meet(a, b, told) for i, (a, b) in enumerate(zip(result, each, strict=True))]
    result[axis] = plus(each[axis] for each in known)
    parts = [fact.values for fact in call.inputs]
    values = tuple(term for part in parts if part is not None for term in part)
    return [Fact(tuple(result), values if None not in parts and len(values) <= MAX_VALUES else None)]


def gather(call: Call) -> list[Fact]:
    """Slices of the first input at the positions that the second holds."""
    data, where = call.shape(0), call.shape(1)
    if data is None or where is None:
        return [UNKNOWN]
    axis = call.axis(call.integer("axis", 0), len(data))
    if axis is None:
        return [UNKNOWN]
    values, at, length = call.values(0), call.numbers(1), fixed(data[axis])
    if at and length is not None and (odd := [i for i in at if not -length <= i < length]):
        call.fault(f"reads position {odd[0]} along axis {axis} of {show_shape(data)}")
        return [UNKNOWN]
    picked = None
    if values is not None and at is not None and len(data) == 1 and len(values) == length:
        picked = tuple(values[i] for i in at)
    return [Fact((*data[:axis], *where, *data[axis + 1 :]), picked if len(where) < 2 else None)]


def gather_elements(call: Call) -> list[Fact]:
    """As many values as positions."""
    return [Fact(call.shape(1))]


def slice_(call: Call) -> list[Fact]:
    """From starts to ends along axes."""
    before = call.shape(0)
    if before is None:
        return [UNKNOWN]
    if call.opset < 10:
        starts, ends, along, steps = (call.integers(name) for name in ("starts", "ends", "axes", "steps"))
        missing = starts is None or ends is None
    else:
        starts, ends, along, steps = (call.numbers(i) for i in range(1, 5))
        missing = (call.given(3) and along is None) or (call.given(4) and steps is None)
    if starts is not None and ends is None and not missing and call.opset >= 10:
        return [_to_open(call, before, starts, along, steps)]
    if starts is None or ends is None or missing:
        return [Fact(tuple(call.fresh(i) for i in range(len(before))))]
    along = list(range(len(starts))) if along is None else along
    steps = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(along) == len(steps) or 0 in steps:
        return [UNKNOWN]
    result, values = list(before), call.values(0)
    for start, end, at, step in zip(starts, ends, along, steps, strict=True):
        axis = call.axis(at, len(before))
        if axis is None:
            return [UNKNOWN]
        length = fixed(before[axis])
        if step < 0:
            result[axis] = call.fresh(axis)
        elif length is not None:
            result[axis] = whole(len(range(*slice(start, end, step).indices(length))))
        elif (start, step) != (0, 1) or end < _FAR:
            result[axis] = _cut(before[axis], start, end, step)
    if values is not None and len(before) == 1 and len(starts) == 1 and steps[0] > 0:
        values = values[slice(starts[0], ends[0], steps[0])]
        return [Fact(tuple(result), values)]
    return [Fact(tuple(result))]


def _to_open(call: Call, before: Shape, starts: list[int], along: list[int] | None, steps: list[int] | None) -> Fact:
    """A table cut to the size of something else, which may be longer than the table."""
    result = [call.fresh(i) for i in range(len(before))]
    ends = call.values(2)
    if ends is None or len(starts) != 1 or len(ends) != 1 or len(along or [0]) != 1 or (steps or [1]) != [1]:
        return Fact(tuple(result))
    axis = call.axis((along or [0])[0], len(before))
    if axis is None:
        return UNKNOWN
    result = list(before)
    length, end = fixed(before[axis]), ends[0]
    if length is None or end is None or starts != [0] or end[0] < 1 or not end[1]:
        result[axis] = call.fresh(axis)
        return Fact(tuple(result))
    name = named(f"min({length},{show(end)})")
    result[axis] = follows(name, [end], lambda row: min(length, row[0]) if row[0] >= 0 else None)
    call.result.cuts[name[1][0]] = end, length
    return Fact(tuple(result))


def _cut(size: Term, start: int, end: int, step: int) -> Term:
    name = named(f"{show(size)}[{start}:{end}:{step}]")
    return follows(name, [size], lambda row: len(range(*slice(start, end, step).indices(row[0]))))


def split(call: Call) -> list[Fact]:
    """Pieces along an axis, of given or of equal sizes."""
    before, count = call.shape(0), len(call.node.outputs)
    if before is None:
        return [UNKNOWN]
    axis = call.axis(call.integer("axis", 0), len(before))
    if axis is None:
        return [UNKNOWN]
    given = call.given(1) if call.opset >= 13 else call.attribute("split") is not None
    sizes = (call.numbers(1) if call.opset >= 13 else call.integers("split")) if given else None
    pieces: list[Term] = [call.fresh(axis, i) for i in range(count) if call.node.outputs[i]]
    if given:
        if sizes is not None and len(sizes) == count:
            told = f"cuts axis {axis} of {show_shape(before)} into {sizes}"
            call.meet(before[axis], whole(sum(sizes)), lambda: told)
            pieces = [whole(each) for each in sizes]
    elif (length := fixed(before[axis])) is not None and length % count == 0:
        pieces = [whole(length // count)] * count
    if len(pieces) != count:
        return [UNKNOWN]
    return [Fact((*before[:axis], piece, *before[axis + 1 :])) for piece in pieces]


def tile(call: Call) -> list[Fact]:
    """Repeated along every axis."""
    before, repeats = call.shape(0), call.values(1)
    if before is None:
        return [UNKNOWN]
    if repeats is None or len(repeats) != len(before):
        return [Fact(tuple(call.fresh(i) for i in range(len(before))))]
    pairs = zip(before, repeats, strict=True)
    return [Fact(tuple(call.fresh(i) if b is None else times((a, b)) for i, (a, b) in enumerate(pairs)))]


def pad(call: Call) -> list[Fact]:
    """Longer, or shorter, at both ends of every axis."""
    before = call.shape(0)
    if before is None:
        return [UNKNOWN]
    pads = call.integers("pads") if call.opset < 11 else call.numbers(1)
    rank = len(before)
    if pads is None or len(pads) != 2 * rank or call.given(3):
        return [Fact(tuple(call.fresh(i) for i in range(rank)))]
    added = [pads[i] + pads[i + rank] for i in range(rank)]
    sizes = [(fixed(term), term, more) for term, more in zip(before, added, strict=True)]
    return [
        Fact(
            tuple(
                term if more == 0 else whole(n + more) if n is not None else _longer(term, more)
                for n, term, more in sizes
            )
        )
    ]


def _longer(term: Term, more: int) -> Term:
    return follows(
        named(f"pad({show(term)},{more})"), [term], lambda row: row[0] + more if row[0] + more >= 0 else None
    )


def range_(call: Call) -> list[Fact]:
    """Numbers from start to limit by delta."""
    ends = [call.values(i) for i in range(3)]
    first = [each[0] if each is not None and len(each) == 1 else None for each in ends]
    if first[0] == whole(0) and first[2] == whole(1) and first[1] is not None:
        return [Fact((first[1] if first[1][0] > 0 else whole(0),))]
    return [Fact((call.fresh(0),))]


def non_zero(call: Call) -> list[Fact]:
    """Positions: one row an axis."""
    before = call.shape(0)
    return [UNKNOWN if before is None else Fact((whole(max(1, len(before))), call.fresh(1)))]


def one_hot(call: Call) -> list[Fact]:
    """A new axis of `depth`."""
    before, depth = call.shape(0), call.values(1)
    if before is None:
        return [UNKNOWN]
    rank, axis = len(before) + 1, call.integer("axis", -1)
    if not -rank <= axis < rank:
        return [UNKNOWN]
    axis %= rank
    new = depth[0] if depth is not None and len(depth) == 1 and depth[0] is not None else call.fresh(axis)
    return [Fact((*before[:axis], new, *before[axis:]))]


STEPS: dict[tuple[str, str], Step] = {
    ("", "Concat"): concat,
    ("", "Gather"): gather,
    ("", "GatherElements"): gather_elements,
    ("", "Slice"): slice_,
    ("", "Split"): split,
    ("", "Tile"): tile,
    ("", "Pad"): pad,
    ("", "Range"): range_,
    ("", "NonZero"): non_zero,
    ("", "OneHot"): one_hot,
}
