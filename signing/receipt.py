"""Receipts: a machine's own signed word that it hashed these very files, so that the next verification need not.

A receipt is an in-toto statement whose subject is the model's root digest, signed with a key of the verifying machine.
It holds for files whose (device, inode, size, mtime, ctime) are unchanged. Whoever can set the clock or write to the
raw disk can forge those, so a receipt speeds up a restart and is no evidence: signature, signer and policy are checked
anew each time, only hashing is left out, and the report says so.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..report.errors import BadInput, Refused
from ..version import __version__
from . import atomic, keys
from .bundle import Bundle
from .compare import Comparison
from .dsse import PAYLOAD_TYPE, pae
from .keymode import holds
from .statement import TYPE, Statement
from .strictjson import canonical, parse
from .tree import Listing, Stamp

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

PREDICATE = "urn:interlock:receipt:v1"
_MAX_BYTES = 128 << 20
# How every receipt starts, also one that was damaged since.
_OPENING = json.dumps({"payloadType": PAYLOAD_TYPE})[:-1].encode()


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an earlier run hashed: files by name, the algorithms it used, and the bundle and model it was for."""

    root: str
    bundle: str
    algorithms: frozenset[str]
    files: dict[str, Stamp]

    def covers(self, signed: Bundle, decoded: Statement, accepted: Collection[str], listing: Listing) -> bool:
        """Whether hashing again would read the very same files, for the same bundle, with algorithms that count."""
        return (
            self.root == decoded.manifest.root
            and self.bundle == hashlib.sha256(signed.text).hexdigest()
            and self.algorithms <= set(accepted)
            and self.files == listing.files
        )


def write(path: Path, key: EllipticCurvePrivateKey, signed: Bundle, decoded: Statement, comparison: Comparison) -> None:
    """Write the receipt of a verification that passed. Raises BadInput where it cannot be written."""
    statement = {
        "_type": TYPE,
        "subject": [{"name": decoded.subject, "digest": {"sha256": decoded.manifest.root}}],
        "predicateType": PREDICATE,
        "predicate": {
            "verifier": f"interlock {__version__}",
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "bundle": hashlib.sha256(signed.text).hexdigest(),
            "algorithms": sorted(comparison.hashed),
            "files": {name: list(stamp) for name, stamp in comparison.listing.files.items()},
        },
    }
    payload = canonical(statement)
    signature = key.sign(pae(payload), keys.ecdsa(key))
    envelope = {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"sig": base64.b64encode(signature).decode()}],
    }
    atomic.write(path, json.dumps(envelope).encode() + b"\n", mode=0o600)


def read(path: Path, key: EllipticCurvePrivateKey) -> Receipt | None:
    """The receipt in a file, or None where there is none yet or it is not this machine's: then hashing is needed.

    The new receipt will take its place, so a file that never was one is refused (BadInput): it may be a key or a model.
    """
    if not path.exists():
        return None
    if not path.is_file() or path.stat().st_size > _MAX_BYTES:
        raise _no_receipt(path)
    text = path.read_bytes()
    if not text.startswith(_OPENING):
        raise _no_receipt(path)
    try:
        envelope = parse(text, str(path))
        payload = base64.b64decode(envelope["payload"], validate=True)
        (entry,) = envelope["signatures"]
        if not holds(key.public_key(), base64.b64decode(entry["sig"], validate=True), pae(payload)):
            return None
        return _decode(parse(payload, str(path)))
    except (Refused, KeyError, TypeError, ValueError):
        return None


def _no_receipt(path: Path) -> BadInput:
    return BadInput(path, "is no receipt, and would be overwritten by one", hint="name a new file with --receipt")


def _decode(document: Any) -> Receipt | None:
    if document["predicateType"] != PREDICATE:
        return None
    predicate = document["predicate"]
    files = {name: Stamp(*stamp) for name, stamp in cast("dict[str, list[int]]", predicate["files"]).items()}
    (subject,) = document["subject"]
    return Receipt(subject["digest"]["sha256"], predicate["bundle"], frozenset(predicate["algorithms"]), files)
