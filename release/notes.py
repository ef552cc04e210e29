"""Tags and attachments of a directory of versions, kept in files of its `.interlock` folder.

tags.json                                  tag to digest, replaced by one rename, changed under the lock
attached/<subject hex>/<number>-<hex>.json one attachment a file, numbered so that order is kept
"""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Any

from ..report.errors import BadInput
from . import durable
from .descriptor import Descriptor, canonical, digest_of, hexadecimal, is_digest, parse_json
from .durable import explained
from .lock import exclusive
from .store import Attachment

_MAX_JSON = 16 << 20
_WAIT = 30.0

_TAGS_HINT = (
    "restore it from a backup; or remove it and publish the tags again: interlock status says how to put those of "
    "stages back"
)
_ATTACHED_HINT = "restore the file from a backup, or remove it and run the gate again"


class Notes:
    """The notes in `state`; `name` is what messages call the place."""

    def __init__(self, state: Path, name: str) -> None:
        self._state = state
        self._name = name

    def tags(self) -> dict[str, str]:
        """Tag to manifest digest."""
        path = self._state / "tags.json"
        if not path.exists():
            return {}
        with explained("read", path):
            tags = parse_json(durable.read_bounded(path, _MAX_JSON), str(path), _TAGS_HINT)
        if not all(is_digest(digest) for digest in tags.values()):
            raise BadInput(path, "a tag names something that is not a digest", hint=_TAGS_HINT)
        return tags

    def point(self, tag: str, digest: str | None) -> None:
        """Let a tag name a version (None: no version), and read it back."""
        with exclusive(self._state / "lock", self._name, doing=f"moving tag {tag}", wait=_WAIT):
            tags = {name: value for name, value in self.tags().items() if name != tag}
            with explained("write", self._state / "tags.json"):
                durable.write(self._state / "tags.json", canonical(tags if digest is None else {**tags, tag: digest}))
        if self.tags().get(tag, "") != (digest or ""):
            raise BadInput(f"{self._name}:{tag}", "another writer moved the tag at the same time", hint="run it again")

    def attach(self, subject: Descriptor, artifact: str, media_type: str, payload: bytes, title: str) -> str:
        """Keep `payload` in a file of its own, numbered so that order is kept."""
        body = {"artifactType": artifact, "mediaType": media_type, "title": title, "subject": subject.digest}
        data = canonical({**body, "payload": base64.b64encode(payload).decode()})
        digest = digest_of(data)
        folder = self._state / "attached" / hexadecimal(subject.digest)
        with (
            exclusive(self._state / "lock", self._name, doing="attaching", wait=_WAIT),
            explained("write", folder),
        ):
            durable.make_folders(folder)
            names = sorted(path.name for path in folder.iterdir())
            if not any(name.endswith(f"-{hexadecimal(digest)}.json") for name in names):
                durable.write(folder / f"{len(names):08d}-{hexadecimal(digest)}.json", data, drafts=self._state)
        return digest

    def attached(self, subject: str, artifact: str) -> list[Attachment]:
        """Payloads attached to a version, verified against the digest in their name."""
        folder = self._state / "attached" / hexadecimal(subject)
        found: list[Attachment] = []
        for name in sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []:
            path = folder / name
            with explained("read", path):
                data = durable.read_bounded(path, _MAX_JSON)
            if not name.endswith(f"-{hexadecimal(digest_of(data))}.json"):
                raise BadInput(path, "corrupt: its bytes do not have the digest in its name", hint=_ATTACHED_HINT)
            body = parse_json(data, str(path), _ATTACHED_HINT)
            if body.get("artifactType") == artifact:
                found.append(Attachment(digest_of(data), _payload(body, path)))
        return found


def _payload(body: dict[str, Any], path: Path) -> bytes:
    try:
        return base64.b64decode(str(body.get("payload")), validate=True)
    except binascii.Error as error:
        raise BadInput(path, "the payload is not base64", hint=_ATTACHED_HINT) from error
