"""Which folders Triton takes for versions, and what it makes of those that hold nothing, or nothing readable.

What Triton does was tried with the server of nvidia-pytriton 0.7.0 and its Python backend.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.checks.validate.serving.versions import taken_for
from interlock.config.settings import Contract
from interlock.report import exits
from validate.build import folder, onnx_model

CONFIG = 'name: "m"\nbackend: "onnxruntime"\n'
PINNED = CONFIG + "version_policy { specific { versions: [ 1 ] } }\n"
ALL = CONFIG + "version_policy { all {} }\n"
JUNK = b"junk"


def model(weight: float = 1.0) -> bytes:
    return onnx_model({"x": ("float", ["batch", 3])}, {"y": ("float", ["batch"])}, weight=weight)


def repository(path: Path, files: dict[str, Any], config: str = CONFIG, empty: str = "") -> Path:
    """A model `m`; without `config` it has no config.pbtxt. `empty` is a folder without files."""
    whole = {f"m/{name}": content for name, content in files.items()} | ({"m/config.pbtxt": config} if config else {})
    root = folder(path, whole)
    if empty:
        (root / "m" / empty).mkdir(parents=True)
    return root


def alone(path: Path) -> Any:
    return validate(path, contract=Contract())


def told(report: Any) -> list[str]:
    return [f"{f.level}: {f.message}" for f in report.findings if f.rule == "TRI-CFG"]


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("1", 1), ("10", 10), ("0", 0), ("2.bak", 2), ("2_old", 2), ("7days", 7),
        ("v2", None), ("02", None), ("", None), ("latest", None), ("-1", None), (".1", None), ("9" * 20, None),
    ],
)  # fmt: skip
def test_what_a_folder_is_taken_for(name: str, version: int | None) -> None:
    assert taken_for(name) == version


@pytest.mark.parametrize("name", ["v2", "02", "latest"])
def test_a_model_without_a_version_is_not_served(tmp_path: Path, name: str) -> None:
    new = repository(tmp_path / "new", {f"{name}/model.onnx": model()})
    report = alone(new)
    assert report.facts["consistent"] is False
    assert [f"ignores the folder '{name}'" in each for each in told(report)] == [True]
    old = repository(tmp_path / "old", {"1/model.onnx": model()})
    assert validate(new, old, contract=Contract()).facts["verdict"] == "breaks"


@pytest.mark.parametrize("files", [{"1/model.onnx": model()}, {"0/model.onnx": model()}, {"10/model.onnx": model()}])
@pytest.mark.parametrize("beside", ["v2", "02", "\u00b2", ".ipynb_checkpoints", ""])
def test_folders_that_triton_ignores_beside_a_version(tmp_path: Path, files: dict[str, bytes], beside: str) -> None:
    report = alone(repository(tmp_path, files, empty=beside))
    assert report.facts["verdict"] == "equal", report.findings


def test_a_folder_of_another_kind_of_digit_beside_a_version(tmp_path: Path) -> None:
    """What Python calls a digit and no number is none to Triton either; its graph is held against nothing."""
    declared = f'{CONFIG}input [{{name: "x" data_type: TYPE_FP32 dims: [2]}}]\n'
    files = {"m/config.pbtxt": declared, "m/1/model.onnx": model(), "m/\u00b2/model.onnx": model()}
    assert [finding.rule for finding in alone(folder(tmp_path, files)).findings if finding.level == "unproven"] == []


def test_a_configuration_alone_and_a_model_beside_it(tmp_path: Path) -> None:
    two = {"m/config.pbtxt": CONFIG, "n/config.pbtxt": CONFIG.replace('"m"', '"n"')}
    assert alone(folder(tmp_path / "1", two)).facts["verdict"] == "equal"
    beside = {"config.pbtxt": CONFIG, "onnx/model.onnx": model(), "model.onnx": model()}
    assert alone(folder(tmp_path / "2", beside)).facts["verdict"] == "equal"


@pytest.mark.parametrize("config", [CONFIG, "", 'name: "m"\n', 'name: "m"\nbackend: "own"\n'])
@pytest.mark.parametrize("name", ["2", "2.bak"])
def test_a_version_that_is_served_and_holds_nothing(tmp_path: Path, config: str, name: str) -> None:
    files = {"1/model.onnx": model()}
    old, new = repository(tmp_path / "old", files, config), repository(tmp_path / "new", files, config, empty=name)
    for report in (alone(new), validate(new, old, contract=Contract())):
        assert report.facts["verdict"] == "breaks", report.findings
        assert [each.startswith("breaks: ") for each in told(report)] == [True]
        assert ("the folder '2.bak'" in told(report)[0]) == (name == "2.bak")
    # The live one has it as well, and is served for all that.
    shutil.copytree(new, tmp_path / "again")
    assert validate(tmp_path / "again", new, contract=Contract()).facts["verdict"] == "equal"


@pytest.mark.parametrize(
    ("files", "empty", "config"),
    [
        ({"2/model.onnx": model()}, "1", CONFIG),  # an older one
        ({"2/model.onnx": model()}, "1", ""),
        ({"1/model.onnx": model()}, "2", PINNED),
        ({"2/model.onnx": model()}, "1.bak", CONFIG),
        ({"2/model.onnx": model()}, "2.bak", CONFIG),  # the same number
    ],
)
def test_folders_that_hold_nothing_and_are_not_served(
    tmp_path: Path, files: dict[str, bytes], empty: str, config: str
) -> None:
    old, new = repository(tmp_path / "old", files, config), repository(tmp_path / "new", files, config, empty=empty)
    assert alone(new).facts["verdict"] == "equal"
    assert validate(new, old, contract=Contract()).facts["verdict"] == "equal"


def test_an_ensemble_and_other_backends_need_no_files(tmp_path: Path) -> None:
    step = 'step { model_name: "n" input_map { key: "x" value: "a" } output_map { key: "y" value: "b" } }'
    ends = 'input { name: "a" data_type: TYPE_FP32 dims: [3] } output { name: "b" data_type: TYPE_FP32 dims: [1] }'
    ensemble = f'name: "m"\nplatform: "ensemble"\n{ends}\nensemble_scheduling {{ {step} }}\n'
    for number, config in enumerate((ensemble, 'name: "m"\nbackend: "identity"\n')):
        root = repository(tmp_path / str(number), {}, config, empty="1") / "n"
        folder(root, {"config.pbtxt": CONFIG.replace('"m"', '"n"'), "1/model.onnx": model()})
        assert alone(root.parent).facts["verdict"] == "equal"


BROKEN = {"model.onnx": JUNK, "model.safetensors": JUNK, "model.gguf": b"GGUF", "model.pt": JUNK}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("config", [CONFIG, ""])
def test_what_nobody_is_served_stops_nothing(tmp_path: Path, name: str, config: str) -> None:
    old = repository(tmp_path / "old", {"1/model.onnx": model(), "2/model.onnx": model()}, config)
    new = repository(tmp_path / "new", {f"1/{name}": BROKEN[name], "2/model.onnx": model(2.0)}, config)
    report = alone(new)
    assert report.facts["consistent"] is True, report.findings
    assert [each.startswith("hot: cannot be read") for each in told(report)] == [True]
    assert validate(new, old, contract=Contract()).facts["verdict"] == "hot"
    # nor does it in the live model
    assert validate(old, new, contract=Contract()).facts["verdict"] == "hot"
    again = repository(tmp_path / "again", {f"1/{name}": BROKEN[name], "2/model.onnx": model(2.0)}, config)
    assert validate(again, new, contract=Contract()).facts["verdict"] == "hot"


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize(("version", "config"), [(2, CONFIG), (1, PINNED), (1, ALL), (2, ALL), (2, "")])
def test_what_is_served_must_be_read(tmp_path: Path, name: str, version: int, config: str) -> None:
    files = {"1/model.onnx": model(), "2/model.onnx": model()}
    old = repository(tmp_path / "old", files, config)
    new = repository(tmp_path / "new", files | {f"{version}/{name}": BROKEN[name]}, config)
    for report in (alone(new), validate(new, old, contract=Contract())):
        assert (report.facts["verdict"], report.exit_code) == (None, exits.BAD_INPUT), report.findings


def test_a_broken_file_beside_no_version_that_serves(tmp_path: Path) -> None:
    config = CONFIG + "version_policy { specific { versions: [ 3 ] } }\n"
    assert alone(repository(tmp_path, {"1/model.onnx": JUNK}, config)).exit_code == exits.BAD_INPUT


def test_a_configuration_that_does_not_fit_an_old_version(tmp_path: Path) -> None:
    said = CONFIG + 'input [ { name: "x" data_type: TYPE_FP32 dims: [ -1, 3 ] } ]\n'
    other = onnx_model({"z": ("float", ["batch", 3])}, {"y": ("float", ["batch"])})
    fits = repository(tmp_path / "1", {"1/model.onnx": other, "2/model.onnx": model()}, said)
    assert alone(fits).facts["verdict"] == "equal"
    pinned = said + "version_policy { specific { versions: [ 1 ] } }\n"
    misfits = repository(tmp_path / "2", {"1/model.onnx": other, "2/model.onnx": model()}, pinned)
    assert alone(misfits).facts["verdict"] == "restart"


def test_the_next_version_after_zero(tmp_path: Path) -> None:
    old = repository(tmp_path / "old", {"0/model.onnx": model()})
    new = repository(tmp_path / "new", {"1/model.onnx": model(2.0)})
    assert validate(new, old, contract=Contract()).facts["verdict"] == "hot"
