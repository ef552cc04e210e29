"""Operators that move, cut, join or count values."""

from __future__ import annotations

from math import gcd

from .elementwise import broadcast, show_shape
from .engine import UNKNOWN, Call, Fact, Step
from .terms import Shape, Term, divide, fixed, named, plus, show, times, whole

_FAR = (1 << 31) - 1
MAX_VALUES = 256


def shape(call: Call) -> list[Fact]:
    """The sizes themselves, from `start` to `end`."""
    sizes = call.shape(0)
    if sizes is None:
        return [UNKNOWN]
    cut = sizes[slice(call.integer("start", 0), call.integer("end", len(sizes)))]
    return [Fact((whole(len(cut)),), cut)]


def count(call: Call) -> list[Fact]:
    """The number of values."""
    sizes = call.shape(0)
    return [Fact((), None if sizes is None else (times(sizes),))]


def constant(call: Call) -> list[Fact]:
    """A tensor in an attribute."""
    for attribute in call.node.attributes:
        if attribute.name == "value" and attribute.tensors:
            return [call.constant(attribute.tensors[0])]
        if attribute.name == "value_int" and attribute.integers:
            return [Fact((), (whole(attribute.integers[-1]),))]
        if attribute.name == "value_ints" and 0 < len(attribute.integers) < MAX_VALUES:
            return [Fact((whole(len(attribute.integers)),), tuple(map(whole, attribute.integers)))]
        if attribute.name in ("value_float", "value_string"):
            return [Fact(())]
    return [UNKNOWN]


def filled(call: Call) -> list[Fact]:
    """A tensor of the size that the first input says, all of one value."""
    sizes = _sizes(call, 0)
    if sizes is None:
        return [UNKNOWN]
    attribute = call.attribute("value")
    fill = call.constant(attribute.tensors[0]).values if attribute is not None and attribute.tensors else None
    count = fixed(sizes[0]) if len(sizes) == 1 else None
    values = fill * count if fill is not None and len(fill) == 1 and count is not None and count <= MAX_VALUES else None
    return [Fact(sizes, values)]


def _sizes(call: Call, index: int) -> Shape | None:
    """A shape that an input holds; None where not even its rank is known."""
    values, holder = call.values(index), call.shape(index)
    if values is None:
        rank = fixed(holder[0]) if holder is not None and len(holder) == 1 else None
        if rank is None or rank > MAX_VALUES:
            return None
        values = (None,) * rank
    return tuple(call.fresh(i) if term is None else term for i, term in enumerate(values))


