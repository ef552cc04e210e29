"""Pickles are not read, but a piece of one is told, and alone they never pass."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.report import exits
from validate.build import folder, llama, llama_tensors, safetensors

VALUE = {"weight": list(range(3000)), "name": "x" * 500, "bytes": b"\x00" * 4000}


def archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as out:
        out.writestr("archive/data.pkl", pickle.dumps(VALUE))
        out.writestr("archive/data/0", b"\x00" * 4096)
    return stream.getvalue()


WHOLE = {f"{protocol}.pkl": pickle.dumps(VALUE, protocol) for protocol in range(6)} | {"z.pt": archive()}
WHOLE["big.pkl"] = pickle.dumps([VALUE, b"\x01" * 300_000], 4)
WHOLE["legacy.pth"] = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2) + b"\x00" * 64
WHOLE["arrays.pkl"] = pickle.dumps({"by": "joblib.numpy_pickle"}, 4)[:-1] + b"\xff\xfe" * 50 + b"."


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_pickle_alone_is_not_proven(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(WHOLE[name])
    report = validate(tmp_path / name, contract=Contract())
    assert (report.facts["verdict"], report.exit_code) == ("unproven", exits.REFUSED), report.findings


BROKEN = {
    "zip.pt": b"PK\x03\x04",
    "half.pt": archive()[:3000],
    "moved.pt": b"PK\x03\x04" + archive()[104:],
    "frame.pkl": b"\x80\x04\x95.",
    "half.pkl": pickle.dumps(VALUE)[:900],
    "most.pkl": pickle.dumps([VALUE, b"\x01" * 300_000], 4)[:200_000],
    "two.pkl": b"\x80\x03",
    "text.pt": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n",
    "empty.pth": b"",
    "zip.bin": b"PK\x03\x04" + bytes(100),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_piece_of_one_is_never_consistent(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(BROKEN[name])
    report = validate(tmp_path / name, contract=Contract())
    assert report.exit_code == exits.BAD_INPUT
    beside = {"config.json": llama(), "model.safetensors": safetensors(llama_tensors())}
    new, old = folder(tmp_path / "new", beside | {name: BROKEN[name]}), folder(tmp_path / "old", beside)
    assert validate(new, old, contract=Contract()).exit_code == exits.BAD_INPUT


def test_what_only_ends_in_bin_may_be_anything(tmp_path: Path) -> None:
    beside = {"config.json": llama(), "model.safetensors": safetensors(llama_tensors()), "w.bin": b"weights"}
    report = validate(folder(tmp_path, beside), contract=Contract())
    assert report.facts["verdict"] == "equal", report.findings
