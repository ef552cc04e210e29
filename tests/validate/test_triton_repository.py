"""What a config.pbtxt names must be there, and what is only written otherwise is no change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.build import folder, onnx_model

Files = dict[str, Any]
CONFIG = """\
name: "ranker"
backend: "onnxruntime"
max_batch_size: 8
input [ { name: "x" data_type: TYPE_FP32 dims: [ 3 ] } ]
output [ { name: "y" data_type: TYPE_FP32 dims: [ 4 ] label_filename: "labels.txt" } ]
"""


def model(weight: float = 1.0) -> bytes:
    return onnx_model({"x": ("float", ["batch", 3])}, {"y": ("float", ["batch", 4])}, weight=weight)


def repository(config: str = CONFIG, *, at: str = "ranker/", weight: float = 1.0, **files: Any) -> Files:
    return {
        f"{at}config.pbtxt": config,
        f"{at}labels.txt": "a\nb\nc\nd\n",
        f"{at}1/model.onnx": model(weight),
        **files,
    }


def judged(path: Path, new: Files, old: Files | None = None) -> Any:
    before = None if old is None else folder(path / "old", old)
    return validate(folder(path / "new", new), before, contract=Contract())


def told(report: Any) -> list[str]:
    return [f"{f.level}: {f.message}" for f in report.findings if f.rule == "TRI-CFG" and f.level != "hot"]


SAME = [
    CONFIG + 'parameters { key: "intra_op_thread_count" value { string_value: "2" } }\n',
    CONFIG + 'parameters { key: "enable_mem_arena" value { string_value: "1" } }\n',
    CONFIG + 'default_model_filename: "model.onnx"\n',
    CONFIG + "version_policy { all {} }\n",
    CONFIG + "version_policy: { latest { num_versions: 2 } }\n",
    CONFIG + "version_policy { specific { versions: [ 1 ] } }\n",
    CONFIG + "model_transaction_policy { decoupled: false }\n",
    CONFIG.replace("data_type: TYPE_FP32", "data_type: 11"),
    CONFIG.replace('name: "ranker"\n', ""),
    CONFIG.replace("dims: [ 3 ]", "dims: [ 3 ] optional: true"),
    CONFIG.replace("[ { name", "{ name").replace("} ]", "}"),
]


@pytest.mark.parametrize("config", SAME)
def test_what_is_written_otherwise_is_no_change(tmp_path: Path, config: str) -> None:
    report = judged(tmp_path, repository(config, weight=2.0), repository())
    assert report.facts["verdict"] == "hot", report.findings
    assert judged(tmp_path / "alone", repository(config)).facts["verdict"] == "equal"


LOST: list[tuple[str, str, str, str]] = [
    ("name", CONFIG.replace('"ranker"', '"scorer"'), "breaks", "in a folder 'ranker'"),
    ("file", CONFIG + 'default_model_filename: "m.onnx"\n', "breaks", "'ranker/1/m.onnx'"),
    ("backend", CONFIG.replace("onnxruntime", "tensorrt"), "breaks", "'ranker/1/model.plan'"),
    ("version", CONFIG + "version_policy { specific { versions: [ 7 ] } }\n", "breaks", "version 7 is not there"),
    ("one", CONFIG + "version_policy { specific { versions: [ 1, 7 ] } }\n", "unproven", "version 7 is not there"),
    ("labels", CONFIG.replace("labels.txt", "names.txt"), "breaks", "'names.txt'"),
    ("field", CONFIG + "no_such_field: 3\n", "unproven", "no field 'no_such_field'"),
]


@pytest.mark.parametrize(("config", "level", "says"), [pytest.param(*each[1:], id=each[0]) for each in LOST])
def test_what_the_configuration_names_is_there(tmp_path: Path, config: str, level: str, says: str) -> None:
    for report in (
        judged(tmp_path / "1", repository(config)),
        judged(tmp_path / "2", repository(config), repository()),
    ):
        assert report.facts["verdict"] == level
        assert any(each.startswith(f"{level}: ") and says in each for each in told(report)), told(report)
    # what serves with it is served for all that
    again = judged(tmp_path / "3", repository(config, weight=2.0), repository(config))
    assert again.facts["verdict"] == "hot", again.findings


def test_an_input_that_must_be_sent_from_now_on(tmp_path: Path) -> None:
    old = repository(CONFIG.replace("dims: [ 3 ]", "dims: [ 3 ] optional: true"))
    report = judged(tmp_path, repository(), old)
    assert told(report) == ["breaks: input 'x' is no longer optional"]


def test_the_name_of_a_model_that_is_given_alone(tmp_path: Path) -> None:
    # The folder that a model is fetched into may be called anything.
    assert judged(tmp_path / "1", repository(at="")).facts["verdict"] == "equal"
    renamed = repository(CONFIG.replace('"ranker"', '"scorer"'), at="")
    report = judged(tmp_path / "2", renamed, repository(at=""))
    assert told(report) == ["breaks: clients call the model by its name, which changed: ranker → scorer"]


@pytest.mark.parametrize(
    "changed",
    [
        'parameters { key: "EXECUTION_ENV_PATH" value { string_value: "x" } }\n',
        'default_model_filename: "other.onnx"\n',
    ],
)
def test_settings_that_may_change_answers_are_not_hot(tmp_path: Path, changed: str) -> None:
    new = repository(CONFIG + changed) | {"ranker/1/other.onnx": model()}
    assert judged(tmp_path, new, repository()).facts["verdict"] != "hot"


def test_a_reshape_is_what_the_model_gets(tmp_path: Path) -> None:
    config = CONFIG.replace("dims: [ 3 ]", "dims: [ 1, 3 ] reshape { shape: [ 3 ] }")
    assert judged(tmp_path / "1", repository(config)).facts["verdict"] == "equal"
    other = CONFIG.replace("dims: [ 3 ]", "dims: [ 3 ] reshape { shape: [ 4 ] }")
    assert judged(tmp_path / "2", repository(other)).facts["verdict"] == "breaks"


def ensemble(called: str = "ranker", version: str = "-1", key: str = "x", out: str = "y") -> Files:
    text = f"""\
