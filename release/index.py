"""index.json of an OCI image layout: which manifests there are, and which tag names which."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..report.errors import BadInput
from . import durable
from .blobs import Blobs
from .descriptor import INDEX, MANIFEST, MAX_MANIFEST, REF_NAME, Descriptor, canonical, parse_descriptor, parse_json
from .durable import explained
from .lock import exclusive

FILE = "index.json"

_MAX_BYTES = 64 << 20
_WAIT = 30.0
_HINT = (
    "restore it from a backup; or remove it and publish a model again: versions and evidence are listed anew, without "
    "tags, and interlock status says how to put those of stages back"
)


class Index:
    """The index of the layout in `root`, changed under a lock in `state`; `name` is what messages call the layout."""

    def __init__(self, root: Path, state: Path, name: str) -> None:
        self._path = root / FILE
        self._state = state
        self._name = name

    def entries(self) -> list[dict[str, Any]]:
        """The descriptors as the file holds them. Raises BadInput when it is missing or damaged."""
        path = self._path
        if not path.exists():
            raise BadInput(path, "the index of the layout is missing", hint=_HINT)
        with explained("read", path):
            tree = parse_json(durable.read_bounded(path, _MAX_BYTES), str(path), _HINT)
        manifests = tree.get("manifests")
        if not isinstance(manifests, list):
            raise BadInput(path, "no list of manifests", hint=_HINT)
        for number, item in enumerate(manifests):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            parse_descriptor(item, str(path), f"/manifests/{number}", _HINT)
        return manifests  # pyright: ignore[reportUnknownVariableType]

    def _write(self, manifests: list[dict[str, Any]]) -> None:
        data = canonical({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests})
        with explained("write", self._path):
            durable.write(self._path, data, drafts=self._state)

    @contextmanager
    def _changing(self, doing: str) -> Generator[list[dict[str, Any]]]:
        """The entries to change in place, under the lock; written back when the block ends well."""
        with exclusive(self._state / "lock", self._name, doing=doing, wait=_WAIT):
            manifests = self.entries()
            before = canonical(manifests)
            yield manifests
            if canonical(manifests) != before:
                self._write(manifests)

    def make(self, blobs: Blobs) -> int:
        """Write an index where there is none: of every manifest among the blobs, without tags. Returns how many."""
        with exclusive(self._state / "lock", self._name, doing="listing", wait=_WAIT):
            if self._path.exists():
                return 0
            entries = _manifests_in(blobs)
            self._write(entries)
            return len(entries)

    def add(self, descriptor: Descriptor) -> None:
        """List a manifest, unless it is listed."""
        with self._changing("publishing") as manifests:
            if not any(item["digest"] == descriptor.digest for item in manifests):
                manifests.append(descriptor.to_json())

    def tags(self) -> dict[str, str]:
        """Tag to manifest digest. Raises BadInput when a tag stands twice: nothing is done on an ambiguous name."""
        found: dict[str, str] = {}
        for item in self.entries():
            tag = notes(item).get(REF_NAME)
            if tag is None:
                continue
            if found.setdefault(tag, item["digest"]) != item["digest"]:
                hint = "another tool wrote it: remove one entry, or name the version by digest"
                raise BadInput(self._path, f"tag {tag!r} names two versions", hint=hint)
        return found

    def point(self, tag: str, target: Descriptor | None) -> None:
        """Let a tag name a manifest (None: none) and read it back; the one it named stays listed, so that no collector
        takes it."""
        digest = target.digest if target else ""
        with self._changing(f"moving tag {tag}") as manifests:
            moved = [item for item in manifests if notes(item).get(REF_NAME) == tag and item["digest"] != digest]
            for item in moved:
                manifests.remove(item)
                if not any(other["digest"] == item["digest"] for other in manifests):
                    manifests.append({**item, "annotations": {k: v for k, v in notes(item).items() if k != REF_NAME}})
            if target is not None and not any(notes(item).get(REF_NAME) == tag for item in manifests):
                for item in [item for item in manifests if item["digest"] == digest and not notes(item)]:
                    manifests.remove(item)
                manifests.append({**target.to_json(), "annotations": {REF_NAME: tag}})
        if self.tags().get(tag, "") != digest:
            raise BadInput(f"{self._name}:{tag}", "another writer moved the tag at the same time", hint="run it again")


def notes(item: dict[str, Any]) -> dict[str, str]:
    """The annotations of an index entry."""
    return item.get("annotations") or {}


def _manifests_in(blobs: Blobs) -> list[dict[str, Any]]:
    """An entry for each undamaged manifest. Which tag named which version, only the lost index knew."""
    found: list[dict[str, Any]] = []
    for path in sorted(blobs.folder.iterdir()):
        size = path.stat().st_size
        if size > MAX_MANIFEST:
            continue
        digest = f"sha256:{path.name}"
        try:
            tree = parse_json(blobs.read(digest, MAX_MANIFEST), digest)
        except BadInput:
            continue  # a file of a model, or a blob that publishing its model again will replace
        kind = tree.get("artifactType")
        if tree.get("mediaType") == MANIFEST and isinstance(kind, str):
            found.append(Descriptor(MANIFEST, digest, size, artifact_type=kind).to_json())
    return found
