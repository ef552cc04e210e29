"""A model named `.`, as people do who stand in it, is signed, found, verified and inspected like any other."""

from __future__ import annotations

from pathlib import Path

import pytest
from interlock.signing.look import inspect
from interlock.signing.run import sign, verify


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    model = tmp_path / "model"
    model.mkdir()
    (model / "weights.bin").write_bytes(b"weights")
    monkeypatch.chdir(model)
    sign(".", generate=str(tmp_path / "release"))
    return model


def test_model_in_the_current_directory(here: Path) -> None:
    assert verify(".", key="../release.pub").exit_code == 0
    assert inspect(".").exit_code == 0


def test_signature_beside_the_current_directory(here: Path) -> None:
    (here / "model.sig").rename(here.parent / "model.sig")
    assert verify(".", key="../release.pub").exit_code == 0


def test_unsigned_current_directory_is_refused(here: Path) -> None:
    (here / "model.sig").unlink()
    report = verify(".", key="../release.pub")
    assert report.exit_code == 1
    assert [finding.rule for finding in report.findings] == ["VER-UNSIGNED"]
