"""Keys in PEM files: ECDSA on P-256 with SHA-256, P-384 with SHA-384, P-521 with SHA-512, as OMS v1.0 has them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..report.errors import BadInput
from . import atomic

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePrivateKey, EllipticCurvePublicKey

MAX_BYTES = 1 << 20
CURVES = {"secp256r1": ("P-256", "SHA256"), "secp384r1": ("P-384", "SHA384"), "secp521r1": ("P-521", "SHA512")}


def read(path: str | os.PathLike[str], thing: str) -> bytes:
    """A small file's bytes. Raises BadInput naming `thing` where it cannot be read."""
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadInput(
            path, f"the {thing} cannot be read: {reason}", hint="check the path and its permissions"
        ) from error
    if len(data) > MAX_BYTES:
        raise BadInput(path, f"is too large to be a {thing}")
    return data


def load_private(path: str | os.PathLike[str], password: str | None = None) -> EllipticCurvePrivateKey:
    """The private key in a PEM file. Raises BadInput: unreadable, wrong password, not a key, not an accepted curve."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    data = read(path, "private key")
    encrypted = b"ENCRYPTED" in data
    if encrypted and password is None:
        raise BadInput(path, "the private key is encrypted", hint="give its password with INTERLOCK_SIGN_PASSWORD")
    try:
        # A password for a key that needs none does no harm: the same variable may serve several keys.
        key = load_pem_private_key(data, password.encode() if encrypted and password is not None else None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        if b"PUBLIC KEY" in data or b"CERTIFICATE" in data:
            raise BadInput(path, "holds no private key", hint="name the private key, not the public one") from error
        if encrypted:
            raise BadInput(
                path, "wrong password, or the key is damaged", hint="check INTERLOCK_SIGN_PASSWORD"
            ) from error
        raise BadInput(
            path, "is not a private key in PEM form", hint="make one: interlock sign --generate-key NAME"
        ) from error
    if not isinstance(key, EllipticCurvePrivateKey) or key.curve.name not in CURVES:
        raise BadInput(path, f"is {kind(key)}; OMS signs with ECDSA P-256, P-384 or P-521", hint="use such a key")
    return key


def load_public(path: str | os.PathLike[str]) -> EllipticCurvePublicKey:
    """The public key in a PEM file. Raises BadInput: unreadable, a private key, or not a curve we accept."""
    return parse_public(read(path, "public key"), path)


def parse_public(data: bytes, path: str | os.PathLike[str]) -> EllipticCurvePublicKey:
    """The public key that a PEM text from `path` holds. Raises BadInput as `load_public` does."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    if b"PRIVATE KEY" in data:
        raise BadInput(path, "is a private key", hint="verify with the public key, and keep this one secret")
    try:
        key = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise BadInput(path, "is not a public key in PEM form", hint="name the signer's public key file") from error
    if not isinstance(key, EllipticCurvePublicKey) or key.curve.name not in CURVES:
        raise BadInput(path, f"is {kind(key)}; OMS signatures use ECDSA P-256, P-384 or P-521", hint="use such a key")
    return key


def kind(key: Any) -> str:
    """A key's type in words."""
    curve = getattr(getattr(key, "curve", None), "name", "")
    if curve:
        return f"an ECDSA key on {CURVES.get(curve, (curve, ''))[0]}"
    name = type(key).__name__.removeprefix("_").removesuffix("PublicKey").removesuffix("PrivateKey")
    return f"an {name} key" if name[:1] in "AEIORSX" else f"a {name} key"


def ecdsa(key: EllipticCurvePublicKey | EllipticCurvePrivateKey) -> ECDSA:
    """The signature scheme that goes with a key's curve."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA

    return ECDSA(getattr(hashes, CURVES[key.curve.name][1])())


def public_pem(key: EllipticCurvePublicKey) -> bytes:
    """The key as PEM SubjectPublicKeyInfo, final newline included."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def hint(key: EllipticCurvePublicKey) -> str:
    """The name of a key in bundles: SHA-256 in hexadecimal of its PEM text, as the reference writes it."""
    return hashlib.sha256(public_pem(key)).hexdigest()


def generate(stem: str, password: str | None = None) -> tuple[str, str]:
    """Write a new P-256 pair, STEM.key (mode 0600, encrypted under a password) and STEM.pub; never overwrites."""
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    private, public = f"{stem}.key", f"{stem}.pub"
    for path in (private, public):
        if Path(path).exists():
            raise BadInput(path, "already exists", hint="choose another name; keys are never overwritten")
    key = generate_private_key(SECP256R1())
    encryption = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
    atomic.write(private, pem, mode=0o600, replace=False)
    atomic.write(public, public_pem(key.public_key()), replace=False)
    return private, public
