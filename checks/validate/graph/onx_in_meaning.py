"""ONX-IN-MEANING: an input has the same type and shape, but the graph reads its values or axes otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from .contract import Pair, match
from .curves import CURVES, FUNCTIONS, UNSURE
from .families import AFFINE
from .fills import NAN, fills, native
from .front import Front, compared, front
from .influence import mattering
from .masks import kept
from .operands import CONVOLUTIONS
from .paths import same_function
from .prepared import differences
from .reading import Reading, readings
from .taken import changed

RULE = Rule(
    id="ONX-IN-MEANING",
    name="input-meaning-changed",
    family="ONX",
    severity=Severity.WARNING,
    summary="the graph prepares an input in another way: its scale, layout, channels, missing numbers or texts",
    what="The operators between an input and the first trained one: means, deviations and other factors or shifts; "
    "functions such as a logarithm or a division by the own length; Transpose, orders of channels, DequantizeLinear; "
    "numbers that stand for missing ones; settings of operators that take what a client sends, such as RoiAlign, "
    "StringNormalizer and Imputer; the integers that an input is compared with, such as the id of padding; and whether "
    "its values reach an output at all.",
    why="a client that divides by 255 itself, or sends channels last, goes on doing so: every request is accepted and "
    "every answer is wrong",
    hint="keep the preparation in the graph as it was, or ship the clients first",
    exemptions=(
        "a mean or deviation that was computed anew: the factor moves by less than eight, the mean by little",
        "scalers over more than four features where the other graph has none, or has trees: both take raw features",
        "numbers for missing ones that are filled only now, or that trees know what to do with",
        "sizes that the graph resizes to",
        "a mask that is written in another way: what counts is whether 0 or 1 keeps a position",
        "inputs that several operators take, but for whether they reach an answer",
    ),
)
_UNIT = 8.0
_WHOLE = ("tensor(int32", "tensor(int64", "tensor(bool", "tensor(uint32", "tensor(uint64", "tensor(string")
# What takes an index asks for a row, wherever it lies in the table.
_UNCLEAR = AFFINE | {"", "Gather", "GatherElements", "GatherND", "OneHot", "Where", "Concat", "Split"}


def check(ctx: Context) -> Iterator[Finding]:
    """Inputs that both graphs have."""
    for pair, before, after in readings(ctx):
        said = list(_said(ctx, pair, before, after))
        same = any(each.level == "unproven" for each in said) and same_function(before, after)
        yield from (each for each in said if not (same and each.level == "unproven"))


def _said(ctx: Context, pair: Pair, before: Reading, after: Reading) -> Iterator[Finding]:
    """What differs between two graphs."""
    read = mattering(before), mattering(after)
    keeps = kept(before), kept(after)
    filled = fills(before), fills(after)
    for each in changed(before, after):
        yield ctx.finding(
            RULE,
            "unproven",
            f"input '{each.input}' goes through a {each.op} with another {each.name}",
            old=each.old,
            new=each.new,
            path=pair.new.file,
            tensor=each.input,
            pointer="graph.input",
        )
    for old, new in match(ctx, pair, "inputs").all_kept:
        ranks = [None if each.shape is None else len(each.shape) for each in (old, new)]
        was = front(before, before.flow.inputs[old.name], ranks[0])
        now = front(after, after.flow.inputs[new.name], ranks[1])
        masks = keeps[0].get(old.name), keeps[1].get(new.name)
        found = [*_changes(ctx, was, now, mask=all(masks))]
        if not found and not any(masks) and not old.type.startswith(_WHOLE):
            found.extend(("unproven", *each) for each in _prepared(was, now, table=ranks == [2, 2]))
        if masks[0] and masks[1] and masks[0] != masks[1]:
            said = [", ".join(map(str, sorted(each))) for each in masks if each]
            found.append(("unproven", "is a mask that keeps positions with another value", said[0], said[1]))
        one, two = compared(before, before.flow.inputs[old.name]), compared(after, after.flow.inputs[new.name])
        if one and two and one != two:
            found.append(("unproven", "is compared with other numbers", _list(one), _list(two)))
        if read[0] is not None and read[1] is not None and (old.name in read[0]) != (new.name in read[1]):
            a, b = ("read", "ignored") if old.name in read[0] else ("ignored", "read")
            found.append(("unproven", "reaches the answers in one of the two only", a, b))
        lost = filled[0].get(old.name)
        if lost and not filled[1].get(new.name) and not (lost == {NAN} and native(after)):
            found.append(("unproven", "is no longer filled where a value is missing", _list(lost), "as sent"))
        for level, what, a, b in found:
            yield ctx.finding(
                RULE,
                level,
                f"input '{new.name}' {what}",
                old=a,
                new=b,
                path=pair.new.file,
                tensor=new.name,
                pointer="graph.input",
            )


def _changes(ctx: Context, was: Front, now: Front, mask: bool) -> Iterator[tuple[Level, str, object, object]]:
    """What the operators say; of a `mask` on both sides, factor and order are how it is written."""
    if was.quantised and now.quantised:
        for what, a, b in zip(("scale", "zero point"), was.quantised, now.quantised, strict=True):
            if a != b:
                yield ctx.client_level("tensor"), f"is quantised with another {what}", _show(a), _show(b)
    elif was.learned == now.learned and not mask:
        factor = now.scale / was.scale
        if factor >= _UNIT or factor <= 1 / _UNIT:
            yield "unproven", "is multiplied by another factor", f"{was.scale:g}", f"{now.scale:g}"
    if was.swapped != now.swapped:
        yield "unproven", "has its channels put in another order", _show(was.swapped), _show(now.swapped)
    if was.core == now.core and was.reversed != now.reversed and not mask:
        yield "unproven", "has its order reversed", None, None
    if was.turned is None or now.turned is None or was.turned == now.turned or was.core != now.core:
        return
    if was.core in CONVOLUTIONS and len(was.turned) > 1:
        if was.turned[1] != now.turned[1]:
            level = ctx.client_level("tensor")
            yield level, "has its channels on another axis", was.turned[1], now.turned[1]
        else:
            yield "unproven", "has its axes in another order", _show(was.turned), _show(now.turned)
    elif was.core in ("MatMul", "Gemm", "LSTM", "GRU", "RNN"):
        yield "unproven", "has its axes in another order", _show(was.turned), _show(now.turned)


def _prepared(was: Front, now: Front, table: bool) -> Iterator[tuple[str, object, object]]:
    """What the values themselves go through, where both sides are followed to an operator that computes with them."""
    if was.rounded and now.rounded and not 1 / _UNIT < now.rounded / was.rounded < _UNIT:
        yield "is rounded by another step", f"{was.rounded:g}", f"{now.rounded:g}"
    one, two = was.function, now.function
    if one in _UNCLEAR or two in _UNCLEAR or (one != two and UNSURE in one[:1] + two[:1]):
        return
    plain = {one, two} & FUNCTIONS
    if one != two and (len(plain) == 1 or {one, two} <= CURVES):
        shown = [each if each in FUNCTIONS else "none" for each in (one, two)]
        yield "goes through another function first", shown[0], shown[1]
        return
    varied = was.prepared.varied or now.prepared.varied
    trees = any(each.startswith("TreeEnsemble") for each in (one, two))
    yield from differences(was.prepared, now.prepared, features=table and varied, scaleless=trees)


def _list(said: set[str]) -> str:
    return ", ".join(sorted(said)[:4])


def _show(said: tuple[object, ...]) -> str:
    return ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in said[:4]) or "as sent"
