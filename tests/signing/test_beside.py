"""Two signatures of one model: each verifies beside the other, and nothing else passes under the name of one."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from interlock.report.errors import Refused
from interlock.signing.run import sign, verify


def codes(report: Any) -> list[str]:
    return sorted(finding.rule for finding in report.findings)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Where the second signature is kept."""
    return tmp_path / "mine.sig"


@pytest.mark.parametrize("publisher_first", [True, False])
def test_beside_the_model(publisher_first: bool, model: Path, mine: Path, pairs: Any) -> None:
    publisher, buyer = pairs["P-384"], pairs["P-256"]
    orders = [(publisher, model / "model.sig"), (buyer, mine)]
    for pair, place in orders if publisher_first else orders[::-1]:
        report = sign(model, key=pair.private, output=place)
        assert report.facts["note"] is None
    assert verify(model, key=publisher.public).exit_code == 0
    report = verify(model, key=buyer.public, signature=mine)
    assert report.exit_code == 0, report.findings
    assert report.facts["not_covered"]["ignored"] == ["model.sig"]
    assert report.facts["files"] == report.inputs == 5
    into = mine.with_name("into")
    assert verify(model, key=buyer.public, signature=mine, into=into).exit_code == 0
    assert verify(into, key=publisher.public).exit_code == 0


def test_inside_the_model(model: Path, pairs: Any) -> None:
    publisher, buyer = pairs["P-384"], pairs["P-256"]
    sign(model, key=publisher.private)
    report = sign(model, key=buyer.private, output=model / "mine.sig")
    assert "mine.sig" in report.facts["note"]
    report = verify(model, key=buyer.public, signature=model / "mine.sig")
    assert (report.exit_code, report.facts["not_covered"]["ignored"]) == (0, ["model.sig"])
    assert codes(verify(model, key=publisher.public)) == ["VER-EXTRA"]
    # Signed again at the default place, that signature covers the other, and both hold.
    sign(model, key=publisher.private)
    assert verify(model, key=publisher.public).exit_code == 0
    assert verify(model, key=buyer.public, signature=model / "mine.sig").exit_code == 0


def test_signature_of_the_reference(model: Path, mine: Path, pair: Any, reference: Any) -> None:
    place = model / "model.sig"
    done = reference("sign", "key", model, "--private_key", pair.private, "--signature", place)
    assert done.code == 0, done.text
    sign(model, key=pair.private, output=mine)
    assert verify(model, key=pair.public, signature=mine).exit_code == 0
    verdict = reference("verify", "key", model, "--signature", mine, "--public_key", pair.public)
    assert verdict.code == 0, verdict.text


def payload(change: Callable[[Any], None]) -> Callable[[Path], None]:
    """Changes the statement in a bundle."""

    def apply(path: Path) -> None:
        document = json.loads(path.read_text())
        statement = json.loads(base64.b64decode(document["dsseEnvelope"]["payload"]))
        change(statement)
        document["dsseEnvelope"]["payload"] = base64.b64encode(json.dumps(statement).encode()).decode()
        path.write_text(json.dumps(document))

    return apply


def unknown_field(path: Path) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), "weights": "AAAA"}))


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere").parent.parent / "elsewhere.sig")
    path.symlink_to("../elsewhere.sig")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "code.py").write_text("import os")


OTHERS: dict[str, Callable[[Path], None]] = {
    "text": lambda path: path.write_text("anything") and None,
    "empty": lambda path: path.write_bytes(b"") and None,
    "pickle": lambda path: path.write_bytes(b"\x80\x04K\x01.") and None,
    "bundle with more after it": lambda path: path.write_text(path.read_text() + "PK") and None,
    "bundle with an unknown field": unknown_field,
    "one file less": payload(lambda statement: statement["predicate"]["resources"].pop()),
    "no file": payload(lambda statement: statement["predicate"]["resources"].clear()),
    "another root digest": payload(lambda statement: statement["subject"][0]["digest"].update(sha256="0" * 64)),
    "another predicate": payload(lambda statement: statement.update(predicateType="https://slsa.dev/provenance/v1")),
    "link": link,
    "pipe": pipe,
    "folder": folder,
}


@pytest.mark.parametrize("kind", OTHERS)
def test_nothing_hides_under_the_name(kind: str, model: Path, mine: Path, pair: Any) -> None:
    """Neither where the signer saw a signature there, nor where nothing was there, nor at the signer's own desk."""
    sign(model, key=pair.private, output=mine.with_name("alone.sig"))
    sign(model, key=pair.private)
    sign(model, key=pair.private, output=mine)
    OTHERS[kind](model / "model.sig")
    for signature in (mine, mine.with_name("alone.sig")):
        report = verify(model, key=pair.public, signature=signature)
        assert report.exit_code == 1
        assert set(codes(report)) <= {"VER-IGNORED", "VER-EXTRA", "VER-SYMLINK", "VER-SPECIAL-FILE"}
    before = mine.read_bytes()
    with pytest.raises(Refused, match="VER-IGNORED"):
        sign(model, key=pair.private, output=mine)
    assert mine.read_bytes() == before


def test_signature_of_what_was_there_before(model: Path, mine: Path, pair: Any) -> None:
    sign(model, key=pair.private)
    (model / "config.json").write_text("[]")
    with pytest.raises(Refused, match="VER-IGNORED") as caught:
        sign(model, key=pair.private, output=mine)
    assert caught.value.hint
    assert not mine.exists()
    # The signer may leave it uncovered by name; verifiers then have to allow it by name.
    sign(model, key=pair.private, output=mine, ignore=["model.sig"])
    assert codes(verify(model, key=pair.public, signature=mine)) == ["VER-IGNORED"]
    assert verify(model, key=pair.public, signature=mine, allow=["VER-IGNORED=model.sig"]).exit_code == 0


def test_receipt_knows_both(model: Path, mine: Path, pairs: Any) -> None:
    pair = pairs["P-256"]
    sign(model, key=pair.private)
    sign(model, key=pair.private, output=mine)
    options: Any = {"receipt": mine.with_name("r"), "receipt_key": pairs["P-384"].private, "signature": mine}
    assert verify(model, key=pair.public, **options).facts["by_receipt"] is False
    assert verify(model, key=pair.public, **options).facts["by_receipt"] is True
    (model / "model.sig").write_text("anything")
    assert codes(verify(model, key=pair.public, **options)) == ["VER-IGNORED"]
