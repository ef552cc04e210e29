"""The serving side of a stage: the second anchor. Today a directory of versions that servers or a watcher read."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ..config.load import Config
from ..config.settings import Stage
from ..report.errors import BadInput
from .directory import Directory
from .ledger import Event
from .modelpack import Manifest
from .store import Store


class Serving:
    """A directory that one stage serves from. Its version.json is moved by that stage's ledger alone."""

    def __init__(self, root: Path, stage: str) -> None:
        self.root = root
        self.stage = stage
        self.place = f"directory:{root}"

    def revision(self) -> str:
        """The digest that is served, empty where nothing is served yet."""
        return str(self._pointer().get("digest", "")) if (self.root / "versions").is_dir() else ""

    def event(self) -> tuple[int, str] | None:
        """Number and digest of the ledger event that moved the pointer last, where interlock moved it."""
        event = self._pointer().get("event") if self.revision() else None
        return (int(event["seq"]), str(event["digest"])) if isinstance(event, dict) else None  # pyright: ignore

    def _pointer(self) -> dict[str, object]:
        return Directory(self.root).current()

    def claim(self) -> None:
        """Raise BadInput when another stage serves from this directory."""
        owner = self._pointer().get("stage", self.stage) if self.revision() else self.stage
        if owner != self.stage:
            hint = "give every stage a directory of its own"
            raise BadInput(self.root, f"stage {owner} serves from this directory, not {self.stage}", hint=hint)

    def install(self, store: Store, manifest: Manifest) -> None:
        """Bring the files of a version here, unless they are here undamaged."""
        directory = Directory(self.root, create=True)
        directory.install(manifest, partial(store.fetch, manifest), parallel=store.parallel)

    def check(self, manifest: Manifest, *, verify: bool) -> None:
        """Raise BadInput unless the files of a version are here, with `verify` byte for byte."""
        Directory(self.root).check(manifest, verify=verify)

    def point(self, digest: str, event: Event) -> None:
        """Serve a version (empty: none), and note which event asked for it. Nothing is written when that is so."""
        if self.revision() == digest and (not digest or self._pointer().get("stage") == self.stage):
            return
        note = {"seq": event.seq, "digest": event.digest}
        Directory(self.root).serve(digest or None, stage=self.stage, request=event.request, event=note)


def serving_of(name: str, stage: Stage, config: Config) -> Serving | None:
    """The serving side that a stage declares, None where it serves nowhere. Raises BadInput on a kind that interlock
    cannot move: a stage that would be half moved is not moved."""
    where = config.path or "interlock.yaml"
    if not stage.serving:
        return None
    kinds = sorted(stage.serving)
    if kinds == ["directory"]:
        return Serving(config.resolve(stage.serving["directory"]), name)
    if "kubernetes" in kinds:
        reason = f"stages.{name}.serving: interlock does not move Kubernetes workloads"
        hint = "serve from {directory: PATH} on a volume, or leave serving out and let the rollout follow the tag"
        raise BadInput(where, reason, hint=hint)
    reason = f"stages.{name}.serving names {', '.join(kinds)}; one serving side of the kind directory is supported"
    raise BadInput(where, reason, hint="write serving: {directory: PATH}")
