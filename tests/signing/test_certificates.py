"""Certificate mode: chains made by openssl, certificates of every wrong kind, and the reference's view of both."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID
from interlock.config.settings import Trust
from interlock.report.errors import BadInput
from interlock.signing import bundle, certmode
from interlock.signing.dsse import pae
from interlock.signing.keys import ecdsa
from interlock.signing.manifest import build
from interlock.signing.run import sign, verify
from interlock.signing.statement import Statement, encode
from interlock.signing.tree import Tree
from services.certificates import DAY, NOW, Holder, issue

CONFIG = """
[req]
distinguished_name = dn
prompt = no
[dn]
CN = placeholder
[ca]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign, cRLSign
[leaf]
keyUsage = critical, digitalSignature
extendedKeyUsage = codeSigning
"""


class Chain(NamedTuple):
    """PEM files that openssl made."""

    root: Path
    intermediate: Path
    leaf: Path
    key: Path


@pytest.fixture(scope="session", params=["prime256v1", "secp384r1", "secp521r1"])
def chain(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, require: Callable[[str, str], NoReturn]
) -> Chain:
    """Root, intermediate and leaf by openssl."""
    if shutil.which("openssl") is None:
        require("openssl", "apt-get install openssl")
    folder = tmp_path_factory.mktemp(f"chain-{request.param}")
    (folder / "c.cnf").write_text(CONFIG)

    def openssl(*args: str) -> None:
        subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)

    for who in ("root", "mid", "leaf"):
        openssl("ecparam", "-name", request.param, "-genkey", "-noout", "-out", f"{who}.key")
        openssl(
            "req", "-new", "-key", f"{who}.key", "-subj", f"/O=Acme/CN={who}", "-config", "c.cnf", "-out", f"{who}.csr"
        )
    common = ["-days", "30", "-extfile", "c.cnf"]
    openssl("x509", "-req", "-in", "root.csr", "-signkey", "root.key", "-out", "root.pem", "-extensions", "ca", *common)
    by_root = ["-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial"]
    openssl("x509", "-req", "-in", "mid.csr", *by_root, "-out", "mid.pem", "-extensions", "ca", *common)
    by_mid = ["-CA", "mid.pem", "-CAkey", "mid.key", "-CAcreateserial"]
    openssl("x509", "-req", "-in", "leaf.csr", *by_mid, "-out", "leaf.pem", "-extensions", "leaf", *common)
    openssl("verify", "-CAfile", "root.pem", "-untrusted", "mid.pem", "leaf.pem")
    return Chain(*(folder / n for n in ("root.pem", "mid.pem", "leaf.pem", "leaf.key")))


def codes(report: Any) -> list[str]:
    return sorted(finding.rule for finding in report.findings)


def test_openssl_chain(chain: Chain, model: Path, reference: Any) -> None:
    sign(model, key=chain.key, certificates=[chain.leaf, chain.intermediate])
    report = verify(model, ca=[chain.root])
    assert report.exit_code == 0, report.findings
    assert report.facts["signer"]["label"] == "CN=leaf,O=Acme"
    assert report.facts["signer"]["mode"] == "certificate"
    verdict = reference(
        "verify", "certificate", model, "--signature", model / "model.sig", "--certificate_chain", chain.root
    )
    assert verdict.code == 0, verdict.text
    # Without the intermediate there is no path; with another root there is none either.
    sign(model, key=chain.key, certificates=[chain.leaf])
    assert codes(verify(model, ca=[chain.root])) == ["VER-CHAIN"]
    assert verify(model, ca=[chain.root, chain.intermediate]).exit_code == 0


def test_certificate_bundles_of_the_reference(chain: Chain, model: Path, reference: Any) -> None:
    signature = model.parent / "theirs.sig"
    done = reference(
        "sign", "certificate", model, "--signature", signature, "--private_key", chain.key,
        "--signing_certificate", chain.leaf, "--certificate_chain", chain.intermediate,
    )  # fmt: skip
    assert done.code == 0, done.text
    assert verify(model, signature=signature, ca=[chain.root]).exit_code == 0


@pytest.fixture(scope="module")
def authority() -> Holder:
    """An authority."""
    return issue("root", ca=True)


def signed_by(model: Path, leaf: Holder, *others: Holder) -> Path:
    """Sign as our command would refuse to: whatever the certificate says."""
    manifest, _ = build(Tree(model))
    payload = encode(Statement(manifest, "model"))
    signature = leaf.key.sign(pae(payload), ecdsa(leaf.key))
    path = model.parent / "cert.sig"
    path.write_bytes(bundle.encode(certmode.material([h.certificate for h in (leaf, *others)]), payload, signature))
    return path


def judge(model: Path, tmp_path: Path, authority: Holder, leaf: Holder, *others: Holder, **options: Any) -> Any:
    (tmp_path / "ca.pem").write_bytes(authority.pem())
    path = signed_by(model, leaf, *others)
    return verify(model, signature=path, ca=[tmp_path / "ca.pem"], **options)


LEAVES: dict[str, tuple[dict[str, Any], str]] = {
    "expired": ({"start": NOW - 9 * DAY, "end": NOW - DAY}, "VER-EXPIRED"),
    "not yet valid": ({"start": NOW + DAY}, "VER-NOT-YET-VALID"),
    "TLS server": ({"purposes": [ExtendedKeyUsageOID.SERVER_AUTH]}, "VER-CERTIFICATE-PURPOSE"),
    "TLS client": ({"purposes": [ExtendedKeyUsageOID.CLIENT_AUTH]}, "VER-CERTIFICATE-PURPOSE"),
    "timestamping": ({"purposes": [ExtendedKeyUsageOID.TIME_STAMPING]}, "VER-CERTIFICATE-PURPOSE"),
    "no purpose named": ({"purposes": None}, "VER-CERTIFICATE-PURPOSE"),
    "any purpose": ({"purposes": [ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE]}, "VER-CERTIFICATE-PURPOSE"),
    "may not sign": ({"may_sign": False}, "VER-CERTIFICATE-PURPOSE"),
    "an authority itself": ({"ca": True}, "VER-CERTIFICATE-PURPOSE"),
    "curve of bitcoin": ({"key": ec.generate_private_key(ec.SECP256K1())}, "VER-KEY-TYPE"),
}


@pytest.mark.parametrize("kind", LEAVES)
def test_leaf_of_the_wrong_kind(kind: str, model: Path, tmp_path: Path, authority: Holder) -> None:
    how, code = LEAVES[kind]
    leaf = issue("leaf", authority, **how)
    if code == "VER-KEY-TYPE":  # not a curve we have a scheme for, so the signature is made by hand
        leaf = Holder(ec.generate_private_key(ec.SECP256R1()), leaf.certificate)
    assert codes(judge(model, tmp_path, authority, leaf)) == [code]


def test_rsa_leaf(model: Path, tmp_path: Path, authority: Holder) -> None:
    certificate = issue("leaf", authority, key=rsa.generate_private_key(65537, 2048)).certificate
    leaf = Holder(ec.generate_private_key(ec.SECP256R1()), certificate)
    assert codes(judge(model, tmp_path, authority, leaf)) == ["VER-KEY-TYPE"]


def test_valid_leaf(model: Path, tmp_path: Path, authority: Holder) -> None:
    assert judge(model, tmp_path, authority, issue("leaf", authority)).exit_code == 0
    several = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.CODE_SIGNING]
    assert judge(model, tmp_path, authority, issue("leaf", authority, purposes=several)).exit_code == 0


def test_chains_of_the_wrong_kind(model: Path, tmp_path: Path, authority: Holder) -> None:
    leaf_as_issuer = issue("not an authority", authority)
    cases = {
        "self-signed leaf": (issue("alone"),),
        "stranger's authority": (issue("leaf", issue("root", ca=True)),),
        "issuer is no authority": (issue("leaf", leaf_as_issuer), leaf_as_issuer),
        "path too long": (
            issue("leaf", low := issue("low", top := issue("top", authority, ca=True, path_length=0), ca=True)),
            low,
            top,
        ),
    }
    for why, holders in cases.items():
        assert codes(judge(model, tmp_path, authority, *holders)) == ["VER-CHAIN"], why
    expired = issue("old authority", authority, ca=True, start=NOW - 9 * DAY, end=NOW - DAY)
    assert codes(judge(model, tmp_path, authority, issue("leaf", expired), expired)) == ["VER-EXPIRED"]


def test_expired_may_be_allowed_by_name(model: Path, tmp_path: Path, authority: Holder) -> None:
    leaf = issue("leaf", authority, end=NOW - timedelta(hours=1))
    report = judge(model, tmp_path, authority, leaf, allow=["VER-EXPIRED"])
    assert report.exit_code == 0
    assert report.facts["allowed"] == ["VER-EXPIRED"]


def test_signature_of_another_key(model: Path, tmp_path: Path, authority: Holder) -> None:
    leaf = issue("leaf", authority)
    assert codes(judge(model, tmp_path, authority, Holder(issue("x", authority).key, leaf.certificate))) == [
        "VER-SIGNATURE"
    ]


def test_mode_is_the_policys_choice(model: Path, tmp_path: Path, authority: Holder, pair: Any) -> None:
    """A key bundle does not pass where certificates are asked for, nor the other way round, whatever it brings."""
    (tmp_path / "ca.pem").write_bytes(authority.pem())
    sign(model, key=pair.private)
    assert codes(verify(model, ca=[tmp_path / "ca.pem"])) == ["VER-MODE"]
    (model / "model.sig").unlink()
    path = signed_by(model, issue("leaf", authority))
    assert codes(verify(model, signature=path, key=pair.public)) == ["VER-MODE"]
    both = Trust(keys=[str(pair.public)], certificates=[str(tmp_path / "ca.pem")])
    assert verify(model, signature=path, trust=both).exit_code == 0
    both.mode = "key"
    assert codes(verify(model, signature=path, trust=both)) == ["VER-MODE"]
    both.mode = "keyless"
    with pytest.raises(BadInput, match="nobody"):
        verify(model, signature=path, trust=both)


def test_certificates_that_cannot_be_used(model: Path, tmp_path: Path, authority: Holder, pair: Any) -> None:
    leaf = issue("leaf", authority)
    (tmp_path / "leaf.pem").write_bytes(leaf.pem())
    (tmp_path / "leaf.key").write_bytes(leaf.key_pem())
    with pytest.raises(BadInput, match="not for this private key"):
        sign(model, key=pair.private, certificates=[tmp_path / "leaf.pem"])
    for purposes in ([ExtendedKeyUsageOID.SERVER_AUTH], None):
        (tmp_path / "leaf.pem").write_bytes(issue("server", authority, key=leaf.key, purposes=purposes).pem())
        with pytest.raises(BadInput, match="codeSigning"):
            sign(model, key=tmp_path / "leaf.key", certificates=[tmp_path / "leaf.pem"])
    (tmp_path / "leaf.pem").write_text("no certificate")
    with pytest.raises(BadInput, match="PEM"):
        verify(model, ca=[tmp_path / "leaf.pem"])


def test_damaged_certificate_in_the_bundle(model: Path, tmp_path: Path, authority: Holder) -> None:
    (tmp_path / "ca.pem").write_bytes(authority.pem())
    leaf = issue("leaf", authority)
    path = signed_by(model, leaf)
    der = leaf.certificate.public_bytes(Encoding.DER)
    for bad in (b"", b"\x30", der[:-1], der + b"\0", b"\0" * 100):
        document = json.loads(path.read_text())
        entry = document["verificationMaterial"]["x509CertificateChain"]["certificates"][0]
        entry["rawBytes"] = base64.b64encode(bad).decode()
        (tmp_path / "bad.sig").write_text(json.dumps(document))
        assert codes(verify(model, signature=tmp_path / "bad.sig", ca=[tmp_path / "ca.pem"])) == ["VER-MALFORMED"]
