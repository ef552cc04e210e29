"""OCI content descriptors and digests (opencontainers/image-spec, descriptor.md)."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any, cast

from ..report.errors import BadInput

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
EMPTY = "application/vnd.oci.empty.v1+json"
EMPTY_JSON = b"{}"
REF_NAME = "org.opencontainers.image.ref.name"
TITLE = "org.opencontainers.image.title"

# Registries refuse manifests above 4 MiB; nobody needs to read a larger one.
MAX_MANIFEST = 4 << 20

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


def digest_of(data: bytes) -> str:
    """`sha256:<hex>` of bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def is_digest(text: object) -> bool:
    """Whether this is a SHA-256 digest as OCI writes it."""
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


def is_tag(text: object) -> bool:
    """Whether this is a tag as the distribution specification defines it."""
    return isinstance(text, str) and _TAG.fullmatch(text) is not None


def hexadecimal(digest: str) -> str:
    """The hex part of a digest, as file names use it."""
    return digest.partition(":")[2]


def short(digest: str) -> str:
    """A digest as people compare it: the first 12 hex digits."""
    return f"sha256:{hexadecimal(digest)[:12]}" if digest else "none"


def canonical(value: Any) -> bytes:
    """JSON bytes that depend on the value alone: sorted keys, no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def parse_json(data: bytes, what: str, hint: str = "it is damaged: publish the model again") -> dict[str, Any]:
    """A JSON object. Raises BadInput with `hint` when the bytes are anything else."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadInput(what, f"not JSON: {str(error).lower()}", hint=hint) from error
    if not isinstance(value, dict):
        raise BadInput(what, "not a JSON object", hint=hint)
    return value  # pyright: ignore[reportUnknownVariableType]


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A typed pointer to content: media type, digest and size in bytes."""

    media_type: str
    digest: str
    size: int
    annotations: dict[str, str] = field(default_factory=dict[str, str])
    artifact_type: str = ""

    def to_json(self) -> dict[str, Any]:
        """The descriptor as OCI writes it; empty optional members are left out."""
        value: dict[str, Any] = {"mediaType": self.media_type, "digest": self.digest, "size": self.size}
        if self.artifact_type:
            value["artifactType"] = self.artifact_type
        if self.annotations:
            value["annotations"] = self.annotations
        return value


def parse_descriptor(
    value: Any, what: str, pointer: str, hint: str = "the artefact is damaged or was not made by an OCI tool"
) -> Descriptor:
    """A descriptor found at a JSON pointer of `what`. Raises BadInput with `hint` on a missing member, a digest that
    is not SHA-256, a negative size, or annotations that are not strings."""

    def fail(reason: str) -> BadInput:
        return BadInput(what, f"{pointer}: {reason}", hint=hint)

    if not isinstance(value, dict):
        raise fail("not a descriptor")
    item: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
    digest, size = item.get("digest"), item.get("size")
    annotations: Any = item.get("annotations") or {}
    if not isinstance(digest, str) or not is_digest(digest):
        raise fail(f"unsupported digest {str(digest)[:80]!r}, only sha256 is read")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise fail(f"bad size {str(size)[:40]!r}")
    if not isinstance(annotations, dict) or not all(
        isinstance(k, str) and isinstance(v, str)
        for k, v in annotations.items()  # pyright: ignore[reportUnknownVariableType]
    ):
        raise fail("annotations must map strings to strings")
    notes: dict[str, str] = annotations  # pyright: ignore[reportUnknownVariableType]
    return Descriptor(str(item.get("mediaType", "")), digest, size, notes, str(item.get("artifactType") or ""))


def parse_layer(manifest: dict[str, Any], what: str) -> Descriptor:
    """The first layer of an artifact's manifest, its payload. Raises BadInput where there is none."""
    layers = manifest.get("layers")
    found = cast("list[Any]", layers) if isinstance(layers, list) and layers else [None]
    return parse_descriptor(found[0], what, "/layers/0")
