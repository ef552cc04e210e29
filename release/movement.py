"""Moving a stage from one pair to another: staged, loaded, pointed, done. Each step looks, then acts, then is written
down, so that a run that was killed anywhere is finished by running it again.

Only `pointed` is visible to users. Its two pointers cannot move in one instant; the ledger makes them one: until
`done` is written the request is open, and the next run either finishes it or puts both pointers back.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from ..report.errors import BadInput, InterlockError
from .desk import Desk
from .durable import explained
from .ledger import Event, Kind, Op, Pair
from .modelpack import Manifest
from .position import Position
from .store import load


def anchors(desk: Desk) -> tuple[str, str]:
    """What is really there: the digest that the stage's tag names and the one that is served; empty for none."""
    return desk.store.tag(desk.name), desk.serving.revision() if desk.serving else ""


def pair_of(desk: Desk, digest: str) -> Pair:
    """The pair that a version makes in this stage."""
    return Pair(digest, digest if desk.serving else "")


class Movement:
    """One request at work. `events` are those of the open request, with its begin first."""

    def __init__(self, desk: Desk, events: list[Event]) -> None:
        self.desk = desk
        self.begin = events[0]
        self.head = events[-1]
        self._reached = {event.op for event in events}

    @classmethod
    def start(cls, desk: Desk, position: Position, kind: Kind, *, request: str, target: Pair, reason: str) -> Movement:
        """Write `begin`, with the anchors as they were found: a failure leaves them so."""
        tag, served = anchors(desk)
        number = position.head.seq + 1 if position.head else 1
        begin = desk.ledger.append(
            position.head,
            request=request or f"{desk.name}-{number}-{secrets.token_hex(4)}",
            kind=kind,
            op="begin",
            source=position.current,
            target=target,
            place=desk.serving.place if desk.serving else "",
            reason=reason,
            details={"found": {"registry": tag, "serving": served}},
        )
        return cls(desk, [begin])

    def note(self, op: Op, *, reason: str = "", evidence: tuple[str, ...] = ()) -> Event:
        """Write the next event of this request."""
        begin = self.begin
        self.head = self.desk.ledger.append(
            self.head,
            request=begin.request,
            kind=begin.kind,
            op=op,
            source=begin.source,
            target=begin.target,
            place=begin.place,
            reason=reason or begin.reason,
            evidence=evidence,
        )
        self._reached.add(op)
        return self.head

    def run(self, evidence: tuple[str, ...] = ()) -> Event:
        """Do what is left of the request and return `done`.

        An error puts the anchors back as they were found, writes `abort` and is raised again; when they cannot be put
        back, or another writer is at work, the request stays open and the error says how to go on.
        """
        target = self.begin.target
        if target is None:  # begin is always written with one; an edited ledger fails its chain before this
            raise BadInput(self.desk.name, "the request names no version", hint="see interlock history")
        self._same_place()
        try:
            manifest = load(self.desk.store, target.registry)
            if self.begin.kind == "promote":
                self._once("gated", lambda: None, evidence)
            self._once("staged", lambda: self._stage(manifest))
            self._once("loaded", lambda: self._check(manifest))
            self._once("pointed", lambda: self._point(target.registry, target.serving))
            return self.note("done")
        except (InterlockError, OSError) as error:
            # Whoever lost a race to another writer must not move that writer's pointers: the request stays open.
            if getattr(error, "code", "") != "REL-BUSY":
                self._withdraw(error)
            raise

    def _once(self, op: Op, act: Callable[[], Any], evidence: tuple[str, ...] = ()) -> None:
        """A step that was written down is looked at again only where it may have come undone: pointers and files."""
        if op not in self._reached:
            act()
            self.note(op, evidence=evidence)
        elif op == "pointed" or (op == "loaded" and "pointed" not in self._reached):
            act()

    def _same_place(self) -> None:
        place = self.desk.serving.place if self.desk.serving else ""
        if place != self.begin.place:
            began, now = self.begin.place or "nowhere", place or "nowhere"
            reason = f"the open request serves from {began}, the settings now say {now}"
            raise BadInput(
                f"stage {self.desk.name}", reason, hint="set stages.serving back until the request has ended"
            )

    def _stage(self, manifest: Manifest) -> None:
        if self.desk.serving is None:
            self.desk.store.verify(manifest)
            return
        self.desk.serving.claim()
        with explained("copy to", self.desk.serving.root):
            self.desk.serving.install(self.desk.store, manifest)

    def _check(self, manifest: Manifest) -> None:
        if self.desk.serving is not None:
            self.desk.serving.check(manifest, verify=True)

    def _point(self, registry: str, serving: str) -> None:
        """The tag first, serving last: users notice the second, and only the first is sure to be ours to take back."""
        self.desk.store.point(self.desk.name, registry or None)
        if self.desk.serving is not None:
            self.desk.serving.point(serving, self.head)
        found = anchors(self.desk)
        if found != (registry, serving):
            raise BadInput(
                f"stage {self.desk.name}", f"reads back as {found}", hint="another writer is at work: see status"
            )

    def _withdraw(self, error: Exception) -> None:
        found: dict[str, Any] = self.begin.details.get("found") or {}
        before = (str(found.get("registry", "")), str(found.get("serving", "")))
        try:
            if anchors(self.desk) != before:
                self._point(*before)
            self.note("abort", reason=f"failed: {error}")
        except (InterlockError, OSError) as second:
            stage = self.desk.name
            hint = (
                f"then run the same command again, or interlock rollback --in {stage}; until then see interlock status"
            )
            reason = f"{error}; and it could not be taken back: {second}"
            raise BadInput(f"stage {stage}", reason, hint=f"repair that, {hint}") from error

    def restore(self, source: Pair | None, reason: str) -> Event:
        """Give the request up: put both anchors on the pair before it (None: on nothing) and write `abort`."""
        self._same_place()
        pair = pair_of(self.desk, source.registry) if source else Pair("")
        if source is not None:
            manifest = load(self.desk.store, source.registry)
            self._stage(manifest)
            self._check(manifest)
        self._point(pair.registry, pair.serving)
        return self.note("abort", reason=reason)
