"""Key mode: the verifier holds the signer's public key."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from . import keys
from .bundle import Bundle
from .dsse import pae
from .reasons import refusal
from .signer import LocalSigner, Signer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey


class KeySigner(LocalSigner):
    """Signs with a private key held in memory."""

    def __init__(self, key: EllipticCurvePrivateKey, label: str, timestamp_url: str = "") -> None:
        super().__init__(timestamp_url)
        self._key = key
        self._label = label

    def describe(self) -> Signer:
        """The key, named by the hint it goes by in bundles."""
        return describe(self._key.public_key(), self._label)

    def sign(self, message: bytes) -> bytes:
        """An ECDSA signature in DER."""
        return self._key.sign(message, keys.ecdsa(self._key))

    def material(self) -> dict[str, Any]:
        """The hint of the key."""
        return {"publicKey": {"hint": keys.hint(self._key.public_key())}}


def describe(key: EllipticCurvePublicKey, label: str, time: datetime | None = None) -> Signer:
    """A key as a signer."""
    hint = keys.hint(key)
    return Signer("key", f"key:sha256:{hint}", label, time, {"curve": keys.CURVES[key.curve.name][0]})


def verify(signed: Bundle, trusted: Mapping[str, EllipticCurvePublicKey], time: datetime | None = None) -> Signer:
    """Check a key-mode signature against the trusted keys (path -> key); `time` is when it provably existed.

    The bundle's hint only picks among them. Raises Refused: VER-KEY when the hint names none, VER-SIGNATURE otherwise.
    """
    by_hint = {keys.hint(key): path for path, key in trusted.items()}
    if signed.hint and signed.hint not in by_hint:
        names = ", ".join(trusted)
        raise refusal("VER-KEY", signed.path, f"signed by key {signed.hint[:16]}…, which is not among {names}")
    candidates = [by_hint[signed.hint]] if signed.hint else list(trusted)
    for path in candidates:
        if holds(trusted[path], signed.signature, pae(signed.payload)):
            return describe(trusted[path], path, time)
    raise refusal("VER-SIGNATURE", signed.path, f"the signature is not one of {', '.join(candidates)}")


def holds(key: EllipticCurvePublicKey, signature: bytes, message: bytes) -> bool:
    """Whether a signature over a message verifies."""
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, message, keys.ecdsa(key))
    except InvalidSignature:
        return False
    return True