def reshape(call: Call) -> list[Fact]:
    """The same values in other sizes: 0 keeps a size, -1 takes what is left."""
    before, wanted = call.shape(0), _sizes(call, 1)
    if wanted is None or min((size for size, _ in wanted), default=0) < -1:
        return [UNKNOWN]
    asked = call.values(1) or (None,) * len(wanted)
    result: list[Term] = []
    rest: list[int] = []
    open_ = 0
    for i, (term, known) in enumerate(zip(wanted, asked, strict=True)):
        number, size = fixed(term), term
        if number == 0 and not call.integer("allowzero", 0):
            if before is not None and i >= len(before):
                call.fault(f"keeps axis {i} of {show_shape(before)}, which has none")
                return [UNKNOWN]
            open_ += before is None
            size = call.fresh(i) if before is None else before[i]
        elif number == -1:
            rest.append(i)
        elif known is None:
            open_ += 1
        result.append(size)
    call.result.blind |= open_ > 0
    if len(rest) > 1:
        call.fault("leaves more than one size open")
        return [UNKNOWN]
    if before is not None and not open_:
        total = times(before)

        def told() -> str:
            return f"makes {show_shape(wanted)} of {show_shape(before or ())}"

        others = times(term for i, term in enumerate(result) if i not in rest)
        if not rest:
            call.meet(total, others, told)
        else:
            left = divide(total, others)
            if left is None and not total[1] and not others[1] and others[0]:
                call.fault(f"{told()}, but {total[0]} is no multiple of {others[0]}")
            result[rest[0]] = named(f"({show(total)})/({show(others)})") if left is None else left
            if left is None and len(total[1]) == 1 and not others[1] and others[0] > 0:
                call.result.multiples.setdefault(total[1][0], (others[0] // gcd(total[0], others[0]), told()))
    elif rest:
        result[rest[0]] = call.fresh(rest[0])
    values = call.values(0) if len(result) < 2 else None
    return [Fact(tuple(result), values)]


def flatten(call: Call) -> list[Fact]:
    """Two sizes: everything before an axis and everything from it on."""
    before = call.shape(0)
    if before is None:
        return [Fact((call.fresh(0), call.fresh(1)))]
    axis = call.integer("axis", 1)
    if not -len(before) <= axis <= len(before):
        call.fault(f"has no axis {axis} in {len(before)} dimensions")
        return [UNKNOWN]
    axis += len(before) if axis < 0 else 0
    return [Fact((times(before[:axis]), times(before[axis:])))]


def transpose(call: Call) -> list[Fact]:
    """The axes in another order."""
    before, order = call.shape(0), call.integers("perm")
    if before is None:
        return [Fact(tuple(call.fresh(i) for i in range(len(order)))) if order else UNKNOWN]
    if order is None:
        return [Fact(before[::-1])]
    if sorted(order) != list(range(len(before))):
        call.fault(f"orders the axes of {show_shape(before)} as {order}")
        return [UNKNOWN]
    return [Fact(tuple(before[i] for i in order))]


def axes(call: Call, until: int) -> list[int] | None:
    """Axes of an attribute up to version `until` of the operator set, of the second input from then on; None: unknown.

    Where they are not given at all the list is empty.
    """
    if call.opset < until:
        return call.integers("axes") or []
    return call.numbers(1) if call.given(1) else []


def squeeze(call: Call) -> list[Fact]:
    """Without axes of size 1."""
    before, chosen = call.shape(0), axes(call, 13)
    if before is None or chosen is None:
        return [UNKNOWN]
    given = call.given(1) or call.attribute("axes") is not None
    if not given:
        if any(fixed(term) is None for term in before):
            return [UNKNOWN]
        chosen = [i for i, term in enumerate(before) if term == whole(1)]
    elif not chosen:
        return [UNKNOWN]
    gone = {call.axis(axis, len(before)) for axis in chosen}
    if None in gone:
        return [UNKNOWN]
    for axis in gone:
        if axis is not None:
            call.meet(before[axis], whole(1), lambda axis=axis: f"drops axis {axis} of {show_shape(before)}")
    return [Fact(tuple(term for i, term in enumerate(before) if i not in gone), call.values(0))]


def unsqueeze(call: Call) -> list[Fact]:
    """With new axes of size 1."""
    before, chosen = call.shape(0), axes(call, 13)
    if before is None or not chosen:
        return [UNKNOWN]
    rank = len(before) + len(chosen)
    new = {axis + rank if axis < 0 else axis for axis in chosen}
    if len(new) != len(chosen) or not new <= set(range(rank)):
        call.fault(f"adds axes {chosen} to {show_shape(before)}")
        return [UNKNOWN]
    old = iter(before)
    return [Fact(tuple(whole(1) if i in new else next(old) for i in range(rank)), call.values(0) if rank < 2 else None)]


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


def expand(call: Call) -> list[Fact]:
    """Broadcast to sizes that an input holds."""
    before, wanted = call.shape(0), _sizes(call, 1)
    if before is None or wanted is None:
        return [UNKNOWN]
    asked = call.values(1)
    if asked is not None and None not in asked:
        return [Fact(broadcast(call, [before, wanted], "expands"))]
    call.result.blind = True
    # A size that is not known may be 1 and keep the other one, so nothing but the rank is.
    return [Fact(tuple(call.fresh(i) for i in range(max(len(before), len(wanted)))))]


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
            result[axis] = named(f"{show(before[axis])}[{start}:{end}:{step}]")
    if values is not None and len(before) == 1 and len(starts) == 1 and steps[0] > 0:
        values = values[slice(starts[0], ends[0], steps[0])]
        return [Fact(tuple(result), values)]
    return [Fact(tuple(result))]


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
                term if more == 0 else whole(n + more) if n is not None else named(f"pad({show(term)},{more})")
                for n, term, more in sizes
            )
        )
    ]


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


def gather_elements(call: Call) -> list[Fact]:
    """As many values as positions."""
    return [Fact(call.shape(1))]


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
    ("", "Shape"): shape,
    ("", "Size"): count,
    ("", "Constant"): constant,
    ("", "ConstantOfShape"): filled,
    ("", "Reshape"): reshape,
    ("", "Flatten"): flatten,
    ("", "Transpose"): transpose,
    ("", "Squeeze"): squeeze,
    ("", "Unsqueeze"): unsqueeze,
    ("", "Concat"): concat,
    ("", "Expand"): expand,
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
