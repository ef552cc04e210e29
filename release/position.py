"""Where a stage stands, derived from its events: the good pairs, the unfinished request, what is held back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .ledger import Event, Pair


@dataclass(slots=True)
class Position:
    """`good` are the events that finished, oldest first, as a rollback would walk back over them; `open` are the
    events of the request that began last and has not ended; `held` maps a digest that was rolled back to the reason."""

    head: Event | None = None
    good: list[Event] = field(default_factory=list[Event])
    open: list[Event] = field(default_factory=list[Event])
    held: dict[str, str] = field(default_factory=dict[str, str])
    requests: dict[str, list[Event]] = field(default_factory=dict[str, list[Event]])

    @property
    def current(self) -> Pair | None:
        """The last good pair: what both anchors must show when nothing is under way."""
        return self.good[-1].target if self.good else None

    @property
    def previous(self) -> Pair | None:
        """The good pair before the current one that named another version."""
        return next((e.target for e in reversed(self.good[:-1]) if version(e.target) != version(self.current)), None)

    def reached(self, op: str) -> bool:
        """Whether the open request has an event `op`."""
        return any(event.op == op for event in self.open)


def version(pair: Pair | None) -> str:
    """The version that a pair names. Where a stage serves may change in the settings; the version is what is meant."""
    return pair.registry if pair else ""


def position_of(events: Sequence[Event]) -> Position:
    """Replay events, oldest first."""
    position = Position()
    for event in events:
        position.head = event
        position.requests.setdefault(event.request, []).append(event)
        if event.op == "begin":
            position.open = [event]
        elif event.op not in ("done", "abort"):
            position.open.append(event)
        else:
            position.open = []
            if event.op == "done":
                _finish(position, event)
    return position


def _finish(position: Position, event: Event) -> None:
    if event.kind == "rollback":
        # Walk back: the versions after the restored one are no longer what a second rollback would find.
        while position.good and version(position.good[-1].target) != version(event.target):
            left = position.good.pop()
            if left.target is not None:
                position.held[left.target.registry] = event.reason or f"rolled back at {event.time}"
        if position.good:
            position.good.pop()
    elif event.target is not None:
        position.held.pop(event.target.registry, None)
    if event.target is not None:
        position.good.append(event)
