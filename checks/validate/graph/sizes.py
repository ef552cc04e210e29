"""Pairs of matched dimensions, and what the old graph says about an output's size in terms of its inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ....models.onnx import Dimension, Value
from ..rulebase import Context
from .contract import Pair, What, dynamic, match, promised, symbol
from .shapes.known import only


class Size(NamedTuple):
    """Axis `axis` of a matched input or output, which was `before`."""

    before: Value
    value: Value
    axis: int
    old: Dimension
    new: Dimension


def sizes(ctx: Context, pair: Pair, what: What) -> Iterator[Size]:
    """Every axis of every matched tensor of equal rank whose dimension differs in meaning."""
    for old, new in match(ctx, pair, what).all_kept:
        if old.shape is None or new.shape is None or len(old.shape) != len(new.shape):
            continue
        for axis, (a, b) in enumerate(zip(old.shape, new.shape, strict=True)):
            if not (dynamic(a) and dynamic(b)) and a != b:
                yield Size(old, new, axis, a, b)


def sent(ctx: Context, pair: Pair, name: str) -> set[Dimension]:
    """What old clients send wherever the new graph's inputs have the dynamic dimension `name`: sizes, or names."""
    olds = {value.name: value for value in promised(pair.old, "inputs")}
    found: set[Dimension] = set()
    for value in promised(pair.new, "inputs"):
        old = olds.get(value.name)
        for axis, dimension in enumerate(value.shape or ()):
            if name and symbol(dimension) == name:
                declared = old.shape[axis] if old and old.shape and axis < len(old.shape) else None
                number = only(ctx, pair, old, axis) if old is not None else None
                found.add(declared if number is None else number)
    return found
