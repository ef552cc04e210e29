"""Key mode on its own: what verification names, what keys do to it, and what bad input looks like."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from interlock.report.errors import BadInput, NothingToCheck, Refused
from interlock.signing.manifest import root_digest
from interlock.signing.run import sign, verify
from interlock.signing.statement import BLAKE3


def codes(report: Any) -> list[str]:
    return sorted(finding.rule for finding in report.findings)


def payload_of(signature: Path) -> Any:
    return json.loads(base64.b64decode(json.loads(signature.read_text())["dsseEnvelope"]["payload"]))


def test_facts(pair: Any, model: Path) -> None:
    signed = sign(model, key=pair.private, name="silero", version="1.2.0")
    report = verify(model, key=pair.public)
    assert report.exit_code == 0
    assert report.facts["root_digest"] == signed.facts["root_digest"] == root_digest(model)
    assert report.facts["signer"] == {**signed.facts["signer"], "label": str(pair.public)}
    assert report.facts["name"] == "silero"
    assert report.facts["version"] == "1.2.0"
    assert report.facts["hashed_with"] == {"blake3": 5}
    assert verify(model, key=pair.public, strict_sha256=True).facts["hashed_with"] == {"sha256": 5}
    entries = payload_of(model / "model.sig")["predicate"]["resources"]
    assert [e["name"] for e in entries] == sorted(e["name"] for e in entries)
    assert all(BLAKE3 in e["annotations"] for e in entries)


def test_names_everything_that_differs_at_once(pair: Any, model: Path) -> None:
    sign(model, key=pair.private)
    (model / "config.json").write_text("{ }")
    data = bytearray((model / "weights.safetensors").read_bytes())
    data[100] ^= 1
    (model / "weights.safetensors").write_bytes(data)
    (model / "empty.txt").unlink()
    (model / "a" / "new.py").write_text("import os")
    (model / "link").symlink_to("config.json")
    os.mkfifo(model / "pipe")
    report = verify(model, key=pair.public)
    assert report.exit_code == 1
    found = {(f.rule, Path(f.where.path).relative_to(model).as_posix()) for f in report.findings if f.where}
    assert found == {
        ("VER-CHANGED", "config.json"),
        ("VER-CHANGED", "weights.safetensors"),
        ("VER-MISSING", "empty.txt"),
        ("VER-EXTRA", "a/new.py"),
        ("VER-SYMLINK", "link"),
        ("VER-SPECIAL-FILE", "pipe"),
    }


@pytest.mark.parametrize("strict", [False, True])
def test_one_bit_anywhere(strict: bool, pair: Any, model: Path) -> None:
    sign(model, key=pair.private)
    weights = model / "weights.safetensors"
    good = weights.read_bytes()
    for position in (0, len(good) // 2, len(good) - 1):
        bad = bytearray(good)
        bad[position] ^= 0x80
        weights.write_bytes(bad)
        assert codes(verify(model, key=pair.public, strict_sha256=strict)) == ["VER-CHANGED"]
    weights.write_bytes(good)
    assert verify(model, key=pair.public, strict_sha256=strict).exit_code == 0


def test_extra_file_may_be_allowed_by_name_only(pair: Any, model: Path) -> None:
    sign(model, key=pair.private)
    (model / "notes").mkdir()
    (model / "notes" / "a.txt").write_text("a")
    assert codes(verify(model, key=pair.public)) == ["VER-EXTRA"]
    report = verify(model, key=pair.public, allow=["VER-EXTRA=notes"])
    assert report.exit_code == 0
    assert report.facts["allowed"] == ["VER-EXTRA=notes"]
    assert report.facts["not_covered"]["ignored"] == ["notes/a.txt"]
    for wrong in ("VER-EXTRA", "VER-SIGNATURE", "VER-EXTRO=notes", "VER-EXPIRED=notes"):
        with pytest.raises(BadInput):
            verify(model, key=pair.public, allow=[wrong])


def test_any_of_several_keys(pairs: Any, model: Path) -> None:
    sign(model, key=pairs["P-384"].private)
    trusted = [pairs["stranger"].public, pairs["P-384"].public]
    assert verify(model, key=trusted).facts["signer"]["label"] == str(pairs["P-384"].public)
    assert codes(verify(model, key=pairs["stranger"].public)) == ["VER-KEY"]


def test_hint_only_picks_a_key(pairs: Any, model: Path) -> None:
    """A bundle that claims another trusted key's hint does not verify; one without a hint is tried with every key."""
    sign(model, key=pairs["P-256"].private)
    path = model / "model.sig"
    bundle = json.loads(path.read_text())
    hint = bundle["verificationMaterial"]["publicKey"].pop("hint")
    path.write_text(json.dumps(bundle))
    assert verify(model, key=[pairs["stranger"].public, pairs["P-256"].public]).exit_code == 0
    assert codes(verify(model, key=pairs["stranger"].public)) == ["VER-SIGNATURE"]
    bundle["verificationMaterial"]["publicKey"]["hint"] = hint[::-1]
    path.write_text(json.dumps(bundle))
    assert codes(verify(model, key=pairs["P-256"].public)) == ["VER-KEY"]


