"""What a signature may take the place of: an older signature, and nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from interlock.report.errors import BadInput
from interlock.signing.run import sign, verify


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    "target",
    [
        "k.key",
        "k.pub",
        "./x/../k.key",
        "link.key",
        "model/config.json",
        "model/empty.txt",
        "other.json",
        "model",
        "pipe",
    ],
)
def test_nothing_but_a_bundle_is_overwritten(target: str, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(model.parent)
    sign(None, generate="k")
    Path("x").mkdir()
    Path("link.key").symlink_to("k.key")
    Path("other.json").write_text('{"mediaType": "application/json"}')
    os.mkfifo("pipe")
    before = everything(model.parent)
    with pytest.raises(BadInput) as caught:
        sign("model", key="k.key", output=target)
    assert caught.value.hint
    assert everything(model.parent) == before
    assert Path("link.key").is_symlink()


def test_single_file_model_is_not_overwritten(model: Path, pair: Any) -> None:
    weights = model / "weights.safetensors"
    before = weights.read_bytes()
    with pytest.raises(BadInput, match="no Sigstore bundle"):
        sign(weights, key=pair.private, output=weights)
    assert weights.read_bytes() == before


def test_default_place_holds_something_else(model: Path, pair: Any) -> None:
    (model / "model.sig").write_text("my notes")
    with pytest.raises(BadInput, match="no Sigstore bundle"):
        sign(model, key=pair.private)
    assert (model / "model.sig").read_text() == "my notes"


@pytest.mark.parametrize("target", ["new.key", "new.pub"])
def test_key_about_to_be_made(target: str, model: Path, pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused before the key exists, so that the corrected command can be run again."""
    monkeypatch.chdir(model.parent)
    for key in (None, pair.private):
        with pytest.raises(BadInput, match="overwrite"):
            sign("model", key=key, generate="new", output=target)
    assert not Path("new.key").exists()
    assert not Path("new.pub").exists()
    assert sign("model", generate="new").exit_code == 0


def damage(change: Callable[[Any], None]) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))

    return apply


@pytest.mark.parametrize(
    "change",
    [
        lambda document: None,
        lambda document: document.update(mediaType="application/vnd.dev.sigstore.bundle+json;version=0.3"),
        lambda document: document["dsseEnvelope"]["signatures"].clear(),
        lambda document: document["dsseEnvelope"].update(payload="bm90IGpzb24="),
    ],
)
def test_bundles_good_and_bad_are_signed_over(change: Any, model: Path, pair: Any) -> None:
    """Whatever is refused with the advice to sign again can be signed again."""
    sign(model, key=pair.private)
    damage(change)(model / "model.sig")
    (model / "config.json").write_text("[]")
    sign(model, key=pair.private)
    assert verify(model, key=pair.public).exit_code == 0
