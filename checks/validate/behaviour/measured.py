"""What running graphs showed, for the rules to judge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

STEPS = 4
SETTINGS = 2
Class = Literal["bit-equal", "allclose", "drift"]


@dataclass(slots=True)
class Drift:
    """How far one output is from the old one, over every run: lowest cosine, largest difference, top-1 agreement.

    `exact` outputs (strings, truth values, integers) are compared by value: `differ` of `values` are others. `vector`
    says that cosine, difference and agreement mean something. `unlike` counts NaN or infinity against another value.
    """

    name: str
    exact: bool = False
    vector: bool = True
    kind: Class = "bit-equal"
    cosine: float = 1.0
    largest: float = 0.0
    agree: int = 0
    rows: int = 0
    values: int = 0
    differ: int = 0
    unlike: int = 0

    @property
    def doubtful(self) -> bool:
        """Whether clients may well read other answers: other values, an opposite vector, or never the same top."""
        far = self.kind == "drift" and self.vector and (self.cosine < 0 or (self.rows > 0 and self.agree == 0))
        return self.differ > 0 or self.unlike > 0 or far


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
        return min((drift.cosine for drift in self.drifts.values() if drift.vector), default=None)
