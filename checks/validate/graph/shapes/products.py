"""Matrix products, reductions, normalisations and recurrent layers."""

from __future__ import annotations

from .elementwise import broadcast, show_shape
from .engine import UNKNOWN, Call, Fact, Step
from .layout import axes
from .terms import Shape, fixed, whole


def matmul(call: Call) -> list[Fact]:
    """numpy.matmul."""
    return [_product(call, call.shape(0), call.shape(1))]


def quantised(call: Call) -> list[Fact]:
    """QLinearMatMul: the second factor is the fourth input."""
    return [_product(call, call.shape(0), call.shape(3))]


def _product(call: Call, a: Shape | None, b: Shape | None) -> Fact:
    if a is None or b is None or not a or not b:
        return UNKNOWN
    call.meet(a[-1], b[-2:][0], lambda: f"multiplies {_operands(call, a, b)}")
    if len(a) == 1 or len(b) == 1:
        return Fact((*a[:-1], *b[:-2], *(b[-1:] if len(b) > 1 else ())))
    return Fact((*broadcast(call, [a[:-2], b[:-2]], "multiplies batches"), a[-2], b[-1]))


def _operands(call: Call, a: Shape, b: Shape) -> str:
    left, right = (call.node.inputs[i] for i in (0, 3 if call.node.op.startswith("QLinear") else 1))
    return f"'{left[:80]}' {show_shape(a)} and '{right[:80]}' {show_shape(b)}"


def gemm(call: Call) -> list[Fact]:
    """A·B + C, each turned where the attributes say so."""
    a, b, c = call.shape(0), call.shape(1), call.shape(2)
    if a is None or b is None or len(a) != 2 or len(b) != 2:
        return [UNKNOWN]
    shapes = a, b
    a = a[::-1] if call.integer("transA", 0) else a
    b = b[::-1] if call.integer("transB", 0) else b
    call.meet(a[1], b[0], lambda: f"multiplies {_operands(call, *shapes)}")
    result = a[0], b[1]
    if call.given(2) and c is not None and (n := fixed(result[1])) is not None and len(c) in (1, 2):
        width = fixed(c[-1])
        if width not in (None, 1, n):
            call.fault(f"adds {show_shape(c)} to {show_shape(result)}, but {width} is not {n}")
    return [Fact(result)]


def reduce(call: Call) -> list[Fact]:
    """Sums, means, maxima over axes: gone, or of size 1."""
    before = call.shape(0)
    chosen = axes(call, 13 if call.node.op == "ReduceSum" else 18)
    if before is None:
        return [UNKNOWN]
    keep = call.integer("keepdims", 1)
    if chosen is None:
        return [Fact(tuple(call.fresh(i) for i in range(len(before)))) if keep else UNKNOWN]
    if not chosen and call.integer("noop_with_empty_axes", 0):
        return [Fact(before)]
    gone = {call.axis(axis, len(before)) for axis in chosen} if chosen else set(range(len(before)))
    if None in gone:
        return [UNKNOWN]
    if keep:
        return [Fact(tuple(whole(1) if i in gone else term for i, term in enumerate(before)))]
    return [Fact(tuple(term for i, term in enumerate(before) if i not in gone))]


def arg(call: Call) -> list[Fact]:
    """The position of the largest or smallest along one axis."""
    before = call.shape(0)
    axis = None if before is None else call.axis(call.integer("axis", 0), len(before))
    if before is None or axis is None:
        return [UNKNOWN]
    one = (whole(1),) if call.integer("keepdims", 1) else ()
    return [Fact((*before[:axis], *one, *before[axis + 1 :]))]


def top(call: Call) -> list[Fact]:
    """The k largest along an axis, and where they are."""
    before = call.shape(0)
    axis = None if before is None else call.axis(call.integer("axis", -1), len(before))
    if before is None or axis is None:
        return [UNKNOWN]
    count = call.numbers(1) if call.opset >= 10 else [call.integer("k", 0)]
    size = whole(count[0]) if count is not None and len(count) == 1 else call.fresh(axis)
    return [Fact((*before[:axis], size, *before[axis + 1 :]))] * 2


def normalise(call: Call) -> list[Fact]:
    """Batch normalisation: one scale, shift, mean and variance a channel."""
    before = call.shape(0)
    if before is not None and len(before) > 1:
        for i in range(1, 5):
            each = call.shape(i)
            if each is not None and len(each) == 1:
                told = f"scales {show_shape(before)} by {show_shape(each)}"
                call.meet(before[1], each[0], lambda told=told: told)
    return [Fact(before)]


def layer(call: Call) -> list[Fact]:
    """Layer normalisation; mean and deviation have size 1 along the normalised axes."""
    before = call.shape(0)
    axis = None if not before else call.axis(call.integer("axis", -1), len(before))
    if before is None or axis is None:
        return [Fact(before)]
    scale = call.shape(1)
    if scale is not None and len(scale) == 1 and axis == len(before) - 1 and scale[0] != whole(1):
        call.meet(before[-1], scale[0], lambda: f"scales {show_shape(before)} by {show_shape(scale)}")
    inner = (*before[:axis], *([whole(1)] * (len(before) - axis)))
    return [Fact(before), Fact(inner), Fact(inner)]


def quantise(call: Call) -> list[Fact]:
    """DynamicQuantizeLinear: the input, its scale and its zero point."""
    return [Fact(call.shape(0)), Fact(()), Fact(())]


def skip_layer(call: Call) -> list[Fact]:
    """The sum of two tensors, normalised."""
    return [Fact(call.shape(0))]


def recurrent(call: Call) -> list[Fact]:
    """LSTM, GRU and RNN over [time, batch, features]."""
    before, hidden = call.shape(0), call.integer("hidden_size", 0)
    if before is None or len(before) != 3 or not hidden or call.integer("layout", 0):
        return [UNKNOWN]
    ways = whole(2 if call.text("direction") == "bidirectional" else 1)
    weight = call.shape(1)
    if weight is not None and len(weight) == 3:
        call.meet(before[2], weight[2], lambda: f"reads {show_shape(before)} with {show_shape(weight)}")
    last = Fact((ways, before[1], whole(hidden)))
    return [Fact((before[0], ways, before[1], whole(hidden))), last, last]


_REDUCE = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare"
STEPS: dict[tuple[str, str], Step] = {
    ("", "MatMul"): matmul,
    ("", "MatMulInteger"): matmul,
    ("", "QLinearMatMul"): quantised,
    ("", "Gemm"): gemm,
    **{("", f"Reduce{name}"): reduce for name in _REDUCE.split()},
    ("", "DynamicQuantizeLinear"): quantise,
    ("", "ArgMax"): arg,
    ("", "ArgMin"): arg,
    ("", "TopK"): top,
    ("", "BatchNormalization"): normalise,
    ("", "LayerNormalization"): layer,
    ("com.microsoft", "SkipLayerNormalization"): skip_layer,
    **dict.fromkeys([("", name) for name in ("LSTM", "GRU", "RNN")], recurrent),
}
