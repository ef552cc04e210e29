"""A container registry as a place for versions (opencontainers/distribution-spec).

Blobs are asked for before they are sent, and sent in one request: partial uploads cannot be resumed on much that is
deployed, so what an interrupted publish repeats is the file it was at. Every byte that comes back is checked.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from ..report.errors import BadInput, InterlockError
from . import durable
from .descriptor import MANIFEST, MAX_MANIFEST, Descriptor, digest_of, parse_json
from .download import damaged, download
from .durable import Progress, quiet
from .modelpack import Entry, Manifest, build
from .referrers import Referrers
from .store import Attachment, Pushed
from .transport import NOT_A_REGISTRY, Transport, read_bounded
from .tree import File

if TYPE_CHECKING:
    from requests import Response

_READ_BACK = 2
_MAX_PAGES = 200


class Registry:
    """`place` is HOST[:PORT]/REPOSITORY."""

    def __init__(self, place: str) -> None:
        host, _, repository = place.partition("/")
        self.parallel = False  # one connection, one login
        self.name = f"oci://{place}"
        self._http = Transport(host, repository)
        self._referrers = Referrers(self)

    # tags

    def tags(self) -> list[str]:
        """The names of all tags."""
        names: list[str] = []
        url = "/tags/list"
        for _ in range(_MAX_PAGES):
            response = self._http.call("GET", url, accept=(200, 404))
            if response.status_code == 404:
                response.close()
                break
            page: list[Any] = parse_json(read_bounded(response), f"{self.name} tags", NOT_A_REGISTRY).get("tags") or []
            names += map(str, page)
            following = response.links.get("next", {}).get("url")
            if not following:
                break
            url = urljoin(response.url, following)
        return sorted(names)

    def tag(self, name: str) -> str:
        """The digest that a tag names, from the manifest's own bytes; empty where there is no such tag."""
        raw = self.get_manifest(name)
        return digest_of(raw) if raw is not None else ""

    def point(self, tag: str, digest: str | None) -> None:
        """Put the stored manifest under a tag and read the tag back twice: registries accept every write, and a tag
        that two writers move is anyone's."""
        if digest is None:
            self._remove_tag(tag)
            return
        self.put_manifest(tag, self.manifest(digest))
        for _ in range(_READ_BACK):
            if (got := self.tag(tag)) != digest:
                raise BadInput(f"{self.name}:{tag}", f"names {got}: another writer moved it", hint="run it again")

    def _remove_tag(self, tag: str) -> None:
        if not self.tag(tag):
            return
        response = self._http.call("DELETE", f"/manifests/{tag}", accept=(202, 400, 404, 405))
        response.close()
        if response.status_code in (400, 405):
            hint = "promote another version to that stage, or remove the tag with the registry's own tools"
            raise BadInput(f"{self.name}:{tag}", "this registry cannot remove a tag", hint=hint)

    # manifests

    def get_manifest(self, reference: str) -> bytes | None:
        """The bytes of a manifest or index by tag or digest, None where it is absent."""
        accept = {"Accept": f"{MANIFEST}, application/vnd.oci.image.index.v1+json"}
        response = self._http.call("GET", f"/manifests/{reference}", accept=(200, 404), headers=accept)
        if response.status_code == 404:
            response.close()
            return None
        return read_bounded(response, MAX_MANIFEST)

    def put_manifest(self, reference: str, raw: bytes, media_type: str = MANIFEST) -> Response:
        """Store a manifest under a tag or its digest. Tried again on 400 too: while several clients write, a registry
        of the 2.x line reads its own half written links and blames the sender."""
        headers = {"Content-Type": media_type}
        response = self._http.call(
            "PUT", f"/manifests/{reference}", accept=(201,), again=(400,), data=raw, headers=headers
        )
        response.close()
        return response

    def referrers_answer(self, subject: str, artifact: str) -> bytes | None:
        """The index of the referrers API, None where the registry does not have it."""
        response = self._http.call("GET", f"/referrers/{subject}", accept=(200, 404), params={"artifactType": artifact})
        if response.status_code == 404:
            response.close()
            return None
        return read_bounded(response)

    def has(self, digest: str) -> bool:
        """Whether a manifest of this digest is there."""
        headers = {"Accept": MANIFEST}
        response = self._http.call("HEAD", f"/manifests/{digest}", accept=(200, 404), headers=headers)
        return response.status_code == 200

    def manifest(self, digest: str) -> bytes:
        """The bytes of a manifest, verified."""
        raw = self.get_manifest(digest)
        if raw is None:
            raise BadInput(f"{self.name}@{digest}", "no such version", hint="publish the model there first")
        if digest_of(raw) != digest:
            hint = "the registry or something before it is damaged: do not use it"
            raise BadInput(f"{self.name}@{digest}", f"its bytes have the digest {digest_of(raw)}", hint=hint)
        return raw

    # blobs

    def put(self, files: Sequence[File], progress: Progress = quiet) -> Pushed:
        """Store a model: file blobs, config, manifest by digest, in this order."""
        stored: list[tuple[str, str, int]] = []
        sent = 0
        for file in files:
            digest, size = durable.hash_file(file.source)
            if self._has_blob(digest, size):
                progress(size)
            else:
                self._send_file(file, digest, size, progress)
                sent += size
            stored.append((file.path, digest, size))
        manifest, config = build(stored)
        self.put_blob(config)
        self.put_manifest(manifest.digest, manifest.raw)
        self.manifest(manifest.digest)
        return Pushed(manifest, sent, manifest.size - sent)

    def _has_blob(self, digest: str, size: int) -> bool:
        response = self._http.call("HEAD", f"/blobs/{digest}", accept=(200, 404))
        return response.status_code == 200 and response.headers.get("Content-Length") == str(size)

    def put_blob(self, data: bytes) -> str:
        """Store a small blob."""
        digest = digest_of(data)
        if not self._has_blob(digest, len(data)):
            self._upload(digest, len(data), data)
        return digest

    def _send_file(self, file: File, digest: str, size: int, progress: Progress) -> None:
        with file.source.open("rb") as stream:
            self._upload(digest, size, _Body(stream.fileno(), size, progress))

    def _upload(self, digest: str, size: int, body: Any) -> None:
        """One upload in one piece. The empty POST comes first, so a login is asked for before any byte is sent."""
        start = self._http.call("POST", "/blobs/uploads/", accept=(202,), headers={"Content-Length": "0"})
        start.close()
        location = urljoin(f"{self._http.base}/", start.headers.get("Location", ""))
        joint = "&" if "?" in location else "?"
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        try:
            self._http.call(
                "PUT", f"{location}{joint}digest={digest}", accept=(201,), data=body, headers=headers
            ).close()
        except InterlockError as error:
            if "DIGEST_INVALID" in error.reason:
                hint = "stop what writes to the model and run it again"
                raise BadInput(self.name, f"{digest} changed while it was sent", hint=hint) from error
            raise

    def fetch(self, manifest: Manifest, entry: Entry, target: Path, progress: Progress = quiet) -> None:
        """Stream a blob to a new file; a dropped connection goes on where it stopped."""
        del manifest
        download(self._http, entry.layer, target, progress, self.name)

    def blob(self, descriptor: Descriptor) -> bytes:
        """A small blob, verified."""
        response = self._http.call("GET", f"/blobs/{descriptor.digest}", accept=(200,))
        data = read_bounded(response, MAX_MANIFEST)
        if digest_of(data) != descriptor.digest:
            raise damaged(self.name, descriptor, f"its bytes have the digest {digest_of(data)}")
        return data

    def verify(self, manifest: Manifest) -> None:
        """Raise BadInput unless every byte of a version comes out right: it is fetched."""
        with self.view(manifest):
            pass

    @contextmanager
    def view(self, manifest: Manifest) -> Generator[Path]:
        """A temporary directory with the fetched files, verified while they come."""
        with tempfile.TemporaryDirectory(prefix="interlock-") as name:
            folder = Path(name)
            durable.ensure_space(folder, manifest.size)
            for entry in manifest.entries:
                target = folder / entry.path
                target.parent.mkdir(parents=True, exist_ok=True)
                self.fetch(manifest, entry, target)
            yield folder

    # attachments

    def attach(self, subject: Descriptor, artifact: str, media_type: str, payload: bytes, title: str) -> str:
        """Push an artifact whose subject is the version, and list it where the registry does not do so itself."""
        return self._referrers.attach(subject, artifact, media_type, payload, title)

    def attached(self, subject: str, artifact: str) -> list[Attachment]:
        """Payloads attached to a version."""
        return self._referrers.attached(subject, artifact)

    def state(self) -> None:
        """A registry has no compare-and-swap, so it holds no ledger."""
        return


class _Body:
    """A file as a request body with a known length, read in large pieces, counted for progress."""

    def __init__(self, descriptor: int, size: int, progress: Progress) -> None:
        self._descriptor = descriptor
        self._progress = progress
        self._left = size

    def __len__(self) -> int:
        return self._left

    def read(self, _: int = -1) -> bytes:
        """The next piece; never more than the size that was announced."""
        data = os.read(self._descriptor, min(durable.CHUNK, self._left))
        self._left -= len(data)
        self._progress(len(data))
        return data
