"""Matching sets of weights of two models, and saying many tensor names in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..contents import Same
from ..rulebase import Context

if TYPE_CHECKING:
    from ....models.weights import WeightTable

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """A set of weights of the old model and the one that takes its place."""

    old: WeightTable
    new: WeightTable


def pairs(ctx: Context) -> Iterator[Pair]:
    """Sets of the same name; the sets that the servers load; or the only one left on each side.

    Adapters are left out: they are loaded anew, whatever their shapes, and have rules of their own.
    """
    if ctx.old is None:
        return
    old, new = (
        {name: table for name, table in side.weight_sets.items() if not name.endswith("adapter_model")}
        for side in (ctx.old, ctx.new)
    )
    main_old, main_new = ctx.old.weights, ctx.new.weights
    if main_old is not None and main_new is not None:
        del old[main_old.name], new[main_new.name]
        yield Pair(main_old, main_new)
    for name in [name for name in old if name in new]:
        yield Pair(old.pop(name), new.pop(name))
    if len(old) == len(new) == 1:
        yield Pair(next(iter(old.values())), next(iter(new.values())))


def contents(ctx: Context, pair: Pair) -> Same:
    """Whether the two sets are known to hold the same bytes in the same layout."""
    if len(pair.old.files) != len(pair.new.files):
        return "different"
    states: set[Same] = set()
    for old, new in zip(pair.old.files, pair.new.files, strict=True):
        states.add(ctx.same(old, new))
        if "different" in states:
            return "different"
    return "unknown" if "unknown" in states else "same"


def names(tensors: Iterable[str]) -> str:
    """The first few names and how many more there are."""
    listed = sorted(tensors)
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return ", ".join(listed[:SHOWN]) + more


def show(table: WeightTable, name: str) -> str:
    """A tensor's type and shape for people: BF16[4096,4096]."""
    tensor = table.tensors[name]
    return f"{tensor.dtype}[{','.join(map(str, tensor.shape))}]"


def type_changes(pair: Pair) -> dict[tuple[str, str], list[str]]:
    """Names of the tensors that changed from one element type to another."""
    changed: dict[tuple[str, str], list[str]] = {}
    for name, tensor in pair.new.tensors.items():
        before = pair.old.tensors.get(name)
        if before is not None and before.dtype != tensor.dtype:
            changed.setdefault((before.dtype, tensor.dtype), []).append(name)
    return changed
