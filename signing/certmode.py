"""Certificate mode: the bundle brings the signer's certificate chain, the verifier the authorities it trusts."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..report.errors import BadInput
from . import bundle, keys
from .dsse import pae
from .keymode import holds
from .reasons import refusal
from .signer import LocalSigner, Signer

if TYPE_CHECKING:
    from cryptography.x509 import Certificate


def load(path: str | os.PathLike[str]) -> list[Certificate]:
    """The certificates in a PEM file. Raises BadInput."""
    from cryptography import x509

    data = keys.read(path, "certificate")
    try:
        return x509.load_pem_x509_certificates(data)
    except ValueError as error:
        raise BadInput(path, "holds no certificate in PEM form", hint="name a PEM file with certificates") from error


class CertificateSigner(LocalSigner):
    """Adds a certificate chain, leaf first, to what another signer signs: it says whose the key is."""

    def __init__(self, signer: LocalSigner, key: Any, chain: Sequence[Certificate], timestamp_url: str = "") -> None:
        """`key` is the public key of `signer`. Raises BadInput unless the leaf is its and may sign code."""
        super().__init__(timestamp_url)
        subject = chain[0].subject.rfc4514_string()
        if chain[0].public_key() != key:
            raise BadInput(
                subject, "the first certificate is not for this private key", hint="leaf first, then the CA's"
            )
        problem = purpose_problem(chain[0])
        if problem:
            raise BadInput(subject, problem, hint="ask for a certificate with digitalSignature and codeSigning")
        self._signer, self._chain = signer, chain

    def describe(self) -> Signer:
        """The certificate's subject."""
        return describe(self._chain[0], None)

    def sign(self, message: bytes) -> bytes:
        """An ECDSA signature in DER."""
        return self._signer.sign(message)

    def material(self) -> dict[str, Any]:
        """The chain."""
        return material(self._chain)


def material(chain: Sequence[Certificate]) -> dict[str, Any]:
    """The verification material of a chain."""
    from cryptography.hazmat.primitives.serialization import Encoding

    encoded = [{"rawBytes": base64.b64encode(c.public_bytes(Encoding.DER)).decode()} for c in chain]
    return {"x509CertificateChain": {"certificates": encoded}}


def describe(leaf: Certificate, time: datetime | None) -> Signer:
    """A leaf certificate as a signer."""
    from cryptography.hazmat.primitives import hashes

    fingerprint = leaf.fingerprint(hashes.SHA256()).hex()
    details = {
        "subject": leaf.subject.rfc4514_string(),
        "issuer": leaf.issuer.rfc4514_string(),
        "serial": f"{leaf.serial_number:x}",
        "valid_until": leaf.not_valid_after_utc.isoformat(),
    }
    return Signer("certificate", f"certificate:sha256:{fingerprint}", details["subject"], time, details)


def verify(
    signed: bundle.Bundle,
    authorities: Sequence[Certificate],
    time: datetime | None,
    *,
    allow_expired: Callable[[], bool],
) -> Signer:
    """Check a certificate-mode signature. `time` is when it provably existed; without one, the chain must be valid now.

    Raises Refused: VER-EXPIRED, VER-NOT-YET-VALID, VER-CERTIFICATE-PURPOSE, VER-CHAIN, VER-KEY-TYPE, VER-SIGNATURE.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

    try:
        chain = [x509.load_der_x509_certificate(der) for der in signed.certificates]
        leaf, key = chain[0], chain[0].public_key()
        problem = purpose_problem(leaf)
    except (ValueError, TypeError) as error:
        raise refusal("VER-MALFORMED", signed.path, f"a certificate cannot be read: {error}") from error
    if not isinstance(key, EllipticCurvePublicKey) or key.curve.name not in keys.CURVES:
        raise refusal("VER-KEY-TYPE", signed.path, f"the certificate holds {keys.kind(key)}")
    moment = time or datetime.now(UTC)
    if moment < leaf.not_valid_before_utc:
        raise refusal("VER-NOT-YET-VALID", signed.path, f"valid from {leaf.not_valid_before_utc:%Y-%m-%d %H:%M} UTC")
    if moment > leaf.not_valid_after_utc:
        if not allow_expired():
            raise refusal(
                "VER-EXPIRED",
                signed.path,
                f"the certificate expired on {leaf.not_valid_after_utc:%Y-%m-%d}",
                hint="" if time else "a trusted timestamp would have proved that it was signed before",
            )
        moment = leaf.not_valid_after_utc
    if problem:
        raise refusal("VER-CERTIFICATE-PURPOSE", signed.path, problem)
    _check_chain(chain, authorities, moment, signed.path)
    if not holds(key, signed.signature, pae(signed.payload)):
        raise refusal("VER-SIGNATURE", signed.path, "the signature is not the certificate's")
    return describe(leaf, time)


def purpose_problem(leaf: Certificate) -> str:
    """Why a certificate is not one for signing models, or empty.

    Its key usage must include digitalSignature and its extended key usage codeSigning. By RFC 5280 a certificate
    without the latter is good for everything, and the reference accepts it; but an authority that is trusted here also
    issues to devices, services and people, often with no purpose at all, and none of them may sign models by accident.
    Authorities that issue for code signing say so: the CA/Browser Forum requires it, and the reference's tests do it.
    """
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID

    extensions = leaf.extensions

    def value(kind: Any) -> Any:
        try:
            return extensions.get_extension_for_class(kind).value
        except x509.ExtensionNotFound:
            return None

    usage, purposes, basic = value(x509.KeyUsage), value(x509.ExtendedKeyUsage), value(x509.BasicConstraints)
    if basic is not None and basic.ca:
        return "the signing certificate is an authority's"
    if usage is None or not usage.digital_signature:
        return "the certificate's key usage does not include digitalSignature"
    if purposes is None:
        return "the certificate has no extended key usage; codeSigning must be in it"
    if ExtendedKeyUsageOID.CODE_SIGNING not in purposes:
        return "the certificate's extended key usage does not include codeSigning"
    return ""


def _check_chain(chain: list[Certificate], authorities: Sequence[Certificate], moment: datetime, what: str) -> None:
    """The path from the leaf to an authority, by RFC 5280 as cryptography implements it, at a moment in time."""
    from cryptography import x509
    from cryptography.x509.verification import Criticality, ExtensionPolicy, PolicyBuilder, Store, VerificationError

    def is_authority(_policy: Any, _certificate: Any, constraints: Any) -> None:
        if not constraints.ca:
            raise ValueError("an issuer in the chain is not an authority")

    def may_issue(_policy: Any, _certificate: Any, usage: Any) -> None:
        if usage is not None and not usage.key_cert_sign:
            raise ValueError("an issuer in the chain may not sign certificates")

    issuers = (
        ExtensionPolicy.permit_all()
        .require_present(x509.BasicConstraints, Criticality.AGNOSTIC, is_authority)
        .may_be_present(x509.KeyUsage, Criticality.AGNOSTIC, may_issue)
    )
    verifier = (
        PolicyBuilder()
        .store(Store(list(authorities)))
        .time(moment)
        .max_chain_depth(8)
        .extension_policies(ca_policy=issuers, ee_policy=ExtensionPolicy.permit_all())
        .build_client_verifier()
    )
    try:
        verifier.verify(chain[0], chain[1:])
    except VerificationError as error:
        for issuer in [*chain[1:], *authorities]:
            if issuer.subject == chain[0].issuer and moment > issuer.not_valid_after_utc:
                raise refusal("VER-EXPIRED", what, "an authority in the chain had expired") from error
        raise refusal("VER-CHAIN", what, f"no path to a trusted authority: {error}") from error
