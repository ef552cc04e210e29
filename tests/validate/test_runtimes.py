"""The table of ONNX Runtime releases, checked by loading models at and above its limits into old and new releases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import pytest
from interlock.checks.validate.graph.runtimes import RELEASES, floor, parse, show
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.report import exits
from validate.build import onnx_model

# Prints, for each (ir, opset, ml), whether the runtime loads an Identity graph of these versions.
PROBE = r"""
import json, sys
import onnxruntime

def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])

def message(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload

def number(field, value):
    return varint(field << 3) + varint(value)

def value(name):
    return message(1, name) + message(2, message(1, number(1, 1) + message(2, message(1, number(1, 1)))))

def loads(ir, opset, ml):
    node = message(1, b"x") + message(2, b"y") + message(4, b"Identity")
    graph = message(1, node) + message(2, b"g") + message(11, value(b"x")) + message(12, value(b"y"))
    model = number(1, ir) + message(7, graph) + message(8, number(2, opset))
    if ml:
        model += message(8, message(1, b"ai.onnx.ml") + number(2, ml))
    try:
        onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    except Exception:
        return False
    return True

onnxruntime.set_default_logger_severity(4)
print(json.dumps([onnxruntime.__version__, [loads(*case) for case in json.loads(sys.argv[1])]]))
"""


def cases(release: tuple[int, int]) -> tuple[list[tuple[int, int, int]], list[bool]]:
    """Models at the limits of a release, which load, and one above each, which do not."""
    ir, opset, ml = RELEASES[max(each for each in RELEASES if each <= release)]
    return [(ir, 13, 0), (ir + 1, 13, 0), (8, opset, 0), (8, opset + 1, 0), (8, 13, ml), (8, 13, ml + 1)], [
        True,
        False,
    ] * 3


def ask(release: tuple[int, int], path: str = "") -> None:
    models, wanted = cases(release)
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-c", PROBE, json.dumps(models)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=120)
    version, got = json.loads(done.stdout.strip().splitlines()[-1])
    assert parse(version) == release
    assert dict(zip(models, got, strict=True)) == dict(zip(models, wanted, strict=True))


def installed() -> tuple[int, int]:
    runtime = pytest.importorskip("onnxruntime")
    version = parse(runtime.__version__)
    assert version is not None
    return version


def test_the_installed_release_is_as_the_table_says() -> None:
    release = installed()
    if release > max(RELEASES):
        pytest.skip(f"onnxruntime {release} is newer than the table")
    ask(release)


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="onnxruntime 1.16 has no wheels for this Python")
@pytest.mark.parametrize("version", ["1.16.3", "1.18.1"])
def test_old_releases_are_as_the_table_says(version: str, root: Path, require: NoReturn) -> None:
    folder = root / ".cache" / f"onnxruntime-{version}"
    if not folder.is_dir():
        draft = folder.with_suffix(f".{os.getpid()}")
        packages = [
            f"onnxruntime=={version}",
            "numpy<2",
            "protobuf<6",
            "packaging",
            "flatbuffers",
            "coloredlogs",
            "sympy",
        ]
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(draft), *packages]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            require(f"onnxruntime {version}", done.stderr.strip()[-200:])
        try:
            draft.rename(folder)
        except OSError:
            assert folder.is_dir()
    release = parse(version)
    assert release is not None
    ask(release, str(folder))


def test_floors() -> None:
    assert floor("ir", 9) == (1, 15)
    assert floor("ir", 10) == (1, 18)
    assert floor("opset", 20) == (1, 17)
    assert floor("ml", 5) == (1, 18)
    assert floor("ir", 99) is None
    assert show(floor("ir", 10)) == ">= 1.18"
    assert show(None) == "newer than any known release"


def test_the_table_only_grows() -> None:
    releases = sorted(RELEASES)
    for a, b in pairwise(releases):
        assert all(x <= y for x, y in zip(RELEASES[a], RELEASES[b], strict=True))


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("1.18", (1, 18)),
        (">=1.18.0", (1, 18)),
        ("v1.20.1", (1, 20)),
        ("1.24.0rc1", (1, 24)),
        ("latest", None),
        ("", None),
    ],
)
def test_versions(text: str, release: tuple[int, int] | None) -> None:
    assert parse(text) == release


@pytest.mark.parametrize(("ir", "opset", "rule"), [(99, 16, "ONX-IR"), (8, 99, "ONX-OPSET")])
def test_alone_a_model_needs_a_release_that_there_is(ir: int, opset: int, rule: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx_model({"x": ("float", [2])}, {"y": ("float", [2])}, ir=ir, opset=opset))
    report = validate(path, contract=Contract())
    (finding,) = report.findings
    assert (finding.rule, finding.level) == (rule, "restart")
    assert "newer than any known release" in finding.message
    assert report.exit_code == exits.REFUSED
    newest = max(RELEASES.values())
    path.write_bytes(onnx_model({"x": ("float", [2])}, {"y": ("float", [2])}, ir=newest.ir, opset=newest.opset))
    assert validate(path, contract=Contract()).findings == []


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ((9, 20), (10, 18), "restart"),  # opset 20 came with 1.17, IR 10 with 1.18
        ((9, 21), (10, 18), "hot"),
        ((10, 18), (9, 21), "hot"),
        ((10, 18), (9, 22), "restart"),
        ((10, 18), (10, 99), "restart"),
    ],
)
def test_whatever_old_needs_is_known_to_serve(
    old: tuple[int, int], new: tuple[int, int], verdict: str, tmp_path: Path
) -> None:
    """A runtime that loads OLD's operator sets loads every IR version of its day, and the other way round."""
    for side, (ir, opset) in (("old", old), ("new", new)):
        io = {"x": ("float", [2])}, {"y": ("float", [2])}
        (tmp_path / f"{side}.onnx").write_bytes(onnx_model(*io, ir=ir, opset=opset, weight=len(side + str(ir))))
    report = validate(tmp_path / "new.onnx", tmp_path / "old.onnx", contract=Contract())
    assert report.facts["verdict"] == verdict, [finding.message for finding in report.findings]
