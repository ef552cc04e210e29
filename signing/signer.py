"""Who signed: what every mode of verification has to establish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Signer:
    """A signer whose signature was checked. `id` is stable and unique (`key:sha256:…`), `label` is for people.

    `time` is when the signature provably existed (a trusted timestamp or log), None where nothing proves it.
    """

    mode: str
    id: str
    label: str
    time: datetime | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def facts(self) -> dict[str, Any]:
        """The signer as facts of a report."""
        time = None if self.time is None else self.time.isoformat()
        return {"mode": self.mode, "id": self.id, "label": self.label, "time": time, **self.details}


class Signs(Protocol):
    """What can sign: turns a statement into a whole bundle."""

    def describe(self) -> Signer:
        """Who is signing."""
        ...

    def bundle(self, payload: bytes) -> bytes:
        """The bundle file's bytes for a statement."""
        ...
