"""Private copies, receipts, Hugging Face snapshots, tensor digests, and the commands that only look."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from blake3 import blake3
from interlock.models.errors import UnreadableModel
from interlock.report.errors import BadInput, Refused
from interlock.signing.look import digest, inspect
from interlock.signing.manifest import root_digest
from interlock.signing.run import sign, verify
from interlock.signing.statement import TENSORS
from interlock.signing.verify import find_signature
from safetensors.numpy import save_file


def codes(report: Any) -> list[str]:
    return sorted(finding.rule for finding in report.findings)


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


# Private copies


@pytest.mark.parametrize("beside", [False, True])
def test_into_a_new_directory(beside: bool, pair: Any, model: Path, tmp_path: Path) -> None:
    output = tmp_path / "elsewhere.sig" if beside else None
    sign(model, key=pair.private, output=output)
    into = tmp_path / "live"
    report = verify(model, key=pair.public, signature=output, into=into)
    assert report.exit_code == 0
    assert report.facts["into"] == str(into)
    assert names(into) == sorted({*names(model), "model.sig"})
    assert all(not path.stat().st_mode & 0o222 for path in into.rglob("*") if path.is_file())
    assert verify(into, key=pair.public).exit_code == 0
    # The copy is its own: a later change of the source is none of it.
    (model / "config.json").write_text("[]")
    assert verify(into, key=pair.public).exit_code == 0


@pytest.mark.parametrize("change", ["changed", "extra", "link", "pipe", "stranger"])
def test_nothing_appears_unless_it_passes(change: str, pairs: Any, model: Path, tmp_path: Path) -> None:
    sign(model, key=pairs["P-256"].private)
    key = pairs["P-256"].public
    expected = {"changed": "VER-CHANGED", "extra": "VER-EXTRA", "link": "VER-SYMLINK", "pipe": "VER-SPECIAL-FILE"}
    if change == "changed":
        (model / "config.json").write_text("[]")
    elif change == "extra":
        (model / "new.py").touch()
    elif change == "link":
        (model / "link").symlink_to("config.json")
    elif change == "pipe":
        os.mkfifo(model / "pipe")
    else:
        key = pairs["stranger"].public
    before = sorted(tmp_path.iterdir())
    report = verify(model, key=key, into=tmp_path / "live")
    assert codes(report) == [expected.get(change, "VER-KEY")]
    assert sorted(tmp_path.iterdir()) == before
    assert all(str(model) in f.where.path for f in report.findings if f.where)


def test_into_places_that_do_not_work(pair: Any, model: Path, tmp_path: Path) -> None:
    sign(model, key=pair.private)
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "x").touch()
    (tmp_path / "link").symlink_to(taken)
    for target in (taken, tmp_path / "link", tmp_path / "no" / "such", taken / "x"):
        with pytest.raises(BadInput):
            verify(model, key=pair.public, into=target)
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []
    (taken / "x").unlink()
    assert verify(model, key=pair.public, into=taken).exit_code == 0


# Receipts


def test_receipt_spares_hashing_until_anything_changes(pairs: Any, model: Path, tmp_path: Path) -> None:
    pair, own = pairs["P-256"], pairs["P-384"]
    sign(model, key=pair.private)
    receipt = tmp_path / "receipt"

    def again(**options: Any) -> Any:
        given = {"key": pair.public, "receipt": receipt, "receipt_key": own.private, **options}
        report = verify(model, **given)
        assert report.exit_code == 0, report.findings
        return report.facts

    assert again()["by_receipt"] is False
    facts = again()
    assert (facts["by_receipt"], facts["hashed_with"], facts["bytes"]) == (True, {}, 0)
    assert receipt.stat().st_mode & 0o777 == 0o600
    # Other digests are asked for than the receipt's.
    assert again(strict_sha256=True)["by_receipt"] is False
    assert again(strict_sha256=True)["by_receipt"] is True
    # Touched, so hashed again.
    os.utime(model / "config.json")
    assert again()["by_receipt"] is False
    # Another bundle over the same files.
    sign(model, key=pair.private)
    assert again()["by_receipt"] is False
    # A receipt of another machine and a damaged one count for nothing, and are replaced.
    assert again(receipt_key=pairs["P-521"].private)["by_receipt"] is False
    for text in (
        receipt.read_bytes()[:-20],
        receipt.read_bytes().replace(b'"sig": "M', b'"sig": "N'),
    ):
        receipt.write_bytes(text)
        assert again()["by_receipt"] is False
        assert again()["by_receipt"] is True


def test_receipt_does_not_hide_a_change(pairs: Any, model: Path, tmp_path: Path) -> None:
    sign(model, key=pairs["P-256"].private)
    options: Any = {"receipt": tmp_path / "r", "receipt_key": pairs["P-384"].private}
    assert verify(model, key=pairs["P-256"].public, **options).exit_code == 0
    before = (tmp_path / "r").read_bytes()
    # Signer and policy are judged anew each time.
    assert codes(verify(model, key=pairs["stranger"].public, **options)) == ["VER-KEY"]
    data = bytearray((model / "weights.safetensors").read_bytes())
    data[0] ^= 1
    status = (model / "weights.safetensors").stat()
    with (model / "weights.safetensors").open("r+b") as stream:
        stream.write(data)
    os.utime(model / "weights.safetensors", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert codes(verify(model, key=pairs["P-256"].public, **options)) == ["VER-CHANGED"]
    assert (tmp_path / "r").read_bytes() == before
    (model / "extra").touch()
    assert codes(verify(model, key=pairs["P-256"].public, **options)) == ["VER-CHANGED", "VER-EXTRA"]


@pytest.mark.parametrize("name", ["model/config.json", "model/empty.txt", "model/model.sig", "m.key", "m.pub"])
def test_receipt_takes_the_place_of_nothing_else(
    name: str, pair: Any, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sign(model, key=pair.private)
    sign(None, generate="m")
    before = Path(name).read_bytes()
    with pytest.raises(BadInput, match="no receipt"):
        verify(model, key=pair.public, receipt=name, receipt_key="m.key")
    assert Path(name).read_bytes() == before


def test_receipts_that_cannot_be(pair: Any, model: Path, tmp_path: Path) -> None:
    sign(model, key=pair.private)
    with pytest.raises(BadInput, match="receipt-key"):
        verify(model, key=pair.public, receipt=tmp_path / "r")
    with pytest.raises(BadInput, match="no receipt"):
        verify(model, key=pair.public, receipt=tmp_path, receipt_key=pair.private)
    with pytest.raises(BadInput, match="which no receipt knows"):
        verify(model, key=pair.public, receipt=tmp_path / "r", receipt_key=pair.private, into=tmp_path / "x")


# Hugging Face cache


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """A snapshot as huggingface_hub lays it out."""
    repository = tmp_path / "models--acme--tiny"
    root = repository / "snapshots" / ("a" * 40)
    (root / "onnx").mkdir(parents=True)
    (repository / "blobs").mkdir()
    for name, blob, data in (
        ("config.json", "b" * 40, b"{}"),
        ("model.safetensors", "c" * 64, b"weights"),
        ("onnx/model.bin", "d" * 64, b"graph"),
    ):
        (repository / "blobs" / blob).write_bytes(data)
        (root / name).symlink_to("../" * (2 + name.count("/")) + f"blobs/{blob}")
    return root


def test_snapshot_is_read_as_files(snapshot: Path, pair: Any, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="VER-SYMLINK"):
        sign(snapshot, key=pair.private, output=tmp_path / "s.sig")
    sign(snapshot, key=pair.private, output=tmp_path / "s.sig", resolve="hf-cache")
    judged: Any = {"key": pair.public, "signature": tmp_path / "s.sig"}
    assert verify(snapshot, **judged, resolve="hf-cache").exit_code == 0
    assert codes(verify(snapshot, **judged)) == ["VER-SYMLINK"] * 3
    report = verify(snapshot, **judged, resolve="hf-cache", into=tmp_path / "plain")
    assert report.exit_code == 0
    assert not any(path.is_symlink() for path in (tmp_path / "plain").rglob("*"))
    assert verify(tmp_path / "plain", key=pair.public).exit_code == 0
    assert digest(snapshot, resolve="hf-cache").facts["root_digest"] == root_digest(tmp_path / "plain")
    (snapshot.parent.parent / "blobs" / ("c" * 64)).write_bytes(b"evil")
    assert codes(verify(snapshot, **judged, resolve="hf-cache")) == ["VER-CHANGED"]


def test_other_links_stay_links(snapshot: Path, pair: Any, tmp_path: Path) -> None:
    sign(snapshot, key=pair.private, output=tmp_path / "s.sig", resolve="hf-cache")
    blobs = snapshot.parent.parent / "blobs"
    (blobs / ("e" * 40)).symlink_to("/etc/hostname")
    (blobs / ("f" * 40)).mkdir()
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / ("b" * 40)).write_bytes(b"{}")
    for target in (
        f"../../blobs/{'e' * 40}",
        f"../../blobs/{'f' * 40}",
        f"../../blobs/{'0' * 40}",
        f"../../../blobs/{'b' * 40}",
        f"../../blobs/../blobs/{'b' * 40}",
        str(blobs / ("b" * 40)),
        "config.json",
        "../../blobs",
        f"../../blobs/{'b' * 40}\n",
    ):
        (snapshot / "link").symlink_to(target)
        report = verify(snapshot, key=pair.public, signature=tmp_path / "s.sig", resolve="hf-cache")
        assert codes(report) == ["VER-SYMLINK"], target
        (snapshot / "link").unlink()
    with pytest.raises(BadInput, match="no snapshot"):
        verify(tmp_path, key=pair.public, signature=tmp_path / "s.sig", resolve="hf-cache")


# Tensor digests


def test_tensor_digests(pair: Any, model: Path, reference: Any) -> None:
    tensors = {"a": np.arange(6, dtype=np.float32), "b.c": np.ones((2, 3), np.float16)}
    save_file(tensors, model / "weights.safetensors")
    sign(model, key=pair.private, tensor_digests=True)
    assert verify(model, key=pair.public).exit_code == 0
    verdict = reference("verify", "key", model, "--signature", model / "model.sig", "--public_key", pair.public)
    assert verdict.code == 0, verdict.text
    import base64

    payload = json.loads(base64.b64decode(json.loads((model / "model.sig").read_text())["dsseEnvelope"]["payload"]))
    entry = next(e for e in payload["predicate"]["resources"] if e["name"] == "weights.safetensors")
    assert entry["annotations"][TENSORS] == {k: blake3(v.tobytes()).hexdigest() for k, v in tensors.items()}
    (model / "weights.safetensors").write_bytes(b"not safetensors")
    with pytest.raises(UnreadableModel):
        sign(model, key=pair.private, tensor_digests=True)


# Looking


def test_digest_names_what_sign_signs(pair: Any, model: Path) -> None:
    report = digest(model)
    assert report.facts["root_digest"] == sign(model, key=pair.private).facts["root_digest"] == root_digest(model)
    assert digest(model).facts["files"] == report.facts["files"]
    assert report.facts["files"]["a-b.bin"]["blake3"] == blake3(b"dash").hexdigest()
    assert digest(model, ignore=["a"]).facts["root_digest"] != report.facts["root_digest"]


def test_inspect_tells_claims_and_vouches_for_none(pair: Any, model: Path) -> None:
    sign(model, key=pair.private, name="tiny", version="1.0")
    (model / "config.json").write_text("changed")
    for path in (model, model / "model.sig"):
        report = inspect(path)
        assert report.exit_code == 0
        assert report.facts["verified"] is False
        assert (report.facts["mode"], report.facts["name"], report.facts["version"]) == ("key", "tiny", "1.0")
        assert len(report.facts["files"]) == report.facts["side_digests"] == 5
        assert "not verified" in report.headline
    for bad in (model / "config.json", model / "a", model / "none"):
        with pytest.raises(BadInput):
            inspect(bad)


def test_where_signatures_are_looked_for(pair: Any, model: Path, tmp_path: Path) -> None:
    from interlock.signing.tree import Tree

    sign(model, key=pair.private, output=tmp_path / "model.sig")
    assert find_signature(Tree(model)) == str(tmp_path / "model.sig")
    assert verify(model, key=pair.public).exit_code == 0
    file = tmp_path / "m.gguf"
    file.write_bytes(b"x")
    sign(file, key=pair.private)
    assert verify(file, key=pair.public).facts["signature"] == str(tmp_path / "m.gguf.sig")
