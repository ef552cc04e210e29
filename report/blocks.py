"""Format-neutral pieces of a report's body: human and markdown draw the same blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """Lines printed as they are."""

    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column heads; cells are ready-made strings. Columns named in `right` are right-aligned."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    right: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts over equal-width bins: `edges` has one more entry than each series in `counts`; `unit` labels the axis."""

    title: str
    edges: Sequence[float]
    counts: dict[str, Sequence[int]]
    unit: str = ""


Block = Text | Table | Histogram
