"""What running graphs showed, for the rules to judge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

STEPS = 4
SETTINGS = 2
Class = Literal["bit-equal", "allclose", "drift"]


@dataclass(slots=True)
class Drift:
    """How far one output is from the old one, over every run: lowest cosine, largest difference, top-1 agreement."""

    name: str
    kind: Class = "bit-equal"
    cosine: float = 1.0
    largest: float = 0.0
    agree: int = 0
    rows: int = 0


@dataclass(slots=True)
class Measured:
    """What running a pair of graphs, or one alone, showed. `failed` says what NEW could not do and has to.

    `seen` names the outputs that had the old one's shape and type in every run.
    """

    file: str
    runs: int = 0
    failed: str = ""
    shapes: list[str] = field(default_factory=list[str])
    infinite: list[str] = field(default_factory=list[str])
    seen: set[str] = field(default_factory=set[str])
    drifts: dict[str, Drift] = field(default_factory=dict[str, Drift])
    skipped: str = ""

    @property
    def cosine(self) -> float | None:
        """The lowest cosine similarity of any output that is a vector."""
        return min((drift.cosine for drift in self.drifts.values()), default=None)
