"""What every place for versions can do, and how a name is found in it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..report.errors import BadInput
from .descriptor import Descriptor, is_digest, is_tag
from .durable import Progress, quiet
from .modelpack import Entry, Manifest, parse
from .tree import File


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a publish did: the version, the bytes that had to be written and the bytes that were there already."""

    manifest: Manifest
    sent: int
    reused: int


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something said about a version: the digest under which it is kept, and its bytes."""

    digest: str
    payload: bytes


class Store(Protocol):
    """A place for versions. Everything read from it is checked against its digest and size before it is used."""

    name: str
    # Whether several fetches may run at once.
    parallel: bool

    def tags(self) -> list[str]:
        """The names of all tags, sorted."""
        ...

    def tag(self, name: str) -> str:
        """The manifest digest that a tag names, empty where there is no such tag."""
        ...

    def has(self, digest: str) -> bool:
        """Whether a version of this digest is there."""
        ...

    def manifest(self, digest: str) -> bytes:
        """The bytes of a manifest. Raises BadInput when it is absent or damaged."""
        ...

    def put(self, files: Sequence[File], progress: Progress = quiet) -> Pushed:
        """Store a model. It is whole or absent: nothing names it before all its bytes are durable."""
        ...

    def fetch(self, manifest: Manifest, entry: Entry, target: Path, progress: Progress = quiet) -> None:
        """Copy one file of a version to a new name, synced. Raises BadInput unless digest and size are right."""
        ...

    def verify(self, manifest: Manifest) -> None:
        """Raise BadInput unless every byte of a version is there."""
        ...

    def view(self, manifest: Manifest) -> AbstractContextManager[Path]:
        """A directory with the files of a version, to be read only; every byte is checked first."""
        ...

    def point(self, tag: str, digest: str | None) -> None:
        """Let a tag name a version (None: no version), in one step, and read it back."""
        ...

    def attach(self, subject: Descriptor, artifact: str, media_type: str, payload: bytes, title: str) -> str:
        """Keep something said about a version beside it; returns its digest."""
        ...

    def attached(self, subject: str, artifact: str) -> list[Attachment]:
        """What was attached to a version, in the order it was attached."""
        ...

    def state(self) -> Path | None:
        """The folder for ledgers, where this place can hold one."""
        ...


def resolve(store: Store, version: str) -> str:
    """The manifest digest that a tag or digest names. Raises BadInput with the names there are."""
    if is_digest(version):
        if not store.has(version):
            raise BadInput(f"{store.name}@{version}", "no such version", hint=known(store.tags()))
        return version
    if not is_tag(version):
        reason = f"{version[:140]!r} is neither a tag nor a sha256 digest"
        raise BadInput(store.name, reason, hint="write :TAG or @sha256:DIGEST after the place")
    digest = store.tag(version)
    if not digest:
        tags = store.tags()
        close = difflib.get_close_matches(version, tags, n=1)
        hint = f"did you mean '{close[0]}'? {known(tags)}" if close else known(tags)
        raise BadInput(f"{store.name}:{version}", "no such tag", hint=hint)
    return digest


def known(names: Sequence[str]) -> str:
    """A hint that lists the tags there are."""
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return f"tags there: {', '.join(names[:12])}{more}" if names else "nothing is tagged there: publish a model first"


def load(store: Store, digest: str) -> Manifest:
    """The parsed manifest of a version."""
    return parse(store.manifest(digest), f"{store.name}@{digest}")