def test_encrypted_key(tmp_path: Path, model: Path) -> None:
    stem = str(tmp_path / "release")
    made = sign(None, generate=stem, password="correct horse")
    assert made.exit_code == 0
    assert b"ENCRYPTED" in (tmp_path / "release.key").read_bytes()
    assert (tmp_path / "release.key").stat().st_mode & 0o777 == 0o600
    sign(model, key=f"{stem}.key", password="correct horse")
    assert verify(model, key=f"{stem}.pub").exit_code == 0
    before = (model / "model.sig").read_bytes()
    with pytest.raises(BadInput, match="wrong password"):
        sign(model, key=f"{stem}.key", password="battery staple")
    with pytest.raises(BadInput, match="is encrypted"):
        sign(model, key=f"{stem}.key")
    with pytest.raises(BadInput, match="already exists"):
        sign(None, generate=stem)
    assert (model / "model.sig").read_bytes() == before


def test_generate_and_sign_in_one_step(tmp_path: Path, model: Path) -> None:
    sign(model, generate=str(tmp_path / "k"))
    assert verify(model, key=tmp_path / "k.pub").exit_code == 0


@pytest.mark.parametrize("make", ["rsa", "ed25519", "secp256k1", "garbage", "empty", "missing", "directory", "public"])
def test_unusable_private_keys(make: str, tmp_path: Path, model: Path, pair: Any) -> None:
    path = tmp_path / "bad.key"
    made: dict[str, Any] = {
        "rsa": lambda: rsa.generate_private_key(65537, 2048),
        "ed25519": ed25519.Ed25519PrivateKey.generate,
        "secp256k1": lambda: ec.generate_private_key(ec.SECP256K1()),
    }
    if make in made:
        key = made[make]()
        path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    elif make == "garbage":
        path.write_bytes(os.urandom(300))
    elif make == "empty":
        path.touch()
    elif make == "directory":
        path.mkdir()
    elif make == "public":
        path = pair.public
    with pytest.raises(BadInput) as caught:
        sign(model, key=path)
    assert caught.value.hint
    assert not (model / "model.sig").exists()


@pytest.mark.parametrize("make", ["rsa", "private", "garbage", "missing"])
def test_unusable_public_keys(make: str, tmp_path: Path, model: Path, pair: Any) -> None:
    sign(model, key=pair.private)
    path = tmp_path / "bad.pub"
    if make == "rsa":
        key = rsa.generate_private_key(65537, 2048).public_key()
        path.write_bytes(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    elif make == "private":
        path = pair.private
    elif make == "garbage":
        path.write_text("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
    with pytest.raises(BadInput) as caught:
        verify(model, key=path)
    assert caught.value.hint


def test_nobody_trusted(model: Path, pair: Any) -> None:
    sign(model, key=pair.private)
    with pytest.raises(BadInput, match="trust"):
        verify(model)


def test_unsigned_model(model: Path, pair: Any) -> None:
    report = verify(model, key=pair.public)
    assert (report.exit_code, codes(report)) == (1, ["VER-UNSIGNED"])
    with pytest.raises(BadInput):
        verify(model, key=pair.public, signature=model / "none.sig")


def test_what_cannot_be_signed(tmp_path: Path, pair: Any, model: Path) -> None:
    with pytest.raises(BadInput):
        sign(tmp_path / "missing", key=pair.private)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NothingToCheck):
        sign(tmp_path / "empty", key=pair.private)
    (model / "link").symlink_to("config.json")
    with pytest.raises(Refused, match="VER-SYMLINK"):
        sign(model, key=pair.private)
    (model / "link").unlink()
    (model / "bad\nname").touch()
    with pytest.raises(Refused, match="VER-NAME"):
        sign(model, key=pair.private)
    (model / "bad\nname").rename(model / "CONFIG.json")
    with pytest.raises(Refused, match="VER-TWINS"):
        sign(model, key=pair.private)
    (model / "CONFIG.json").unlink()
    os.mkfifo(model / "pipe")
    with pytest.raises(Refused, match="VER-SPECIAL-FILE"):
        sign(model, key=pair.private)
    with pytest.raises(BadInput):
        sign(model / "pipe", key=pair.private)
    (model / "pipe").unlink()
    for wrong in (".", "/etc", "../x", "", "*.txt"):
        with pytest.raises(BadInput):
            sign(model, key=pair.private, ignore=[wrong])
    assert not (model / "model.sig").exists()


def test_signing_twice_replaces_the_signature(pair: Any, model: Path) -> None:
    sign(model, key=pair.private)
    (model / "config.json").write_text("{ }")
    sign(model, key=pair.private)
    assert verify(model, key=pair.public).exit_code == 0
    assert sorted(p.name for p in model.iterdir() if p.name.startswith(".")) == []


def test_the_signature_file_cannot_hide_content(pair: Any, model: Path) -> None:
    """Only the bundle in use is left out of the comparison, not whatever bears its name."""
    elsewhere = model.parent / "real.sig"
    sign(model, key=pair.private, output=elsewhere)
    assert verify(model, key=pair.public, signature=elsewhere).exit_code == 0
    (model / "model.sig").write_text("anything")
    assert codes(verify(model, key=pair.public, signature=elsewhere)) == ["VER-EXTRA"]
