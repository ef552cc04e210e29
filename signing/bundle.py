"""The file on disk: a Sigstore bundle v0.3 as JSON, read strictly and written whole."""

from __future__ import annotations

import base64
import binascii
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from ..report.errors import BadInput, Refused
from .dsse import PAYLOAD_TYPE
from .reasons import refusal
from .strictjson import parse

MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
_ANY_VERSION = "application/vnd.dev.sigstore.bundle"
# 200,000 files with two digests each take 75 MiB.
MAX_BYTES = 128 << 20

KEY, CERTIFICATE, KEYLESS = "key", "certificate", "keyless"
_MATERIAL = {"publicKey": KEY, "x509CertificateChain": CERTIFICATE, "certificate": KEYLESS}
_TOP = {"mediaType", "verificationMaterial", "dsseEnvelope"}
_BESIDE = {"tlogEntries", "timestampVerificationData"}


@dataclass(frozen=True, slots=True)
class Bundle:
    """A decoded bundle: `mode` follows from the material; nothing in here is trusted yet.

    `hint` names the key in key mode; `certificates` are DER, leaf first. `text` is the whole file for Sigstore's own
    verifier. `timestamps` are DER RFC 3161 responses.
    """

    path: str
    mode: str
    payload: bytes
    signature: bytes
    hint: str
    certificates: tuple[bytes, ...]
    timestamps: tuple[bytes, ...]
    text: bytes


def read(path: str | os.PathLike[str], shown: str = "") -> Bundle:
    """Read a bundle; `shown` is what messages call it where it is read from elsewhere.

    Raises BadInput where there is no file to read and Refused on anything but a v0.3 DSSE bundle.
    """
    what = shown or os.fspath(path)
    return decode(_text(path, what), what)


def load(fd: int, what: str) -> Bundle:
    """As `read`, of an open file, which is closed then."""
    return decode(_drain(fd, what), what)


