"""References to models, and the one way every command opens one.

./dir, file.onnx                          files as they lie there
oci-layout:PATH:TAG, …@sha256:DIGEST      a version in an OCI image layout
directory:PATH[:TAG], …@sha256:DIGEST     a version in a directory of versions; without a tag what is served
oci://HOST/REPOSITORY:TAG, …@sha256:…     a version in a registry
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..report.errors import BadInput
from . import durable
from .descriptor import is_digest, is_tag
from .modelpack import build
from .store import Store, known, load, resolve
from .tree import files_of

_SCHEME = re.compile(r"(oci-layout|directory):(?!//)|([A-Za-z][A-Za-z0-9+.-]*)://")
_HINT = "write ./DIR, oci-layout:PATH:TAG, directory:PATH, or oci://HOST/REPOSITORY:TAG"


@dataclass(frozen=True, slots=True)
class Reference:
    """A parsed reference. `scheme` is path, oci-layout, directory or oci; `version` is a tag, a digest or empty."""

    scheme: str
    place: str
    version: str = ""

    def __str__(self) -> str:
        if self.scheme == "path":
            return self.place
        colon = "://" if self.scheme == "oci" else ":"
        joint = "@" if is_digest(self.version) else ":"
        return f"{self.scheme}{colon}{self.place}" + (f"{joint}{self.version}" if self.version else "")

    def at(self, version: str) -> Reference:
        """The same place with another tag or digest."""
        return Reference(self.scheme, self.place, version)

    def same_place(self, other: Reference) -> bool:
        """Whether both name the same place, whatever version and however its path is written."""
        if self.scheme != other.scheme or self.scheme == "oci":
            return (self.scheme, self.place) == (other.scheme, other.place)
        return Path(self.place).resolve() == Path(other.place).resolve()


def parse(text: str, root: Path | None = None) -> Reference:
    """Read a reference; a relative path starts from `root` (default: the working directory).

    Raises BadInput on an empty one, an unknown scheme, a digest that is not sha256, or a tag that cannot be one.
    """
    match = _SCHEME.match(text)
    if match is None:
        if not text:
            raise BadInput("reference", "it is empty", hint=_HINT)
        return Reference("path", _rooted(text, root))
    scheme = match[1] or match[2].lower()
    if scheme not in ("oci-layout", "directory", "oci"):
        raise BadInput(text, f"references of the kind {scheme}:// are not supported", hint=_HINT)
    place, version = _split(text, text[match.end() :])
    if not place or (scheme == "oci" and "/" not in place):
        what = "a host and a repository" if scheme == "oci" else "a path"
        raise BadInput(text, f"{what} must follow the scheme", hint=_HINT)
    return Reference(scheme, place if scheme == "oci" else _rooted(place, root), version)


def _split(text: str, rest: str) -> tuple[str, str]:
    place, at, digest = rest.rpartition("@")
    if at and "/" not in digest:
        if not is_digest(digest):
            raise BadInput(text, f"{digest[:100]!r} is not a digest", hint="a digest is sha256: and 64 hex digits")
        head, colon, tag = place.rpartition(":")
        return (head if colon and is_tag(tag) else place), digest
    place, colon, tag = rest.rpartition(":")
    if not colon or "/" in tag:
        return rest, ""
    if not is_tag(tag):
        raise BadInput(text, f"{tag[:140]!r} is not a tag", hint="a tag has letters, digits, dots, dashes, underscores")
    return place, tag


def _rooted(path: str, root: Path | None) -> str:
    expanded = Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises on an unknown user
    return str(root / expanded) if root is not None and not expanded.is_absolute() else str(expanded)


def open_store(reference: Reference, *, create: bool = False) -> Store:
    """The place of a reference. With `create` an absent layout or directory is made."""
    if reference.scheme == "oci-layout":
        from .ocilayout import OciLayout

        return OciLayout(Path(reference.place), create=create)
    if reference.scheme == "directory":
        from .directory import Directory

        return Directory(Path(reference.place), create=create)
    if reference.scheme == "oci":
        from .registry import Registry

        return Registry(reference.place)
    raise BadInput(
        reference, "a plain path is not a place for versions", hint="write oci-layout:PATH or directory:PATH"
    )


def digest_in(store: Store, reference: Reference) -> str:
    """The manifest digest that a reference names in its store; a directory without a tag means what it serves."""
    if reference.version:
        return resolve(store, reference.version)
    if reference.scheme == "directory":
        from .directory import Directory

        current = Directory(Path(reference.place)).current()
        if not current:
            raise BadInput(reference, "serves no version yet", hint="name one: directory:PATH:TAG")
        return str(current["digest"])
    hint = f"write {reference}:TAG or {reference}@sha256:DIGEST; {known(store.tags())}"
    raise BadInput(reference, "names no version", hint=hint)


class Model:
    """An opened model: a directory or file to read at `path`, and the digest it is published under."""

    def __init__(self, name: str, path: Path, digest: str = "") -> None:
        self.name = name
        self.path = path
        self._digest = digest

    @property
    def digest(self) -> str:
        """`sha256:<hex>` of the version's manifest. For plain files it is computed when first asked for, from every
        byte, and equals what publishing them gives."""
        if not self._digest:
            files = [(file.path, *durable.hash_file(file.source)) for file in files_of(self.path)]
            self._digest = build(files)[0].digest
        return self._digest


@contextmanager
def open_model(text: str, *, root: Path | None = None) -> Generator[Model]:
    """Open a model by path or reference, to be read inside the block.

    A version in a store appears as a directory of its files, each checked against its digest first: a verdict about
    a digest must not come from other bytes. Raises BadInput on what cannot be found or does not match.
    """
    reference = parse(text, root)
    if reference.scheme == "path":
        path = Path(reference.place)
        if not path.exists():
            raise BadInput(
                path, "no such file or directory", hint="give a model directory, a model file or a reference"
            )
        yield Model(text, path)
        return
    store = open_store(reference)
    manifest = load(store, digest_in(store, reference))
    with store.view(manifest) as path:
        yield Model(text, path, manifest.digest)
