"""What follows from the graphs of a run, worked out once, and sizes that are shown to be what they were."""

from __future__ import annotations

from typing import cast

from .....models.onnx import OnnxModel, Value
from .....models.source import open_file
from ...rulebase import Context
from ...side import Side
from ..contract import Pair, dynamic, match, promised, symbol
from .engine import Inferred, infer
from .terms import Shape, Term, axis_of, fixed, show, unclear


def inferred(ctx: Context, side: Side, model: OnnxModel) -> Inferred:
    """What follows from a graph of one side."""
    kept = cast("dict[tuple[bool, str], Inferred]", ctx.options.setdefault("shapes", {}))
    key = (side is ctx.new, model.file)
    if key not in kept:
        kept[key] = _followed(side, model)
    return kept[key]


def _followed(side: Side, model: OnnxModel, sent: dict[str, int] | None = None) -> Inferred:
    file = side.tree.files[model.file]
    if file.partial:
        return infer(model, None, sent)  # a hole reads as zeros
    with open_file(file.path) as source:
        return infer(model, source, sent)


def same_size(ctx: Context, pair: Pair, old: Value, new: Value, axis: int) -> str:
    """The size of an output's axis where both graphs give the same one, as words; empty where that is not shown."""
    a, b = _shapes(ctx, pair, old, new)
    if a is None or b is None or len(a) != len(b) or axis >= len(a):
        return ""
    return show(a[axis]) if _same(ctx, a[axis], b[axis]) else ""


def fixed_size(ctx: Context, model: OnnxModel, value: Value, axis: int) -> int | None:
    """The size that the operators of the new graph give an output's axis whatever comes in; None where it is open."""
    shape = inferred(ctx, ctx.new, model).shape(value.name)
    return fixed(shape[axis]) if shape is not None and axis < len(shape) else None


def sent_size(ctx: Context, pair: Pair, value: Value, axis: int) -> int | None:
    """The size that the operators of the new graph give an output's axis for the sizes that clients of the old one
    send; None where these leave it open, or nothing is known that they send."""
    sizes = sent_sizes(ctx, pair)
    if not sizes or not by_name(ctx):
        return None
    kept = cast("dict[str, Inferred]", ctx.options.setdefault("shapes-sent", {}))
    if pair.new.file not in kept:
        kept[pair.new.file] = _followed(ctx.new, pair.new, sizes)
    found = kept[pair.new.file]
    shape = None if found.faults else found.shape(value.name)
    return fixed(shape[axis]) if shape is not None and axis < len(shape) else None


def sent_sizes(ctx: Context, pair: Pair) -> dict[str, int]:
    """The numbers that old clients send for open axes of the new graph's inputs: declared by the old graph, or the only
    ones that it works with."""
    found: dict[str, int] = {}
    for old, new in match(ctx, pair, "inputs").all_kept:
        for axis, size in enumerate(new.shape or ()):
            number = only(ctx, pair, old, axis)
            if dynamic(size) and number is not None and len(old.shape or ()) == len(new.shape or ()):
                found[axis_of(new.name, axis)] = number
    return found


def only(ctx: Context, pair: Pair, value: Value, axis: int) -> int | None:
    """The only number that the old graph takes as the size of an input's axis, by itself or under the same name."""
    if ctx.old is None or value.shape is None or axis >= len(value.shape):
        return None
    size = value.shape[axis]
    if isinstance(size, int) and not dynamic(size):
        return size
    required = inferred(ctx, ctx.old, pair.old).required
    alike = [axis_of(value.name, axis)]
    if name := symbol(size):
        inputs = promised(pair.old, "inputs")
        alike += [axis_of(each.name, i) for each in inputs for i, other in enumerate(each.shape or ()) if other == name]
    return next((required[each][0] for each in alike if each in required), None)


def same_shape(ctx: Context, pair: Pair, old: Value, new: Value) -> bool:
    """Whether both graphs are shown to give an output the same shape."""
    a, b = _shapes(ctx, pair, old, new)
    if a is None or b is None or len(a) != len(b):
        return False
    return all(_same(ctx, x, y) for x, y in zip(a, b, strict=True))


def _shapes(ctx: Context, pair: Pair, old: Value, new: Value) -> tuple[Shape | None, Shape | None]:
    if ctx.old is None:
        return None, None
    found = inferred(ctx, ctx.old, pair.old), inferred(ctx, ctx.new, pair.new)
    if found[1].faults:
        return None, None
    return found[0].shape(old.name), found[1].shape(new.name)


def _same(ctx: Context, old: Term, new: Term) -> bool:
    """Names are those of inputs, so they mean the same where clients bind by name; unknown ones mean nothing."""
    return old == new and not unclear(old) and (not old[1] or by_name(ctx))


def by_name(ctx: Context) -> bool:
    """Whether an input of one name is the same for clients of both graphs."""
    return not ctx.serves("tensor") or ctx.binds("inputs", "name")