def is_one(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a Sigstore bundle of any version, good or bad. Raises BadInput where it cannot be read."""
    what = os.fspath(path)
    try:
        document = parse(_text(path, what), what)
    except Refused:
        return False
    kind = cast("dict[str, Any]", document).get("mediaType") if isinstance(document, dict) else None
    return isinstance(kind, str) and kind.startswith(_ANY_VERSION)


def _text(path: str | os.PathLike[str], what: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadInput(
            what, f"the signature cannot be read: {reason}", hint="name the bundle with --signature"
        ) from error
    return _drain(fd, what)


def _drain(fd: int, what: str) -> bytes:
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        raise BadInput(what, "is not a regular file", hint="name the bundle, usually model.sig")
    with os.fdopen(fd, "rb") as stream:
        if status.st_size > MAX_BYTES:
            raise refusal("VER-OVERSIZED", what, f"{status.st_size:,} bytes; a bundle has at most {MAX_BYTES:,}")
        text = stream.read(MAX_BYTES + 1)
    if len(text) > MAX_BYTES:
        raise refusal("VER-OVERSIZED", what)
    return text


def decode(text: bytes, what: str) -> Bundle:
    """The bundle in a JSON text."""
    document = _mapping(parse(text, what), what, "the bundle")
    if document.get("mediaType") != MEDIA_TYPE:
        raise refusal("VER-MEDIA-TYPE", what, f"mediaType is {document.get('mediaType')!r}, not {MEDIA_TYPE}")
    _no_more(document, _TOP, what, "the bundle")
    material = _mapping(document.get("verificationMaterial"), what, "verificationMaterial")
    _no_more(material, _BESIDE | set(_MATERIAL), what, "verificationMaterial")
    kinds = [key for key in _MATERIAL if key in material]
    if len(kinds) != 1:
        raise refusal("VER-MALFORMED", what, "the bundle does not hold exactly one key or certificate")
    envelope = _mapping(document.get("dsseEnvelope"), what, "dsseEnvelope")
    _no_more(envelope, {"payload", "payloadType", "signatures"}, what, "dsseEnvelope")
    if envelope.get("payloadType") != PAYLOAD_TYPE:
        raise refusal("VER-PAYLOAD-TYPE", what, f"payloadType is {envelope.get('payloadType')!r}")
    signatures = envelope.get("signatures")
    if not isinstance(signatures, list) or len(cast("list[Any]", signatures)) != 1:
        raise refusal("VER-SIGNATURE-COUNT", what)
    signature = _mapping(cast("list[Any]", signatures)[0], what, "the signature")
    return Bundle(
        path=what,
        mode=_MATERIAL[kinds[0]],
        payload=_base64(envelope.get("payload"), what, "payload"),
        signature=_base64(signature.get("sig"), what, "sig"),
        hint=_hint(material, what),
        certificates=_certificates(material, what),
        timestamps=_timestamps(material, what),
        text=text,
    )


def encode(material: dict[str, Any], payload: bytes, signature: bytes, timestamps: Sequence[bytes] = ()) -> bytes:
    """The bundle of a payload and its signature as JSON."""
    import json

    if timestamps:
        stamps = [{"signedTimestamp": base64.b64encode(stamp).decode()} for stamp in timestamps]
        material = {**material, "timestampVerificationData": {"rfc3161Timestamps": stamps}}

    document: dict[str, Any] = {
        "mediaType": MEDIA_TYPE,
        "verificationMaterial": {**material, "tlogEntries": []},
        "dsseEnvelope": {
            "payload": base64.b64encode(payload).decode(),
            "payloadType": PAYLOAD_TYPE,
            "signatures": [{"sig": base64.b64encode(signature).decode(), "keyid": ""}],
        },
    }
    return json.dumps(document).encode() + b"\n"


def _hint(material: dict[str, Any], what: str) -> str:
    if "publicKey" not in material:
        return ""
    hint = _mapping(material["publicKey"], what, "publicKey").get("hint") or ""
    if not isinstance(hint, str):
        raise refusal("VER-MALFORMED", what, "the key hint is not a string")
    return hint


def _certificates(material: dict[str, Any], what: str) -> tuple[bytes, ...]:
    if "certificate" in material:
        entries: list[Any] = [material["certificate"]]
    elif "x509CertificateChain" in material:
        chain = _mapping(material["x509CertificateChain"], what, "x509CertificateChain").get("certificates")
        if not isinstance(chain, list) or not 1 <= len(cast("list[Any]", chain)) <= 10:
            raise refusal("VER-MALFORMED", what, "the certificate chain does not hold 1 to 10 certificates")
        entries = cast("list[Any]", chain)
    else:
        return ()
    return tuple(_base64(_mapping(e, what, "a certificate").get("rawBytes"), what, "rawBytes") for e in entries)


def _timestamps(material: dict[str, Any], what: str) -> tuple[bytes, ...]:
    data = _mapping(material.get("timestampVerificationData") or {}, what, "timestampVerificationData")
    stamps: Any = data.get("rfc3161Timestamps") or []
    if not isinstance(stamps, list) or len(cast("list[Any]", stamps)) > 32:
        raise refusal("VER-MALFORMED", what, "rfc3161Timestamps is not a list of at most 32")
    return tuple(
        _base64(_mapping(s, what, "a timestamp").get("signedTimestamp"), what, "signedTimestamp")
        for s in cast("list[Any]", stamps)
    )


def _base64(value: Any, what: str, thing: str) -> bytes:
    if not isinstance(value, str) or not value:
        raise refusal("VER-MALFORMED", what, f"{thing} is missing")
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise refusal("VER-MALFORMED", what, f"{thing} is not base64") from error


def _mapping(value: Any, what: str, thing: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise refusal("VER-MALFORMED", what, f"{thing} is not a JSON object")
    return cast("dict[str, Any]", value)


def _no_more(document: dict[str, Any], known: set[str], what: str, thing: str) -> None:
    for key in document:
        if key not in known:
            raise refusal("VER-MALFORMED", what, f"{thing} has the unknown field '{key[:40]}'")