name: "chain" platform: "ensemble" max_batch_size: 8
input [ {{ name: "IN" data_type: TYPE_FP32 dims: [ 3 ] }} ]
output [ {{ name: "OUT" data_type: TYPE_FP32 dims: [ 4 ] }} ]
ensemble_scheduling {{ step [ {{ model_name: "{called}" model_version: {version}
  input_map {{ key: "{key}" value: "IN" }} output_map {{ key: "{out}" value: "OUT" }} }} ] }}
"""
    return {"chain/config.pbtxt": text, "chain/1/.keep": ""}


@pytest.mark.parametrize(
    ("chain", "says"),
    [
        (ensemble("nobody"), "a model 'nobody' that is not there"),
        (ensemble(version="5"), "version 5 of 'ranker'"),
        (ensemble(key="z"), "the input 'z'"),
        (ensemble(out="z"), "the output 'z'"),
    ],
)
def test_an_ensemble_calls_what_is_there(tmp_path: Path, chain: Files, says: str) -> None:
    report = judged(tmp_path, repository() | chain)
    assert report.facts["verdict"] == "breaks"
    assert any(says in each for each in told(report)), told(report)


@pytest.mark.parametrize("version", ["-1", "1"])
def test_an_ensemble_whose_models_are_there(tmp_path: Path, version: str) -> None:
    assert judged(tmp_path / "1", repository() | ensemble(version=version)).facts["verdict"] == "equal"
    bare = {name: each for name, each in repository().items() if not name.endswith(".pbtxt")}
    assert judged(tmp_path / "2", bare | ensemble()).facts["verdict"] == "equal"
    assert judged(tmp_path / "3", ensemble("elsewhere") | {"other.onnx": model()}).facts["verdict"] == "equal"


def test_a_model_that_is_gone_or_goes_by_another_name(tmp_path: Path) -> None:
    old, moved = repository(), repository(CONFIG.replace('"ranker"', '"scorer"'), at="scorer/")
    report = judged(tmp_path / "1", moved, old)
    assert "breaks: the model 'ranker' is gone, which clients call by its name" in told(report)
    both = old | ensemble()
    assert "breaks: the model 'chain' is gone, which clients call by its name" in told(
        judged(tmp_path / "2", old, both)
    )
    assert judged(tmp_path / "3", both, old).facts["verdict"] == "hot"
    bare = {name: each for name, each in old.items() if not name.endswith(".pbtxt")}
    assert "unproven: config.pbtxt is gone; Triton completes one if it can" in told(judged(tmp_path / "4", bare, old))
