"""OCI image layout 1.0 as a place for versions (opencontainers/image-spec, image-layout.md).

    oci-layout                      {"imageLayoutVersion": "1.0.0"}, written last when a layout is made
    index.json                      tags, and what is attached to versions
    blobs/sha256/<hex>              content, read-only, written under a temporary name and renamed
    .interlock/                     lock, drafts, views of versions as directories, and the ledgers of the stages

Every read is checked: a blob whose bytes do not have the digest and size it is named by is never handed out.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..report.errors import BadInput
from . import durable, links
from .blobs import Blobs
from .descriptor import (
    EMPTY,
    EMPTY_JSON,
    MANIFEST,
    MAX_MANIFEST,
    Descriptor,
    canonical,
    digest_of,
    hexadecimal,
    parse_descriptor,
    parse_json,
    parse_layer,
)
from .durable import Progress, explained, quiet
from .index import FILE, Index, notes
from .modelpack import Entry, Manifest, build
from .store import Attachment, Pushed
from .tree import File

MARK = "oci-layout"
STATE = ".interlock"
SUBJECT = "dev.interlock.subject"

_MARK_JSON = canonical({"imageLayoutVersion": "1.0.0"})
_MARK_HINT = f"write this into it: {_MARK_JSON.decode()}"
_ATTACHED_HINT = "restore the blob from a backup, or take its entry out of index.json and run the gate again"


class OciLayout:
    """A layout directory. With `create` an absent or empty one is made; else its absence is BadInput."""

    def __init__(self, root: Path, *, create: bool = False, name: str = "") -> None:
        self.root = root
        self.parallel = True
        self.name = name or f"oci-layout:{root}"
        # How many manifests a lost index.json was made anew from.
        self.relisted = 0
        self._index = Index(root, root / STATE, self.name)
        self._blobs = Blobs(root / "blobs" / "sha256", root / STATE, self.name)
        if create and self._may_create():
            with explained("create the layout", root):
                durable.make_folders(self._blobs.folder)
                (root / STATE).mkdir(exist_ok=True)
                self.relisted = self._index.make(self._blobs)
                if not (root / MARK).exists():
                    durable.write(root / MARK, _MARK_JSON, drafts=root / STATE)
        self._check_mark()

    def _may_create(self) -> bool:
        """Whether the place is free: absent, empty, or left by a run that was killed while it made the layout; or a
        layout that lost its index."""
        if not self.root.is_dir():
            return not os.path.lexists(self.root)
        names = {entry.name for entry in os.scandir(self.root)}
        return names <= {"blobs", FILE, STATE} or (MARK in names and FILE not in names)

    def _check_mark(self) -> None:
        mark = self.root / MARK
        if not mark.is_file():
            absent = not os.path.lexists(self.root)
            reason = "no such directory" if absent else f"not an OCI image layout: it has no {MARK} file"
            raise BadInput(
                self.root, reason, hint=f"publish a model there first: interlock publish MODEL {self.name}:TAG"
            )
        tree = parse_json(durable.read_bounded(mark, 4096), str(mark), _MARK_HINT)
        version = str(tree.get("imageLayoutVersion"))
        if not version.startswith("1."):
            raise BadInput(
                mark, f"image layout version {version[:40]!r}, only 1.x is read", hint="use a newer interlock"
            )

    # tags

    def tags(self) -> list[str]:
        """The names of all tags, sorted."""
        return sorted(self._index.tags())

    def tag(self, name: str) -> str:
        """The digest that a tag names, empty where there is no such tag."""
        return self._index.tags().get(name, "")

    def point(self, tag: str, digest: str | None) -> None:
        """Let a tag name a version; the version it named stays listed."""
        target = None
        if digest is not None:
            tree = parse_json(raw := self.manifest(digest), f"{self.name}@{digest}")
            target = Descriptor(MANIFEST, digest, len(raw), artifact_type=str(tree.get("artifactType") or ""))
        self._index.point(tag, target)

    # versions

    def _drafts(self) -> Path:
        folder = self.root / STATE
        folder.mkdir(exist_ok=True)  # absent in a layout that another tool made
        return folder

    def has(self, digest: str) -> bool:
        """Whether a manifest of this digest is there (its bytes are checked when it is read)."""
        return self._blobs.path(digest).is_file()

    def manifest(self, digest: str) -> bytes:
        """The bytes of a manifest, verified."""
        return self._blobs.read(digest, MAX_MANIFEST)

    def put(self, files: Sequence[File], progress: Progress = quiet) -> Pushed:
        """Store a model: file blobs, config, manifest, in this order, and list the manifest in the index."""
        with explained("write", self.root):
            durable.sweep(self._drafts())
            stored = self._blobs.put_files(files, progress)
            manifest, config = build([(file.path, digest, size) for file, digest, size, _ in stored])
            self._blobs.put_bytes(config)
            self._blobs.put_bytes(manifest.raw)
            self._blobs.sync()
        self._index.add(manifest.descriptor)
        sent = sum(size for _, _, size, new in stored if new)
        return Pushed(manifest, sent, manifest.size - sent)

    def fetch(self, manifest: Manifest, entry: Entry, target: Path, progress: Progress = quiet) -> None:
        """Copy a file out, verified while it is copied."""
        del manifest
        self._blobs.fetch(entry.layer, target, progress)

    def verify(self, manifest: Manifest) -> None:
        """Raise BadInput unless every byte of a version is here."""
        durable.each(lambda entry: self._blobs.check(entry.layer, verify=True), manifest.entries, manifest.size)

    @contextmanager
    def view(self, manifest: Manifest) -> Generator[Path]:
        """Hard links to the blobs, made once and kept; verified copies where there can be no links."""
        self.verify(manifest)
        files = {entry.path: self._blobs.check(entry.layer, verify=False) for entry in manifest.entries}
        if (folder := links.view(self.root / STATE, hexadecimal(manifest.digest), files)) is not None:
            yield folder
            return
        with tempfile.TemporaryDirectory(prefix="interlock-") as name:
            durable.ensure_space(Path(name), manifest.size)
            for entry in manifest.entries:
                target = Path(name, entry.path)
                target.parent.mkdir(parents=True, exist_ok=True)
                self.fetch(manifest, entry, target)
            yield Path(name)

    # attachments

    def attach(self, subject: Descriptor, artifact: str, media_type: str, payload: bytes, title: str) -> str:
        """Keep `payload` as an artifact whose subject is the version, and list it in the index."""
        layer = Descriptor(media_type, digest_of(payload), len(payload))
        raw = canonical(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "artifactType": artifact,
                "config": Descriptor(EMPTY, digest_of(EMPTY_JSON), len(EMPTY_JSON)).to_json(),
                "layers": [layer.to_json()],
                "subject": Descriptor(subject.media_type, subject.digest, subject.size).to_json(),
            }
        )
        with explained("write", self.root):
            self._drafts()
            for data in (EMPTY_JSON, payload, raw):
                self._blobs.put_bytes(data)
        about = {SUBJECT: subject.digest, "org.opencontainers.image.title": title}
        self._index.add(Descriptor(MANIFEST, digest_of(raw), len(raw), about, artifact))
        return digest_of(raw)

    def attached(self, subject: str, artifact: str) -> list[Attachment]:
        """Payloads attached to a version; the subject is read from each manifest, not from the index."""
        found: list[Attachment] = []
        for item in self._index.entries():
            if item.get("artifactType") != artifact or notes(item).get(SUBJECT, subject) != subject:
                continue
            what = f"{self.name}@{item['digest']}"
            tree = parse_json(self._blobs.read(item["digest"], MAX_MANIFEST, _ATTACHED_HINT), what, _ATTACHED_HINT)
            if not tree.get("subject") or parse_descriptor(tree["subject"], what, "/subject").digest != subject:
                continue
            layer = parse_layer(tree, what)
            found.append(Attachment(item["digest"], self._blobs.read(layer.digest, MAX_MANIFEST, _ATTACHED_HINT)))
        return found

    def state(self) -> Path:
        """Where the ledgers of this layout's stages are."""
        return self.root / STATE
