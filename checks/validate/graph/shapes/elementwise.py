"""Operators that work value by value: the shape of an input, or of several broadcast against each other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest

from .engine import UNKNOWN, Call, Fact, Step
from .samples import follows
from .terms import Shape, Term, divide, fixed, named, plus, show, times, unclear, whole

ONE = whole(1)
_INTEGERS = (6, 7)  # int32 and int64


def broadcast(call: Call, shapes: list[Shape], what: str = "broadcasts") -> Shape:
    """Shapes lined up at their last axes (https://onnx.ai/onnx/repo-docs/Broadcasting.html)."""
    result: Shape = ()
    for shape in shapes:
        if clash := _clash(result, shape):
            call.fault(f"{what} {show_shape(result)} and {show_shape(shape)}, but {clash}")
        columns = list(zip_longest(reversed(result), reversed(shape), fillvalue=ONE))
        for a, b in columns:
            _hold(call, a, b, f"{what} {show_shape(result)} and {show_shape(shape)}")
        result = tuple(reversed([_whole(call, a, b) or _wider(a, b) for a, b in columns]))
        call.result.blind |= any(a != b and ONE not in (a, b) and (unclear(a) or unclear(b)) for a, b in columns)
    return result


def _clash(left: Shape, right: Shape) -> str:
    pairs = [(fixed(a), fixed(b)) for a, b in zip(reversed(left), reversed(right), strict=False)]
    return next((f"{a} is not {b}" for a, b in pairs if a != b and 1 not in (a, b) and None not in (a, b)), "")


def _hold(call: Call, a: Term, b: Term, text: str) -> None:
    """An open size against a number must be it, or 1."""
    for open_, number in ((a, fixed(b)), (b, fixed(a))):
        if number is not None and number > 1 and open_[0] == 1 and len(open_[1]) == 1:
            call.result.either.setdefault(open_[1][0], (number, f"{call.node.op} {text}"))


def _whole(call: Call, a: Term, b: Term) -> Term | None:
    """An open size against a table that is cut to it: the table must be as long. None where it is not so."""
    for open_, cut in ((a, b), (b, a)):
        end, length = call.result.cuts.get(cut[1][0], (None, 0)) if cut[0] == 1 and len(cut[1]) == 1 else (None, 0)
        if end == open_ and length > 1:
            if open_[0] == 1 and len(open_[1]) == 1 and length < call.result.most.get(open_[1][0], (length + 1, ""))[0]:
                call.result.most[open_[1][0]] = length, f"{call.node.op} meets a table of {length}"
            return open_
    return None


def _wider(a: Term, b: Term) -> Term:
    if a in (ONE, b):
        return b
    if b == ONE:
        return a
    if fixed(a) is None and fixed(b) is None:
        name = named(f"max({','.join(sorted((show(a), show(b))))})")
        return follows(name, (a, b), lambda row: max(row) if row[0] == row[1] or 1 in row else None)
    # An open size is either the other one or 1: both give the known one.
    return b if fixed(a) is None else a


def show_shape(shape: Shape) -> str:
    """A shape for people."""
    return f"[{','.join(map(show, shape[:8]))}{',…' if len(shape) > 8 else ''}]"


def same(call: Call) -> list[Fact]:
    """The shape of the first input, for every output."""
    return [Fact(call.shape(0))] * len(call.node.outputs)


def identity(call: Call) -> list[Fact]:
    """The first input itself."""
    return call.inputs[:1]


def cast(call: Call) -> list[Fact]:
    """The first input; whole numbers stay what they are in other whole numbers."""
    to = call.integer("to", 0)
    return [Fact(call.shape(0), call.values(0) if to in _INTEGERS else None)]


def together(call: Call) -> list[Fact]:
    """All inputs broadcast."""
    shapes = [fact.shape for fact in call.inputs]
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or not known:
        return [UNKNOWN]
    return [Fact(broadcast(call, known), _computed(call))]


def _computed(call: Call) -> tuple[Term | None, ...] | None:
    compute = _ARITHMETIC.get(call.node.op)
    given = [fact.values for fact in call.inputs]
    values = [each for each in given if each is not None]
    if compute is None or len(values) != len(given):
        return None
    length = max(map(len, values))
    if any(len(each) not in (1, length) for each in values):
        return None
    columns = [[each[i % len(each)] for each in values] for i in range(length)]
    return tuple(compute([t for t in column if t is not None]) if None not in column else None for column in columns)


def _sum(terms: list[Term]) -> Term | None:
    return plus(terms) if all(term[0] >= 0 for term in terms) else _fold(terms, lambda a, b: a + b)


def _fold(terms: list[Term], operation: Callable[[int, int], int]) -> Term | None:
    numbers = [number for term in terms if (number := fixed(term)) is not None]
    return whole(operation(*numbers)) if len(numbers) == 2 == len(terms) else None


def _quotient(terms: list[Term]) -> Term | None:
    exact = divide(terms[0], terms[1]) if len(terms) == 2 else None
    if exact is not None or len(terms) != 2 or terms[1] == whole(0):
        return exact
    return _fold(terms, lambda a, b: a // b) if min(terms[0][0], terms[1][0]) >= 0 else None


def _equal(terms: list[Term]) -> Term | None:
    a, b = terms
    if a == b or not (a[1] or b[1]):
        return whole(int(a == b))
    # A size is never negative.
    return whole(0) if (not a[1] and a[0] < 0) or (not b[1] and b[0] < 0) else None


_ARITHMETIC: dict[str, Callable[[list[Term]], Term | None]] = {
    "Add": _sum,
    "Sub": lambda terms: _fold(terms, lambda a, b: a - b),
    "Mul": times,
    "Div": _quotient,
    "Equal": _equal,
    "Max": lambda terms: _fold(terms, max),
    "Min": lambda terms: _fold(terms, min),
}


def where(call: Call) -> list[Fact]:
    """Three inputs broadcast, chosen value by value."""
    (fact,) = together(call)
    condition, yes, no = (list(call.values(i) or ()) for i in range(3))
    if fact.shape is None or not (condition and yes and no):
        return [fact]
    length = max(len(condition), len(yes), len(no))
    if any(len(each) not in (1, length) for each in (condition, yes, no)):
        return [fact]
    chosen: list[Term | None] = []
    for i in range(length):
        test = condition[i % len(condition)]
        known = None if test is None else fixed(test)
        pair = yes[i % len(yes)], no[i % len(no)]
        chosen.append(pair[0] if pair[0] == pair[1] else None if known is None else pair[0 if known else 1])
    return [Fact(fact.shape, tuple(chosen))]


def along(call: Call) -> list[Fact]:
    """The shape of the first input, which must have the axis."""
    shape = call.shape(0)
    if shape is not None:
        call.axis(call.integer("axis", 1 if call.opset < 13 else -1), len(shape))
    return same(call)


_SAME = """
    Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Clip Cos Cosh CumSum Dropout Elu Erf Exp Floor Gelu
    HardSigmoid HardSwish IsInf IsNaN LeakyRelu Log LRN Mish Neg Not PRelu Reciprocal Relu Round Selu Shrink Sigmoid
    Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh ThresholdedRelu Trilu QuantizeLinear DequantizeLinear
    InstanceNormalization GroupNormalization MeanVarianceNormalization LpNormalization RandomNormalLike
    RandomUniformLike Bernoulli EyeLike Swish ScatterElements ScatterND Scatter ReverseSequence
"""
STEPS: dict[tuple[str, str], Step] = {
    **{("", name): same for name in _SAME.split()},
    **{("com.microsoft", name): same for name in ("Gelu", "FastGelu", "QuickGelu", "BiasGelu")},
    **dict.fromkeys([("", name) for name in ("Softmax", "LogSoftmax", "Hardmax")], along),
    **{
        ("", name): together
        for name in (
            *("Add", "Sub", "Mul", "Div", "Pow", "Mod", "And", "Or", "Xor", "Equal", "Greater", "Less", "BitShift"),
            *("GreaterOrEqual", "LessOrEqual", "Max", "Min", "Mean", "Sum", "BitwiseAnd", "BitwiseOr", "BitwiseXor"),
        )
    },
    ("", "Identity"): identity,
    ("", "Cast"): cast,
    ("", "CastLike"): same,
    ("", "Where"): where,
}
