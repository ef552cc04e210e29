"""Certificates of every bad kind, made with cryptography; the good chain is made by openssl in its fixture."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NOW = datetime.now(UTC).replace(microsecond=0)
DAY = timedelta(days=1)


class Holder(NamedTuple):
    """A key and its certificate."""

    key: Any
    certificate: x509.Certificate

    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    def key_pem(self) -> bytes:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def usage(**on: bool) -> x509.KeyUsage:
    flags = dict.fromkeys(
        (
            "digital_signature",
            "content_commitment",
            "key_encipherment",
            "data_encipherment",
            "key_agreement",
            "key_cert_sign",
            "crl_sign",
            "encipher_only",
            "decipher_only",
        ),
        False,
    )
    return x509.KeyUsage(**(flags | on))


def issue(
    subject: str,
    issuer: Holder | None = None,
    *,
    start: datetime = NOW - DAY,
    end: datetime = NOW + 30 * DAY,
    ca: bool = False,
    may_sign: bool = True,
    purposes: Any = (ExtendedKeyUsageOID.CODE_SIGNING,),
    key: Any = None,
    path_length: int | None = None,
) -> Holder:
    """A certificate, self-signed without an issuer."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    builder = (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(issuer.certificate.subject if issuer else name(subject))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=path_length), critical=True)
        .add_extension(usage(digital_signature=may_sign, key_cert_sign=ca), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    signing = issuer.key if issuer else key
    if issuer:
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key())
        builder = builder.add_extension(identifier, critical=False)
    if purposes and not ca:
        builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
    return Holder(key, builder.sign(signing, hashes.SHA256()))
