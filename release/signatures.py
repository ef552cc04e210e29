"""The signature of a version as a referrer of its manifest, so that registries and other tools list it beside it.

A Sigstore bundle as a referrer: artifactType and the media type of its one layer are those of the bundle, the config is
empty, the subject is the version's manifest (cosign, specs/BUNDLE_SPEC.md). The bundle also stays a file of the model,
which is what `verify` reads after a pull.
"""

from __future__ import annotations

from pathlib import Path

from . import durable
from .modelpack import Manifest
from .store import Store
from .tree import SIGNATURE_SUFFIX

_MODEL_SIGNATURE = f"model{SIGNATURE_SUFFIX}"


def signature_of(model: Path) -> tuple[str, bytes] | None:
    """Name and bytes of the bundle that lies with a model, None where it is not signed.

    Raises Refused when that file is no Sigstore bundle: a model with a damaged signature is not published.
    """
    path = model.with_name(f"{model.name}{SIGNATURE_SUFFIX}") if model.is_file() else model / _MODEL_SIGNATURE
    if not path.is_file():
        return None
    from ..signing import bundle

    payload = durable.read_bounded(path, bundle.MAX_BYTES)
    bundle.decode(payload, str(path))
    return path.name, payload


def attach_signature(store: Store, manifest: Manifest, signature: tuple[str, bytes]) -> str:
    """Attach a bundle to a version, unless it is attached already; returns its digest."""
    from ..signing.bundle import MEDIA_TYPE

    name, payload = signature
    for attachment in store.attached(manifest.digest, MEDIA_TYPE):
        if attachment.payload == payload:
            return attachment.digest
    return store.attach(manifest.descriptor, MEDIA_TYPE, MEDIA_TYPE, payload, name)
