"""Pickles are not read, but a piece of one is told, and alone they never pass."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import zipfile
import zlib
from pathlib import Path

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.report import exits
from interlock.report.errors import NothingToCheck
from validate.build import folder, llama, llama_tensors, safetensors

VALUE = {"weight": list(range(3000)), "name": "x" * 500, "bytes": b"\x00" * 4000}


def archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as out:
        out.writestr("archive/data.pkl", pickle.dumps(VALUE))
        out.writestr("archive/data/0", b"\x00" * 4096)
    return stream.getvalue()


WHOLE = {f"{protocol}.pkl": pickle.dumps(VALUE, protocol) for protocol in range(6)} | {"z.pt": archive()}
WHOLE |= {"m.joblib": WHOLE["4.pkl"], "m.pickle": WHOLE["2.pkl"], "m.dill": WHOLE["5.pkl"]}
WHOLE |= {f"{each.__name__}.joblib": each.compress(WHOLE["4.pkl"]) for each in (bz2, gzip, lzma, zlib)}
WHOLE["alone.joblib"] = lzma.compress(WHOLE["4.pkl"], lzma.FORMAT_ALONE)
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
    "half.joblib": pickle.dumps(VALUE)[:900],
    "text.joblib": b"<html>not found</html>",
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


@pytest.mark.parametrize("name", ["w.bin", "m.joblib", "m.pt"])
def test_an_empty_file_is_told_to_be_empty(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    report = validate(tmp_path / name, contract=Contract())
    assert report.exit_code == exits.BAD_INPUT
    assert [(f.rule, "is empty" in f.message) for f in report.findings] == [("FIL-TRUNC", True)]
    old = folder(tmp_path / "old", {name: WHOLE["4.pkl"]})
    new = folder(tmp_path / "new", {name: b""})
    assert validate(new, old, contract=Contract()).exit_code == exits.BAD_INPUT
    assert validate(old, new, contract=Contract()).facts["verdict"] != "hot"


def test_a_file_that_ends_in_bin_is_called_what_it_is(tmp_path: Path) -> None:
    for name, content, says in (("p.bin", WHOLE["4.pkl"], "is a pickle"), ("w.bin", b"weights", "no format")):
        (tmp_path / name).write_bytes(content)
        report = validate(tmp_path / name, contract=Contract())
        assert [says in f.message for f in report.findings] == [True]
        assert report.facts["verdict"] == "unproven"


def test_a_joblib_is_judged_as_a_pickle(tmp_path: Path) -> None:
    old = folder(tmp_path / "old", {"model.joblib": WHOLE["4.pkl"]})
    new = folder(tmp_path / "new", {"model.joblib": WHOLE["5.pkl"]})
    assert validate(new, old, contract=Contract()).facts["verdict"] == "unproven"
    same = folder(tmp_path / "same", {"model.joblib": WHOLE["4.pkl"]})
    assert validate(same, old, contract=Contract()).facts["verdict"] == "equal"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("model.npz", "NumPy"),
        ("model.h5", "Keras"),
        ("model.keras", "Keras"),
        ("model.tflite", "TensorFlow Lite"),
        ("model.mlmodel", "Core ML"),
        ("model.xml", "OpenVINO"),
    ],
)
def test_a_format_that_is_not_read_is_named(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / name).write_bytes(b"anything")
    for model in (tmp_path, tmp_path / name):
        with pytest.raises(NothingToCheck, match=f"'{name}' is a file of {says}") as caught:
            validate(model, contract=Contract())
        assert "safetensors" in (caught.value.hint or "")


def test_what_only_ends_in_bin_may_be_anything(tmp_path: Path) -> None:
    beside = {"config.json": llama(), "model.safetensors": safetensors(llama_tensors()), "w.bin": b"weights"}
    report = validate(folder(tmp_path, beside), contract=Contract())
    assert report.facts["verdict"] == "equal", report.findings
