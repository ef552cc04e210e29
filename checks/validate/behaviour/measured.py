"""What running graphs showed, for the rules to judge."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

STEPS = 4
SETTINGS = 2
# How many values of a single number per row say that it points the other way.
ENOUGH = 4
Class = Literal["bit-equal", "allclose", "drift"]


@dataclass(slots=True)
class Drift:
    """How far one output is from the old one, over every run: lowest cosine, largest difference, top-1 agreement.

    `exact` outputs (strings, truth values, integers) are compared by value: `differ` of `values` are others. `vector`
    says that cosine and agreement mean something: there are numbers, several in a row. Of a single number in a row,
    `opposed` counts those of the other sign. `unlike` counts NaN or infinity against another value.
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
    opposed: int = 0
    unlike: int = 0

    @property
    def doubtful(self) -> bool:
        """Whether clients may well read other answers: other values, the other direction, or never the same top."""
        far = self.kind == "drift"
        if self.vector:
            far = far and (self.cosine < 0 or (self.rows > 0 and self.agree == 0))
        else:
            far = far and not self.exact and self.values >= ENOUGH and self.opposed == self.values
        return (self.exact and self.differ > 0) or self.unlike > 0 or far


@dataclass(slots=True)
class Measured:
    """What running a pair of graphs, or one alone, showed. `failed` says what NEW could not do and has to.

    `seen` names the outputs that had the old one's shape and type in every run; `provider` is what ran the graphs.
    """

    file: str
    provider: str = "cpu"
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

    def document(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "seen": sorted(self.seen)}

    @classmethod
    def of(cls, document: dict[str, Any]) -> Measured:
        """Out of JSON."""
        result = cls(str(document["file"]))
        for name, value in document.items():
            setattr(result, name, value)
        result.seen = set(document["seen"])
        result.drifts = {name: Drift(**each) for name, each in document["drifts"].items()}
        return result
