"""Key mode: the verifier holds the signer's public key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from . import bundle, keys
from .dsse import pae
from .reasons import refusal
from .signer import Signer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey


class KeySigner:
    """Signs with a private key held in memory."""

    def __init__(self, key: EllipticCurvePrivateKey, label: str) -> None:
        self._key = key
        self._label = label

    def describe(self) -> Signer:
        """The key, named by the hint it goes by in bundles."""
        return describe(self._key.public_key(), self._label)

    def bundle(self, payload: bytes) -> bytes:
        """A key-mode bundle."""
        signature = self._key.sign(pae(payload), keys.ecdsa(self._key))
        return bundle.encode({"publicKey": {"hint": keys.hint(self._key.public_key())}}, payload, signature)


def describe(key: EllipticCurvePublicKey, label: str) -> Signer:
    """A key as a signer."""
    hint = keys.hint(key)
    return Signer("key", f"key:sha256:{hint}", label, details={"curve": keys.CURVES[key.curve.name][0]})


def verify(signed: bundle.Bundle, trusted: Mapping[str, EllipticCurvePublicKey]) -> Signer:
    """Check a key-mode signature against the trusted keys (path -> key).

    The bundle's hint only picks among them. Raises Refused: VER-KEY when the hint names none, VER-SIGNATURE otherwise.
    """
    by_hint = {keys.hint(key): path for path, key in trusted.items()}
    if signed.hint and signed.hint not in by_hint:
        names = ", ".join(trusted)
        raise refusal("VER-KEY", signed.path, f"signed by key {signed.hint[:16]}…, which is not among {names}")
    candidates = [by_hint[signed.hint]] if signed.hint else list(trusted)
    for path in candidates:
        if holds(trusted[path], signed.signature, pae(signed.payload)):
            return describe(trusted[path], path)
    raise refusal("VER-SIGNATURE", signed.path, f"the signature is not one of {', '.join(candidates)}")


def holds(key: EllipticCurvePublicKey, signature: bytes, message: bytes) -> bool:
    """Whether a signature over a message verifies."""
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, message, keys.ecdsa(key))
    except InvalidSignature:
        return False
    return True
