"""Keys on a token: SoftHSM behind the same interface as hardware."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from interlock.report.errors import BadInput, NeedsAccess
from interlock.signing import pkcs11
from interlock.signing.run import sign, verify
from services.certificates import issue
from services.softhsm import PIN, Token

CURVES = {"p256": "EC:prime256v1", "p384": "EC:secp384r1", "p521": "EC:secp521r1"}


@pytest.fixture(scope="session")
def token(tmp_path_factory: pytest.TempPathFactory, require: Callable[[str, str], NoReturn]) -> Token:
    made = Token(tmp_path_factory.mktemp("token"), require)
    for number, (label, curve) in enumerate(CURVES.items(), 1):
        made.make_key(label, f"{number:02d}", curve)
    made.make_key("bitcoin", "09", "EC:secp256k1")
    return made


def public_key(token: Token, label: str, path: Path) -> Path:
    key = pkcs11.TokenSigner(token.uri(label)).key
    path.write_bytes(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return path


@pytest.mark.parametrize("label", CURVES)
def test_signs_for_us_and_for_the_reference(
    label: str, token: Token, model: Path, tmp_path: Path, reference: Any
) -> None:
    report = sign(model, pkcs11=token.uri(label))
    public = public_key(token, label, tmp_path / "token.pub")
    assert verify(model, key=public).exit_code == 0
    assert report.facts["signer"]["label"] == f"pkcs11:release/{label}"
    verdict = reference("verify", "key", model, "--signature", model / "model.sig", "--public_key", public)
    assert verdict.code == 0, verdict.text


def test_named_by_id_and_with_the_pin_from_elsewhere(token: Token, model: Path, tmp_path: Path) -> None:
    uri = token.uri("p256", pin="").replace("object=p256", "id=%01")
    assert sign(model, pkcs11=uri, password=PIN).exit_code == 0
    (tmp_path / "pin").write_text(PIN + "\n")
    assert sign(model, pkcs11=f"{uri}&pin-source=file:{tmp_path / 'pin'}").exit_code == 0


def test_certificate_of_a_key_on_the_token(token: Token, model: Path, tmp_path: Path) -> None:
    authority = issue("root", ca=True)
    public = pkcs11.TokenSigner(token.uri("p256")).key

    class Holder:
        """Only the public half is at hand."""

        def public_key(self) -> Any:
            return public

    leaf = issue("token", authority, key=Holder())
    (tmp_path / "leaf.pem").write_bytes(leaf.pem())
    (tmp_path / "ca.pem").write_bytes(authority.pem())
    sign(model, pkcs11=token.uri("p256"), certificates=[tmp_path / "leaf.pem"])
    assert verify(model, ca=[tmp_path / "ca.pem"]).facts["signer"]["label"] == "CN=token"
    with pytest.raises(BadInput, match="not for this private key"):
        sign(model, pkcs11=token.uri("p384"), certificates=[tmp_path / "leaf.pem"])


def test_what_does_not_work(token: Token, model: Path) -> None:
    cases: dict[str, tuple[str, type[Exception], str]] = {
        "wrong PIN": (token.uri("p256", pin="9999"), NeedsAccess, "wrong PIN"),
        "no PIN": (token.uri("p256", pin=""), BadInput, "holds 0"),
        "no such token": (token.uri("p256").replace("token=release", "token=other"), NeedsAccess, "no such token"),
        "no such key": (token.uri("nobody"), BadInput, "holds 0"),
        "several keys": (token.uri("p256").replace("object=p256", "type=private"), BadInput, "holds 4"),
        "curve": (token.uri("bitcoin"), BadInput, "not on P-256"),
        "no module": ("pkcs11:token=release?module-path=/none.so", BadInput, "no module"),
        "not a module": (f"pkcs11:token=release?module-path={__file__}", NeedsAccess, "."),
        "not a URI": ("token=release", BadInput, "not a PKCS#11 URI"),
        "unknown attribute": ("pkcs11:tokne=release", BadInput, "unknown"),
        "twice": ("pkcs11:token=a;token=b", BadInput, "twice"),
    }
    for why, (uri, kind, words) in cases.items():
        with pytest.raises(kind, match=words):
            sign(model, pkcs11=uri)
        assert not (model / "model.sig").exists(), why


def test_one_way_to_sign(token: Token, model: Path, pair: Any) -> None:
    with pytest.raises(BadInput, match="exclude each other"):
        sign(model, key=pair.private, pkcs11=token.uri("p256"))
    with pytest.raises(BadInput, match="exclude each other"):
        sign(model, key=pair.private, keyless=True)
    with pytest.raises(BadInput, match="no key"):
        sign(model)


def test_token_that_is_removed_while_signing(token: Token, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SoftHSM's tokens are files, which stay open; so the module's answer for a pulled token is given by hand."""
    signer = pkcs11.TokenSigner(token.uri("p256"))
    import PyKCS11

    def pulled(*_: Any) -> Any:
        raise PyKCS11.PyKCS11Error(PyKCS11.CKR_DEVICE_REMOVED)

    monkeypatch.setattr(PyKCS11.Session, "sign", pulled)
    with pytest.raises(NeedsAccess, match="the token was removed"):
        signer.sign(b"message")
    with pytest.raises(NeedsAccess, match="the token was removed"):
        sign(model, pkcs11=token.uri("p256"))
    assert not (model / "model.sig").exists()
