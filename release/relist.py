"""A lost index.json made anew: every manifest among the blobs, without tags."""

from __future__ import annotations

from typing import Any

from ..report.errors import BadInput
from .blobs import Blobs
from .descriptor import MANIFEST, MAX_MANIFEST, Descriptor, parse_json


def manifests_in(blobs: Blobs) -> list[dict[str, Any]]:
    """An index entry for each undamaged manifest. Which tag named which version, only the lost index knew."""
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
