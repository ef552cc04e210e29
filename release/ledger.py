"""The ledger of a stage: append-only events, each holding the digest of the one before it.

    <state>/ledger/<stage>/00000001.json    one event, one file, created exclusively and never changed

Two writers cannot both create an event of the same number; an event that was edited, removed from the middle or moved
breaks the chain, and one cut off at the end is missed by the pointers, which name the event that moved them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

from ..report.errors import BadInput, InterlockError
from . import durable
from .descriptor import canonical, digest_of, is_digest, is_tag, parse_json
from .durable import explained
from .lock import actor, now

SCHEMA = "interlock.event/1"
GENESIS = "sha256:" + "0" * 64

Op = Literal["begin", "gated", "staged", "loaded", "pointed", "done", "abort"]
Kind = Literal["promote", "rollback"]

_NAME = re.compile(r"(\d{8})\.json")
_MAX_EVENT = 1 << 20


@dataclass(frozen=True, slots=True)
class Pair:
    """The two anchors of a stage: what its tag names, and what its serving side serves (empty: serves nowhere)."""

    registry: str
    serving: str = ""

    def to_json(self) -> dict[str, str]:
        """As events hold it."""
        return {"registry": self.registry, "serving": self.serving}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One step of one request. `source` is the pair before, `target` the pair wanted; None means no version.

    `place` names the serving side, so that a pair is never restored to another one. `digest` is that of the event's
    bytes, which the next event holds as `prev`.
    """

    seq: int
    prev: str
    time: str
    actor: str
    stage: str
    request: str
    kind: Kind
    op: Op
    source: Pair | None
    target: Pair | None
    place: str = ""
    evidence: tuple[str, ...] = ()
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    digest: str = ""

    def to_json(self) -> dict[str, Any]:
        """As the file holds it."""
        return {
            "schema": SCHEMA,
            "seq": self.seq,
            "prev": self.prev,
            "time": self.time,
            "actor": self.actor,
            "stage": self.stage,
            "request": self.request,
            "kind": self.kind,
            "op": self.op,
            "from": None if self.source is None else self.source.to_json(),
            "to": None if self.target is None else self.target.to_json(),
            "place": self.place,
            "evidence": list(self.evidence),
            "reason": self.reason,
            "details": dict(self.details),
        }


def has_ledger(state: Path, stage: str) -> bool:
    """Whether a stage of this name has events."""
    return is_tag(stage) and (state / "ledger" / stage).is_dir()


def stages_in(state: Path) -> list[str]:
    """The stages that have events, by name."""
    folder = state / "ledger"
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


class Ledger:
    """The events of one stage."""

    def __init__(self, state: Path, stage: str) -> None:
        if not is_tag(stage):
            raise BadInput(stage[:140], "not a stage name", hint="use letters, digits, dots, dashes and underscores")
        self.stage = stage
        self.state = state
        self.folder = state / "ledger" / stage

    @property
    def lock(self) -> Path:
        """The lock file that one promotion or rollback of this stage holds."""
        return self.state / "locks" / stage_file(self.stage)

    def events(self) -> list[Event]:
        """All events, oldest first. Raises BadInput naming the first one that breaks the chain."""
        if not self.folder.is_dir():
            return []
        with explained("read the ledger", self.folder):
            numbers = sorted(int(m[1]) for name in os.listdir(self.folder) if (m := _NAME.fullmatch(name)))  # noqa: PTH208
            found: list[Event] = []
            prev = GENESIS
            for expected, number in enumerate(numbers, 1):
                path = self._path(number)
                if number != expected:
                    raise _broken(self._path(expected), "the event is missing")
                event = _parse(durable.read_bounded(path, _MAX_EVENT), path)
                if (event.seq, event.stage) != (number, self.stage):
                    raise _broken(path, f"it says it is event {event.seq} of stage {event.stage[:140]!r}")
                if event.prev != prev:
                    raise _broken(path, f"it follows {event.prev[:80]}, the event before it is {prev}")
                found.append(event)
                prev = event.digest
        return found

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:08d}.json"

    def append(self, after: Event | None, **members: Any) -> Event:
        """Write the event that follows `after`. Raises InterlockError when another writer was first."""
        seq, prev = (after.seq + 1, after.digest) if after else (1, GENESIS)
        event = Event(seq=seq, prev=prev, time=now(), actor=actor(), stage=self.stage, **members)
        data = canonical(event.to_json()) + b"\n"
        path = self._path(seq)
        with explained("write the ledger", path):
            durable.make_folders(self.folder)
            draft = durable.new_draft(self.folder)
            try:
                with draft.open("wb") as stream:
                    stream.write(data)
                    stream.flush()
                    os.fsync(stream.fileno())
                draft.chmod(0o444)
                # A link, not a rename: it fails where the name exists, and the name never shows half an event.
                path.hardlink_to(draft)
            except FileExistsError:
                hint = f"see interlock history --stage {self.stage}, then run it again"
                raise InterlockError(path, "another writer was first", hint=hint, code="REL-BUSY") from None
            finally:
                draft.unlink(missing_ok=True)
            durable.sync_folder(self.folder)
        return _parse(data, path)


def stage_file(stage: str) -> str:
    """The lock file name of a stage."""
    return f"stage-{stage}"


def _broken(path: Path, why: str) -> BadInput:
    hint = "the ledger was changed by hand or damaged: restore the file from a backup, and ask who could write there"
    return BadInput(path, f"the chain is broken: {why}", hint=hint, code="REL-CHAIN")


def _parse(data: bytes, path: Path) -> Event:
    try:
        tree = parse_json(data, str(path))
    except BadInput as error:
        raise _broken(path, error.reason) from error
    text = {name: tree.get(name) for name in ("prev", "time", "actor", "stage", "request", "place", "reason")}
    evidence, details, seq = tree.get("evidence"), tree.get("details"), tree.get("seq")
    if (
        tree.get("schema") != SCHEMA
        or not all(isinstance(value, str) for value in text.values())
        or not isinstance(seq, int)
        or tree.get("op") not in get_args(Op)
        or tree.get("kind") not in get_args(Kind)
        or not isinstance(evidence, list)
        or not all(map(is_digest, cast("list[Any]", evidence)))
        or not isinstance(details, dict)
    ):
        raise _broken(path, "it is not an event as interlock writes them")
    return Event(
        **cast("dict[str, Any]", text),
        seq=seq,
        op=tree["op"],
        kind=tree["kind"],
        source=_pair(tree.get("from"), path),
        target=_pair(tree.get("to"), path),
        evidence=tuple(cast("list[str]", evidence)),
        details=cast("dict[str, Any]", details),
        digest=digest_of(data),
    )


def _pair(value: Any, path: Path) -> Pair | None:
    if value is None:
        return None
    item = cast("dict[str, Any]", value if isinstance(value, dict) else {})
    registry, serving = item.get("registry"), item.get("serving")
    if not is_digest(registry) or not (serving == "" or is_digest(serving)):
        raise _broken(path, "its pair does not hold digests")
    return Pair(str(registry), str(serving))
