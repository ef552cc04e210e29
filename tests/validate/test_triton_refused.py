"""Configurations that Triton refuses in themselves, and ensembles that do not fit the models they call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.build import folder
from validate.triton_cases import REFUSED, START, TAKEN, config, controls

CODE = "def execute(): ..."


def told(path: Path, files: dict[str, Any]) -> list[str]:
    report = validate(folder(path, files), contract=Contract())
    return [f"{each.level}: {each.message}" for each in report.findings if each.rule == "TRI-CFG"]


@pytest.mark.parametrize("name", REFUSED)
def test_configurations_that_triton_refuses(tmp_path: Path, name: str) -> None:
    text, says = REFUSED[name]
    files = {"m/config.pbtxt": text, "m/1/model.py": CODE}
    assert any(each.startswith("breaks") and says in each for each in told(tmp_path / "1", files))
    # What serves now in spite of it is no reason against the next version.
    again = folder(tmp_path / "2", files), folder(tmp_path / "3", {**files, "m/README.md": "x"})
    assert validate(again[1], again[0], contract=Contract()).facts["verdict"] == "hot"
    right = folder(tmp_path / "4", {"m/config.pbtxt": config(), "m/1/model.py": CODE})
    assert validate(again[0], right, contract=Contract()).facts["verdict"] == "breaks"


@pytest.mark.parametrize("name", TAKEN)
def test_configurations_that_triton_takes(tmp_path: Path, name: str) -> None:
    assert not told(tmp_path, {"m/config.pbtxt": TAKEN[name], "m/1/model.py": CODE})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (config().replace("python", "onnxruntime").replace("data_type: TYPE_FP32, ", ""), "'X' has no data_type"),
        (config("").replace("python", "onnxruntime"), "'X' has no dims"),
        (config(more="dynamic_batching { preferred_batch_size: 16 }").replace("python", "x"), "over max_batch_size, 8"),
        (controls(START, more="oldest { preferred_batch_size: 9 }").replace("python", "x"), "over max_batch_size, 8"),
    ],
)
def test_what_other_backends_do_not_complete(tmp_path: Path, text: str, says: str) -> None:
    found = told(tmp_path, {"m/config.pbtxt": text})
    assert any(says in each for each in found), found


def test_what_backends_complete(tmp_path: Path) -> None:
    for number, text in enumerate(
        (
            config("").replace("python", "tensorrt"),
            'backend: "onnxruntime" max_batch_size: 0 dynamic_batching { preferred_batch_size: 4 }',
        )
    ):
        assert not told(tmp_path / str(number), {"m/config.pbtxt": text})


STEP = (
    '{{ model_name: "{0}" model_version: -1 input_map {{ key: "{1}" value: "{2}" }} '
    'output_map {{ key: "{3}" value: "{4}" }} }}'
)
Z = 'name: "Z" data_type: TYPE_FP32 dims: [1]'


def chain(
    *steps: str, batch: int = 8, head: str = 'platform: "ensemble"', more: str = "", dims: str = "2"
) -> dict[str, Any]:
    text = (
        f'name: "chain" {head} max_batch_size: {batch} input [{{name: "IN" data_type: TYPE_FP32 dims: [{dims}]}}]\n'
        f'output [{{name: "OUT" data_type: TYPE_FP32 dims: [{dims}]}}]\n{more}\n'
        f"ensemble_scheduling {{ step [{', '.join(steps)}] }}\n"
    )
    return {"chain/config.pbtxt": text, "chain/1/.keep": "", "m/config.pbtxt": config(), "m/1/model.py": CODE}


ONE = STEP.format("m", "X", "IN", "Y", "OUT")
FIRST, LAST = STEP.format("m", "X", "IN", "Y", "MID"), STEP.format("m", "X", "MID", "Y", "OUT")


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (chain(), "the ensemble has no step"),
        (chain(ONE, head='backend: "onnxruntime"'), "of another platform"),
        (chain(ONE, head='platform: "ensemble" backend: "python"'), "an ensemble has no backend"),
        (chain(ONE, head=""), "or of none"),
        (chain(ONE, more="instance_group [{ kind: KIND_CPU }]"), "takes no instance_group"),
        (chain(ONE, more="optimization { }"), "takes no optimization"),
        (chain('{ model_name: "m" input_map { key: "X" value: "IN" } }'), "step 0 of the ensemble has no output_map"),
        (chain(ONE, ONE), "'OUT' is written by two steps"),
        (chain(FIRST), "nothing writes the output 'OUT'"),
        (chain(LAST), "nothing writes 'MID'"),
        (chain(ONE, STEP.format("m", "X", "IN", "Y", "MID")), "no step takes 'MID'"),
        (chain(ONE, batch=16), "takes batches of 16, 'm' only of 8"),
        (chain(ONE, dims="3"), "'IN' is TYPE_FP32[-1, 3] of the ensemble, and TYPE_FP32[-1, 2] of 'm'"),
        (chain(ONE) | {"m/config.pbtxt": config().replace("FP32", "FP16", 1)}, "and TYPE_FP16[-1, 2] of 'm'"),
        (chain(ONE) | {"m/config.pbtxt": config(more=f"input {{ {Z} }}")},
         "does not give 'm' its input 'Z'"),
        (chain(STEP.format("chain", "IN", "IN", "OUT", "OUT")), "the ensemble calls itself"),
        ({"m/config.pbtxt": 'platform: "ensemble"', "m/1/.keep": ""}, "there is no ensemble_scheduling"),
    ],
)  # fmt: skip
def test_ensembles_that_triton_refuses(tmp_path: Path, files: dict[str, Any], says: str) -> None:
    found = told(tmp_path, files)
    assert any(each.startswith("breaks") and says in each for each in found), found


@pytest.mark.parametrize(
    "files",
    [
        chain(ONE),
        chain(FIRST, LAST),
        chain(LAST, FIRST),
        chain(ONE, batch=4),
        chain(ONE, dims="-1"),
        chain(ONE, batch=0, dims="-1, 2"),
        chain(ONE) | {"m/config.pbtxt": config(more=f"input {{ {Z} optional: true }}")},
        chain(ONE) | {"m/config.pbtxt": config(more=f"output {{ {Z} }}")},
        chain(ONE) | {"m/config.pbtxt": 'backend: "python" max_batch_size: 8'},
    ],
)
def test_ensembles_that_triton_takes(tmp_path: Path, files: dict[str, Any]) -> None:
    assert not told(tmp_path, files)


def test_a_called_model_that_no_longer_fits_its_ensemble(tmp_path: Path) -> None:
    old, new = chain(ONE), chain(ONE) | {"m/config.pbtxt": config(batch=4)}
    sides = folder(tmp_path / "old", old), folder(tmp_path / "new", new)
    report = validate(sides[1], sides[0], contract=Contract())
    assert any("takes batches of 8, 'm' only of 4" in each.message for each in report.findings)
