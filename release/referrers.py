"""What is attached to a version in a registry: the referrers API where there is one, else the index under the tag
`sha256-<hex>` (distribution-spec, "Referrers Tag Schema").

Nothing guards that index against two writers: one overwrites the other, and both are told that all went well. So a
writer reads it back after a random pause and adds itself again until it stays.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any, cast

from ..report.errors import BadInput, InterlockError
from .descriptor import (
    EMPTY,
    EMPTY_JSON,
    INDEX,
    MANIFEST,
    Descriptor,
    canonical,
    digest_of,
    parse_descriptor,
    parse_json,
    parse_layer,
)
from .store import Attachment
from .transport import NOT_A_REGISTRY

if TYPE_CHECKING:
    from .registry import Registry

_ROUNDS = 40
_STABLE = 2

_TAG_HINT = "remove the tag there and run the gate again"
_MANIFEST_HINT = "delete this manifest there and run the gate again"


class Referrers:
    """The attachments of one repository."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def attach(self, subject: Descriptor, artifact: str, media_type: str, payload: bytes, title: str) -> str:
        """Push `payload` as an artifact about `subject`; returns the digest of its manifest."""
        registry = self._registry
        layer = Descriptor(media_type, registry.put_blob(payload), len(payload))
        config = Descriptor(EMPTY, registry.put_blob(EMPTY_JSON), len(EMPTY_JSON))
        raw = canonical(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "artifactType": artifact,
                "config": config.to_json(),
                "layers": [layer.to_json()],
                "subject": Descriptor(subject.media_type, subject.digest, subject.size).to_json(),
            }
        )
        digest = digest_of(raw)
        response = registry.put_manifest(digest, raw)
        if "OCI-Subject" not in response.headers:
            notes = {"org.opencontainers.image.title": title}
            self._list(subject.digest, Descriptor(MANIFEST, digest, len(raw), notes, artifact))
        return digest

    def _list(self, subject: str, entry: Descriptor) -> None:
        tag, stable = _fallback(subject), 0
        for number in range(_ROUNDS):
            listed = self._index(tag)
            if any(item.get("digest") == entry.digest for item in listed):
                stable += 1
                if stable >= _STABLE:
                    return
            else:
                stable = 0
                raw = canonical({"schemaVersion": 2, "mediaType": INDEX, "manifests": [*listed, entry.to_json()]})
                self._registry.put_manifest(tag, raw, INDEX)
            time.sleep(random.uniform(0.01, 0.05 * (1 + number % 4)))  # noqa: S311 - spreads writers, hides nothing
        hint = "other writers keep overwriting it: run it again when they are done"
        raise InterlockError(f"{self._registry.name}:{tag}", "the evidence does not stay listed", hint=hint)

    def _index(self, tag: str) -> list[dict[str, Any]]:
        raw = self._registry.get_manifest(tag)
        if raw is None:
            return []
        found = parse_json(raw, f"{self._registry.name}:{tag}", _TAG_HINT).get("manifests")
        if not isinstance(found, list):
            raise BadInput(f"{self._registry.name}:{tag}", "not an index", hint=_TAG_HINT)
        return found  # pyright: ignore[reportUnknownVariableType]

    def attached(self, subject: str, artifact: str) -> list[Attachment]:
        """Payloads about a version, each read through its verified manifest."""
        registry = self._registry
        answer = registry.referrers_answer(subject, artifact)
        if answer is not None:
            given: Any = parse_json(answer, f"{registry.name} referrers", NOT_A_REGISTRY).get("manifests") or []
            if not isinstance(given, list):
                raise BadInput(f"{registry.name} referrers", "no list of manifests", hint=NOT_A_REGISTRY)
            listed = cast("list[Any]", given)
        else:
            listed = list(self._index(_fallback(subject)))
        found: list[Attachment] = []
        for number, item in enumerate(listed):
            entry = parse_descriptor(item, f"{registry.name} referrers", f"/manifests/{number}")
            what = f"{registry.name}@{entry.digest}"
            tree = parse_json(registry.manifest(entry.digest), what, _MANIFEST_HINT)
            if tree.get("artifactType") != artifact:
                continue
            if parse_descriptor(tree.get("subject"), what, "/subject").digest == subject:
                found.append(Attachment(entry.digest, registry.blob(parse_layer(tree, what))))
        return found


def _fallback(subject: str) -> str:
    return subject.replace(":", "-")
