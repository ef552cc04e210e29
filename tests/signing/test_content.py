"""What signed content can do: pickles against the standard library's own reader, code, graphs, archives."""

from __future__ import annotations

import collections
import datetime
import io
import json
import os
import pickle
import pickletools
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interlock.config.settings import Trust
from interlock.models.source import MemorySource
from interlock.report.errors import BadInput
from interlock.signing.content.opcodes import walk
from interlock.signing.run import sign, verify
from onnx import TensorProto, helper


def judge(model: Path, pair: Any, **options: Any) -> Any:
    sign(model, key=pair.private)
    return verify(model, key=pair.public, **options)


def rules(report: Any) -> list[tuple[str, str]]:
    return sorted((f.rule, f.severity.value) for f in report.findings)


class Runs:
    """Runs a command when unpickled."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.call = (function, args)

    def __reduce__(self) -> Any:
        return self.call


PLAIN = [
    None,
    {"a": [1, 2.5, "x", b"y", True, (1,), {2}, frozenset([3])]},
    collections.OrderedDict(a=1),
    datetime.datetime(2026, 1, 1),
    {"big": os.urandom(300_000)},
]


@pytest.mark.parametrize("protocol", range(6))
def test_plain_pickles(protocol: int) -> None:
    for value in PLAIN:
        data = pickle.dumps(value, protocol)
        found = walk(MemorySource(data, "x"))
        assert found.end == len(data)
        assert not any("?" in name for name in found.imports)


@pytest.mark.parametrize(
    ("suffix", "protocol"),
    # .bin and .ckpt count as pickles by their first bytes, which protocols 0 and 1 lack.
    [(s, p) for s in (".pkl", ".pt") for p in range(6)] + [(s, p) for s in (".bin", ".ckpt") for p in range(2, 6)],
)
def test_pickles_that_run_something(protocol: int, suffix: str, pair: Any, model: Path) -> None:
    (model / f"x{suffix}").write_bytes(pickle.dumps([1, Runs(os.system, "true")], protocol))
    report = judge(model, pair)
    assert rules(report) == [("VER-PICKLE-IMPORT", "error")]
    assert "system" in report.findings[0].message
    assert report.exit_code == 1
    report = verify(model, key=pair.public, allow=[f"VER-PICKLE-IMPORT=x{suffix}"])
    assert report.exit_code == 0
    assert report.facts["allowed"] == [f"VER-PICKLE-IMPORT=x{suffix}"]


HIDDEN = {
    "strings pushed before other things": b"\x80\x04\x8c\x02os\x8c\x06system\x8c\x01x0\x93\x8c\x04true\x85R.",
    "strings from the memo": b"\x80\x04\x8c\x02os\x94\x8c\x06system\x940h\x00h\x01\x93\x8c\x04true\x85R.",
    "module behind a decoy": b"\x80\x04\x8c\x02os\x8c\x06system\x8c\x0bcollections\x8c\x0bOrderedDict00"
    b"\x93\x8c\x04true\x85R.",
    "name made by a call": b"\x80\x04\x8c\x02os\x8c\x08builtins\x8c\x03str\x93\x8c\x06system\x85R"
    b"\x93\x8c\x04true\x85R.",
    "extension registry": b"\x80\x02\x82\x01X\x04\x00\x00\x00true\x85R.",
    "old INST": b"(S'true'\nios\nsystem\n.",
    "duplicate on the stack": b"\x80\x04\x8c\x02os2\x8c\x06system\x93\x8c\x04true\x85R.",
    "text protocol": b"cos\nsystem\n(S'true'\ntR.",
}


@pytest.mark.parametrize("how", HIDDEN)
def test_hidden_imports(how: str, pair: Any, model: Path) -> None:
    (model / "x.pkl").write_bytes(HIDDEN[how])
    report = judge(model, pair)
    assert rules(report) == [("VER-PICKLE-IMPORT", "error")], report.findings


def test_pickles_in_other_files(pair: Any, model: Path) -> None:
    evil = pickle.dumps(Runs(os.system, "true"))
    with zipfile.ZipFile(model / "torch.pt", "w") as archive:
        archive.writestr("archive/data.pkl", evil)
        archive.writestr("archive/data/0", b"\0" * 1000)
    (model / "old.pth").write_bytes(pickle.dumps(1) + pickle.dumps(1001) + evil + pickle.dumps(["0"]) + b"raw")
    np.save(model / "objects.npy", np.array([Runs(os.system, "true")], dtype=object), allow_pickle=True)
    report = judge(model, pair)
    assert rules(report) == [("VER-PICKLE-IMPORT", "error")] * 3


def test_plain_and_unknown_and_broken(pair: Any, model: Path) -> None:
    (model / "plain.pkl").write_bytes(pickle.dumps(PLAIN))
    assert rules(report := judge(model, pair)) == [("VER-PICKLE", "info")]
    assert report.exit_code == 0
    (model / "mine.pkl").write_bytes(b"\x80\x02cmypackage\nModel\n.")
    (model / "cut.pt").write_bytes(pickle.dumps(PLAIN)[:-200])
    (model / "zip.pt").write_bytes(b"PK\x03\x04" + os.urandom(100))
    (model / "weights.bin").write_bytes(os.urandom(1000).replace(b"\x80", b"x"))
    np.save(model / "numbers.npy", np.arange(5))
    report = judge(model, pair)
    assert rules(report) == [("VER-PICKLE", "info")] + [("VER-PICKLE-IMPORT", "warning")] * 3
    assert report.exit_code == 1
    calm = Trust(keys=[str(pair.public)], content={"VER-PICKLE-IMPORT": "info", "VER-PICKLE": "off"})
    report = verify(model, trust=calm)
    assert (report.exit_code, rules(report)) == (0, [("VER-PICKLE-IMPORT", "info")] * 3)
    with pytest.raises(BadInput, match="no content reason"):
        verify(model, trust=Trust(keys=[str(pair.public)], content={"VER-KEY": "off"}))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner) | st.sets(st.integers())
    ),
)


@settings(max_examples=150, deadline=None)
@given(values, st.integers(0, 5))
def test_walk_ends_where_the_standard_library_does(value: Any, protocol: int) -> None:
    data = pickle.dumps(value, protocol)
    *_, last = pickletools.genops(data)
    assert walk(MemorySource(data + b"more", "x")).end == (last[2] or 0) + 1


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_walk_survives_anything(data: bytes) -> None:
    """No exception, and no import missed that the standard library sees before it gives up."""
    found = walk(MemorySource(data, "x"))
    seen: set[str] = set()
    try:
        for op, argument, _ in pickletools.genops(data):
            if op.name in ("GLOBAL", "INST"):
                seen.add(str(argument).replace(" ", "."))
    except (ValueError, EOFError, IndexError, UnicodeError):
        pass
    assert len(found.imports) >= bool(seen)


def test_remote_code(pair: Any, model: Path) -> None:
    (model / "config.json").write_text(json.dumps({"auto_map": {"AutoModel": "modeling_x.XModel"}}))
    (model / "modeling_x.py").write_text("import os")
    report = judge(model, pair)
    assert rules(report) == [("VER-REMOTE-CODE", "info"), ("VER-REMOTE-CODE", "warning")]
    assert report.exit_code == 1
    assert verify(model, key=pair.public, allow=["VER-REMOTE-CODE=config.json"]).exit_code == 0


def graph(domain: str = "", location: str = "") -> onnx.ModelProto:
    weight = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    if location:
        weight.ClearField("float_data")
        weight.data_location = TensorProto.EXTERNAL
        for key, value in (("location", location), ("offset", "0"), ("length", "4")):
            weight.external_data.add(key=key, value=value)
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1]) for n in "xy")
    node = helper.make_node("Add", ["x", "w"], ["y"], domain=domain)
    return helper.make_model(helper.make_graph([node], "g", [x], [y], [weight]))


def test_graphs(pair: Any, model: Path) -> None:
    (model / "weights.data").write_bytes(b"\0\0\0\0")
    (model / "good.onnx").write_bytes(graph(location="weights.data").SerializeToString())
    assert rules(judge(model, pair)) == []
    for location in ("../weights.data", "/etc/passwd", "a/../../x", "missing.data"):
        (model / "bad.onnx").write_bytes(graph(location=location).SerializeToString())
        assert rules(judge(model, pair)) == [("VER-EXTERNAL-DATA", "error")], location
    (model / "bad.onnx").write_bytes(graph(domain="com.evil").SerializeToString())
    assert rules(judge(model, pair)) == [("VER-CUSTOM-OP", "warning")]
    (model / "bad.onnx").write_bytes(b"\xff" * 100)
    assert rules(judge(model, pair)) == [("VER-EXTERNAL-DATA", "warning")]


def test_keras(pair: Any, model: Path) -> None:
    def keras(config: Any) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("config.json", json.dumps(config))
        return buffer.getvalue()

    layer = {"class_name": "Lambda", "config": {"function": {"class_name": "__lambda__", "config": {"code": "…"}}}}
    (model / "a.keras").write_bytes(keras({"layers": [{"class_name": "Dense"}]}))
    assert rules(judge(model, pair)) == []
    (model / "a.keras").write_bytes(keras({"layers": [{"class_name": "Dense"}, layer]}))
    assert rules(judge(model, pair)) == [("VER-CUSTOM-OP", "error")]
    (model / "a.keras").write_bytes(b"PK\x03\x04garbage")
    (model / "b.h5").write_bytes(b"\x89HDF" + b"\0" * 70_000 + b'{"class_name": "Lambda", "config"')
    assert rules(judge(model, pair)) == [("VER-CUSTOM-OP", "error")] * 2


def test_archives_are_named(pair: Any, model: Path) -> None:
    (model / "extra.tar.gz").write_bytes(b"\x1f\x8b")
    report = judge(model, pair)
    assert (rules(report), report.exit_code) == ([("VER-ARCHIVE", "info")], 0)


def test_nothing_unsigned_is_parsed(pair: Any, model: Path) -> None:
    """A file that is not as signed is reported as such, and its content is left alone."""
    (model / "x.pkl").write_bytes(pickle.dumps(1))
    sign(model, key=pair.private)
    (model / "x.pkl").write_bytes(pickle.dumps(Runs(os.system, "true")))
    assert [f.rule for f in verify(model, key=pair.public).findings] == ["VER-CHANGED"]
