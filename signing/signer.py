"""Who signed or signs: what every mode has to establish or to provide."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from . import bundle, timestamp
from .dsse import pae


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


class LocalSigner(ABC):
    """Signs with a key at hand (a file, a token); a timestamp authority may witness when."""

    def __init__(self, timestamp_url: str = "") -> None:
        self._timestamp_url = timestamp_url

    @abstractmethod
    def describe(self) -> Signer:
        """Who is signing."""

    @abstractmethod
    def sign(self, message: bytes) -> bytes:
        """An ECDSA signature in DER over a message."""

    @abstractmethod
    def material(self) -> dict[str, Any]:
        """The verification material that names the key."""

    def bundle(self, payload: bytes) -> bytes:
        """The bundle file's bytes for a statement. Raises NeedsAccess where the timestamp authority does not answer."""
        signature = self.sign(pae(payload))
        stamps = [timestamp.fetch(self._timestamp_url, signature)] if self._timestamp_url else []
        return bundle.encode(self.material(), payload, signature, stamps)
