"""A plain directory as a place for versions, as servers and NFS mounts can read it.

    versions/<hex>/         the files of the version sha256:<hex>, read-only; the name appears by one rename
    version.json            which version is served; replaced by one rename, always last
    .interlock/             manifests, tags, attachments, lock, ledgers

Readers open version.json anew whenever they look, then use the folder it names: a name that is never looked up
before it exists and never changes afterwards. On NFS a replaced file would be ESTALE for those who hold it open, and
a name asked for too early stays invisible for half a minute; neither can happen here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..report.errors import BadInput, NothingToCheck
from . import durable
from .descriptor import MAX_MANIFEST, Descriptor, canonical, digest_of, hexadecimal, is_digest, parse_json
from .durable import Progress, explained, quiet
from .lock import now
from .modelpack import Entry, Manifest, build, parse
from .notes import Notes
from .store import Attachment, Pushed
from .tree import File, files_of

POINTER = "version.json"
STATE = ".interlock"
SCHEMA = "interlock.version/1"

_POINTER_HINT = (
    "remove it, then put the last good version back: interlock publish, or for a stage what interlock status says"
)


class Directory:
    """A directory of versions. With `create` an absent one is made; else its absence is BadInput."""

    def __init__(self, root: Path, *, create: bool = False, name: str = "") -> None:
        self.root = root
        self.parallel = True
        self.name = name or f"directory:{root}"
        self._versions = root / "versions"
        self._state = root / STATE
        self._notes = Notes(self._state, self.name)
        if create:
            with explained("create the directory", root):
                for folder in (self._versions, self._state / "manifests"):
                    durable.make_folders(folder)
        if not self._versions.is_dir():
            absent = not os.path.lexists(root)
            reason = "no such directory" if absent else "not a directory of versions: it has no versions folder"
            raise BadInput(root, reason, hint=f"publish a model there first: interlock publish MODEL {self.name}")

    def folder(self, digest: str) -> Path:
        """Where the files of a version are or would be."""
        return self._versions / hexadecimal(digest)

    # the pointer

    def current(self) -> dict[str, Any]:
        """What version.json says, or an empty mapping where there is none yet. Raises BadInput when it is damaged."""
        path = self.root / POINTER
        if not path.exists():
            return {}
        with explained("read", path):
            pointer = parse_json(durable.read_bounded(path, 1 << 20), str(path), _POINTER_HINT)
        digest = pointer.get("digest")
        if not is_digest(digest) or pointer.get("path") != f"versions/{hexadecimal(str(digest))}":
            raise BadInput(path, "names no version", hint=_POINTER_HINT)
        return pointer

    def serve(self, digest: str | None, **extra: Any) -> None:
        """Flip version.json to a version that is there (None: remove it), and read it back."""
        path = self.root / POINTER
        with explained("move the pointer", path):
            if digest is None:
                path.unlink(missing_ok=True)
                durable.sync_folder(self.root)
            else:
                pointer = {"schema": SCHEMA, "digest": digest, "path": f"versions/{hexadecimal(digest)}", "time": now()}
                durable.write(path, canonical({**pointer, **extra}) + b"\n")
        if (got := self.current().get("digest")) != digest:
            raise BadInput(path, f"another writer moved it to {got} at the same time", hint="run it again")

    # versions

    def has(self, digest: str) -> bool:
        """Whether the folder and the manifest of a version are there."""
        return self.folder(digest).is_dir() and self._manifest_path(digest).is_file()

    def _manifest_path(self, digest: str) -> Path:
        return self._state / "manifests" / f"{hexadecimal(digest)}.json"

    def manifest(self, digest: str) -> bytes:
        """The bytes of a manifest, verified."""
        path = self._manifest_path(digest)
        if not path.is_file():
            raise BadInput(f"{self.name}@{digest}", "no such version", hint="publish the model again")
        with explained("read", path):
            data = durable.read_bounded(path, MAX_MANIFEST)
        if digest_of(data) != digest:
            hint = "publish the model again: a damaged version is replaced"
            raise BadInput(path, f"corrupt: its bytes have the digest {digest_of(data)}", hint=hint, code="REL-CORRUPT")
        return data

    def put(self, files: Sequence[File], progress: Progress = quiet) -> Pushed:
        """Store a model as a version folder; version.json is left to `serve`."""
        with explained("write", self.root):
            total = sum(file.size for file in files)
            hashed = durable.each(lambda file: (file.path, *durable.hash_file(file.source)), files, total)
        manifest, _ = build(hashed)
        sources = {file.path: file.source for file in files}

        def fetch(entry: Entry, target: Path) -> None:
            digest, _ = durable.copy_file(sources[entry.path], target, progress)
            if digest != entry.layer.digest:
                raise BadInput(sources[entry.path], "changed while it was read", hint="stop what writes to it")

        new = self.install(manifest, fetch)
        return Pushed(manifest, manifest.size if new else 0, 0 if new else manifest.size)

    def install(self, manifest: Manifest, fetch: Callable[[Entry, Path], None], *, parallel: bool = True) -> bool:
        """Make a version folder from `fetch(entry, target)`, unless an undamaged one is there. True when made.
        `parallel` says that several fetches may run at once."""
        digest = manifest.digest
        if self.has(digest) and not self._flaws(manifest, verify=True):
            return False
        final = self.folder(digest)
        durable.ensure_space(self.root, manifest.size)
        with explained("write", final):
            durable.sweep(self._versions)
            with durable.draft_folder(self._versions) as draft:

                def bring(entry: Entry) -> None:
                    target = draft / entry.path
                    target.parent.mkdir(parents=True, exist_ok=True)
                    fetch(entry, target)
                    target.chmod(0o444)

                durable.each(bring, manifest.entries, manifest.size if parallel else 0)
                draft.chmod(0o755)
                durable.sync_tree(draft)
                # The manifest goes first: a folder without one would not count as a version after a crash.
                durable.write(self._manifest_path(digest), manifest.raw, drafts=self._state)
                self._replace(draft, final)
            durable.sync_folder(self._versions)
        return True

    def _replace(self, draft: Path, final: Path) -> None:
        """Rename into place; a damaged folder of that name is moved away first."""
        if final.exists():
            with durable.draft_folder(self._versions) as away:
                final.rename(away / "damaged")
                draft.rename(final)
        else:
            draft.rename(final)

    def check(self, manifest: Manifest, *, verify: bool) -> None:
        """Raise BadInput unless the version folder holds exactly the files of the manifest, with `verify` bytewise."""
        if flaw := self._flaws(manifest, verify=verify):
            path, why = flaw
            hint = "publish or promote the version again: a damaged one is replaced"
            raise BadInput(path, why, hint=hint, code="REL-CORRUPT")

    def _flaws(self, manifest: Manifest, *, verify: bool) -> tuple[Path, str] | None:
        folder = self.folder(manifest.digest)
        if not folder.is_dir():
            return folder, "the version folder is missing"
        try:
            there = {file.path: file for file in files_of(folder)}
        except NothingToCheck:
            return folder, "the version folder is empty"
        sizes = {path: file.size for path, file in there.items()}

        def flaw(entry: Entry) -> tuple[Path, str] | None:
            path, size = folder / entry.path, sizes.get(entry.path)
            if size is None:
                return path, "the file is missing from the version"
            if size != entry.layer.size:
                return path, f"corrupt: it has {size} bytes, the manifest says {entry.layer.size}"
            if verify and (got := durable.hash_file(path)[0]) != entry.layer.digest:
                return path, f"corrupt: its bytes have the digest {got}, the manifest says {entry.layer.digest}"
            return None

        found = durable.each(flaw, manifest.entries, manifest.size if verify else 0)
        if first := next((one for one in found if one is not None), None):
            return first
        extra = next((path for path in sizes if path not in {entry.path for entry in manifest.entries}), None)
        return None if extra is None else (folder / extra, "the version holds a file that its manifest does not list")

    def verify(self, manifest: Manifest) -> None:
        """Raise BadInput unless every byte of a version is here, and nothing else."""
        self.check(manifest, verify=True)

    def fetch(self, manifest: Manifest, entry: Entry, target: Path, progress: Progress = quiet) -> None:
        """Copy a file out, verified while it is copied."""
        source = self.folder(manifest.digest) / entry.path
        with explained("copy", target):
            got, size = durable.copy_file(source, target, progress)
        if (got, size) != (entry.layer.digest, entry.layer.size):
            target.unlink()
            hint = "publish the model again: a damaged version is replaced"
            raise BadInput(source, f"corrupt: its bytes have the digest {got}", hint=hint, code="REL-CORRUPT")

    @contextmanager
    def view(self, manifest: Manifest) -> Generator[Path]:
        """The version folder itself: it never changes."""
        self.verify(manifest)
        yield self.folder(manifest.digest)

    # tags and attachments

    def tags(self) -> list[str]:
        """The names of all tags, sorted."""
        return sorted(self._notes.tags())

    def tag(self, name: str) -> str:
        """The digest that a tag names, empty where there is no such tag."""
        return self._notes.tags().get(name, "")

    def point(self, tag: str, digest: str | None) -> None:
        """Let a tag name a version (None: no version)."""
        if digest is not None:
            parse(self.manifest(digest), f"{self.name}@{digest}")
        self._notes.point(tag, digest)

    def attach(self, subject: Descriptor, artifact: str, media_type: str, payload: bytes, title: str) -> str:
        """Keep something said about a version; returns its digest."""
        return self._notes.attach(subject, artifact, media_type, payload, title)

    def attached(self, subject: str, artifact: str) -> list[Attachment]:
        """What was attached to a version, in the order it was attached."""
        return self._notes.attached(subject, artifact)

    def state(self) -> Path:
        """Where the ledgers of this directory's stages are."""
        return self._state
