"""The signature of a published version is listed beside it, where OCI tools look, and a damaged one is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from interlock.release.run import publish, pull
from interlock.report.errors import Refused
from interlock.signing.bundle import MEDIA_TYPE
from interlock.signing.run import sign, verify


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights.bin").write_bytes(b"weights")
    sign(folder, generate=str(tmp_path / "release"))
    return folder


def manifests(layout: Path) -> list[dict]:
    return [
        document
        for blob in (layout / "blobs" / "sha256").iterdir()
        if blob.read_bytes()[:1] == b"{" and "subject" in (document := json.loads(blob.read_bytes()))
    ]


def test_bundle_is_a_referrer_of_the_manifest(model: Path, tmp_path: Path) -> None:
    first = publish(str(model), f"oci-layout:{tmp_path / 'registry'}:1.0")
    (referrer,) = manifests(tmp_path / "registry")
    assert referrer["artifactType"] == MEDIA_TYPE
    assert referrer["subject"]["digest"] == first.facts["digest"]
    (layer,) = referrer["layers"]
    assert layer["mediaType"] == MEDIA_TYPE
    blob = tmp_path / "registry" / "blobs" / "sha256" / layer["digest"].removeprefix("sha256:")
    assert blob.read_bytes() == (model / "model.sig").read_bytes()
    again = publish(str(model), f"oci-layout:{tmp_path / 'registry'}:1.1")
    assert again.facts["signature"] == first.facts["signature"]
    assert len(manifests(tmp_path / "registry")) == 1


def test_pulled_model_still_verifies(model: Path, tmp_path: Path) -> None:
    publish(str(model), f"oci-layout:{tmp_path / 'registry'}:1.0")
    pull(f"oci-layout:{tmp_path / 'registry'}:1.0", str(tmp_path / "pulled"))
    assert verify(tmp_path / "pulled", key=str(tmp_path / "release.pub")).exit_code == 0


def test_unsigned_model_has_no_referrer(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "weights.bin").write_bytes(b"weights")
    report = publish(str(tmp_path / "m"), f"oci-layout:{tmp_path / 'registry'}:1.0")
    assert report.facts["signature"] is None
    assert manifests(tmp_path / "registry") == []


def test_damaged_signature_is_refused_before_anything_is_written(model: Path, tmp_path: Path) -> None:
    (model / "model.sig").write_text("{}")
    with pytest.raises(Refused):
        publish(str(model), f"oci-layout:{tmp_path / 'registry'}:1.0")
    assert not (tmp_path / "registry").exists()
