"""Content-addressed files: `<folder>/<hex>`, read-only, written under a temporary name, verified when read."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from ..report.errors import BadInput
from . import durable
from .descriptor import Descriptor, digest_of, hexadecimal
from .durable import Progress, explained, quiet
from .tree import File

_AGAIN = "publish the model again: what is missing or damaged is written anew"


class Blobs:
    """Blobs in `folder`, drafts in `drafts` on the same file system; `name` is what messages call the place."""

    def __init__(self, folder: Path, drafts: Path, name: str) -> None:
        self.folder = folder
        self._drafts = drafts
        self._name = name

    def path(self, digest: str) -> Path:
        """Where a blob of this digest is or would be."""
        return self.folder / hexadecimal(digest)

    def read(self, digest: str, limit: int, hint: str = _AGAIN) -> bytes:
        """A small blob, verified. Raises BadInput with `hint` when it is absent, damaged, or larger than `limit`."""
        path = self.path(digest)
        if not path.is_file():
            raise self._missing(digest, hint)
        with explained("read", path):
            data = durable.read_bounded(path, limit)
        if digest_of(data) != digest:
            raise self._damaged(path, f"its bytes have the digest {digest_of(data)}", hint)
        return data

    def check(self, layer: Descriptor, *, verify: bool) -> Path:
        """The path of a blob that has the right size, and with `verify` the right bytes."""
        path = self.path(layer.digest)
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            raise self._missing(layer.digest) from None
        if size != layer.size:
            raise self._damaged(path, f"it has {size} bytes, the manifest says {layer.size}")
        if verify:
            with explained("read", path):
                got, _ = durable.hash_file(path)
            if got != layer.digest:
                raise self._damaged(path, f"its bytes have the digest {got}")
        return path

    def fetch(self, layer: Descriptor, target: Path, progress: Progress = quiet) -> None:
        """Copy a blob to a new name, verified while it is copied; a damaged one leaves nothing behind."""
        path = self.check(layer, verify=False)
        with explained("copy", target):
            got, _ = durable.copy_file(path, target, progress)
        if got != layer.digest:
            target.unlink()
            raise self._damaged(path, f"its bytes have the digest {got}")

    def put_files(self, files: Sequence[File], progress: Progress = quiet) -> list[tuple[File, str, int, bool]]:
        """Store files; for each its digest, size in bytes, and whether it had to be written."""
        sizes = {entry.stat().st_size for entry in os.scandir(self.folder)}
        total = sum(file.size for file in files)
        return durable.each(lambda file: (file, *self._put_file(file, sizes, progress)), files, total)

    def _put_file(self, file: File, sizes: set[int], progress: Progress) -> tuple[str, int, bool]:
        # Where a blob of that size exists the file is hashed before it is copied: publishing again writes nothing.
        if file.size in sizes:
            digest, size = durable.hash_file(file.source, progress)
            if self._intact(digest):
                return digest, size, False
        draft = self._drafts / f"{durable.DRAFT}{secrets.token_hex(8)}"
        try:
            digest, size = durable.copy_file(file.source, draft, quiet if file.size in sizes else progress)
            if self._intact(digest):
                return digest, size, False
            draft.chmod(0o444)
            draft.replace(self.path(digest))
        finally:
            draft.unlink(missing_ok=True)
        sizes.add(size)
        return digest, size, True

    def _intact(self, digest: str) -> bool:
        path = self.path(digest)
        return path.is_file() and durable.hash_file(path)[0] == digest

    def put_bytes(self, data: bytes) -> str:
        """Store a small blob and return its digest."""
        digest = digest_of(data)
        if not self._intact(digest):
            durable.write(self.path(digest), data, mode=0o444, drafts=self._drafts)
        return digest

    def sync(self) -> None:
        """Make the names of all blobs durable."""
        durable.sync_folder(self.folder)

    def _missing(self, digest: str, hint: str = _AGAIN) -> BadInput:
        return BadInput(f"{self._name}@{digest}", "the blob is missing", hint=hint, code="REL-MISSING")

    def _damaged(self, path: Path, why: str, hint: str = _AGAIN) -> BadInput:
        return BadInput(path, f"corrupt blob: {why}", hint=f"{hint}; then check the disk", code="REL-CORRUPT")
