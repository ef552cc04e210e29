"""Operators that change shapes, or make tensors out of them."""

from __future__ import annotations

from math import gcd

from .elementwise import broadcast, show_shape
from .engine import MAX_VALUES, UNKNOWN, Call, Fact, Step
from .samples import follows
from .terms import Shape, Term, divide, fixed, named, show, times, whole


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
            result[rest[0]] = _share(total, others) if left is None else left
            if left is None and len(total[1]) == 1 and not others[1] and others[0] > 0:
                call.result.multiples.setdefault(total[1][0], (others[0] // gcd(total[0], others[0]), told()))
    elif rest:
        result[rest[0]] = call.fresh(rest[0])
    values = call.values(0) if len(result) < 2 else None
    return [Fact(tuple(result), values)]


def _share(total: Term, others: Term) -> Term:
    name = named(f"({show(total)})/({show(others)})")
    return follows(name, (total, others), lambda row: row[0] // row[1] if row[1] and row[0] % row[1] == 0 else None)


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
    ("", "Expand"): expand,
}
