"""Matching TensorRT-LLM engines of two models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ....models.engine import Engine
from ..rulebase import Context


@dataclass(frozen=True, slots=True)
class Pair:
    """An engine of the old model and the one that takes its place."""

    old: Engine
    new: Engine


def pairs(ctx: Context) -> Iterator[Pair]:
    """Engines whose configuration lies at the same place, or the only one on each side."""
    if ctx.old is None:
        return
    old, new = dict(ctx.old.engines), dict(ctx.new.engines)
    for name in [name for name in old if name in new]:
        yield Pair(old.pop(name), new.pop(name))
    if len(old) == len(new) == 1:
        yield Pair(next(iter(old.values())), next(iter(new.values())))
