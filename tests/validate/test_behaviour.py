"""The behavioural stage: real runs on generated inputs, state fed back, drift told and only then judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from services import packages
from validate.build import folder, safetensors

pytest.importorskip("onnxruntime")
np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
EMBED_4 = (
    "openwakeword",
    "0.4.0",
    "openwakeword/resources/models/embedding_model.onnx",
    "ba754db3cd768a524c655ea90655ee5e6055a43b8dfd29366a11e93716ae9e51",
)
EMBED_5 = (
    "openwakeword",
    "0.5.1",
    "openwakeword/resources/models/embedding_model.onnx",
    "70d164290c1d095d1d4ee149bc5e00543250a7316b59f31d056cff7bd3075c1f",
)
SILERO = "silero_vad/data/silero_vad.onnx"
SILERO_5 = ("silero-vad", "5.1.2", SILERO, "2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f")
SILERO_6 = ("silero-vad", "6.0.0", SILERO, "597d30b3ec076608d059477bb14cfeffdf951bf5cae370d38f65d33bbfe82004")


def model(
    weight: Any, *, op: str = "MatMul", shape: Any = ("batch", 4), out: Any = ("batch", 2), kind: str = "FLOAT"
) -> bytes:
    helper = onnx.helper
    value = getattr(onnx.TensorProto, kind)
    graph = helper.make_graph(
        [helper.make_node(op, ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", value, shape)],
        [helper.make_tensor_value_info("y", value, out)],
        [onnx.numpy_helper.from_array(np.asarray(weight, np.float32 if kind == "FLOAT" else np.float16), "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8).SerializeToString()


def judge(tmp_path: Path, old: bytes, new: bytes, **contract: Any) -> Any:
    paths = [folder(tmp_path / name, {"model.onnx": data}) for name, data in (("old", old), ("new", new))]
    return validate(paths[1], paths[0], contract=Contract(**contract), run=True)


def rules(report: Any) -> dict[str, str]:
    return {finding.rule: finding.level for finding in report.findings}


def test_the_same_values_are_bit_equal(tmp_path: Path) -> None:
    weight = np.ones((4, 2))
    report = judge(tmp_path, model(weight), model(weight))
    assert report.facts["verdict"] == "equal"
    assert "bit-equal" in report.findings[0].message


def test_drift_is_told_and_not_judged(tmp_path: Path) -> None:
    weight = np.arange(8).reshape(4, 2)
    report = judge(tmp_path, model(weight), model(weight * 2))
    assert rules(report) == {"RUN-DRIFT": "hot"}
    assert "lowest cosine 1.0000" in report.findings[0].message


def test_an_output_that_points_the_other_way_is_not_proven(tmp_path: Path) -> None:
    weight = np.arange(8).reshape(4, 2)
    report = judge(tmp_path, model(weight), model(-weight))
    assert rules(report) == {"RUN-DRIFT": "unproven"}
    assert "lowest cosine -1.0000" in report.findings[0].message
    assert report.facts["verdict"] == "unproven"


def test_a_head_that_never_has_the_same_top_entry_is_not_proven(tmp_path: Path) -> None:
    biased = [bias("FLOAT", values) for values in ([100.0, 99.0], [99.0, 100.0])]
    report = judge(tmp_path, *biased)
    assert rules(report) == {"RUN-DRIFT": "unproven"}
    assert "lowest cosine 0.9999" in report.findings[0].message
    assert "same top entry in 0 of 2 rows" in report.findings[0].message


def bias(kind: str, values: Any) -> bytes:
    """A graph whose output is `values` whatever the input."""
    helper, proto = onnx.helper, onnx.TensorProto
    node = helper.make_node("Constant", [], ["y"], value=helper.make_tensor("v", getattr(proto, kind), [2], values))
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", proto.FLOAT, ["n", 4])],
        [helper.make_tensor_value_info("y", getattr(proto, kind), [2])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8).SerializeToString()


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("STRING", [b"ok", b"ok"], [b"ok", b"fraud"]),
        ("BOOL", [True, True], [True, False]),
        ("INT64", [100_000_000, 100_000_000], [100_000_000, 100_000_001]),
    ],
)
def test_labels_flags_and_integers_are_compared_by_value(tmp_path: Path, kind: str, old: Any, new: Any) -> None:
    report = judge(tmp_path, bias(kind, old), bias(kind, new))
    (drift,) = [finding for finding in report.findings if finding.rule == "RUN-DRIFT"]
    assert drift.level == "unproven"
    assert "2 of 4 values differ (50.0%)" in drift.message
    assert "bit-equal" not in drift.message
    same = judge(tmp_path / "same", bias(kind, old), bias(kind, old))
    assert "bit-equal" in same.findings[0].message
    assert same.findings[0].level == "hot"


def test_nan_is_never_equal_to_a_number(tmp_path: Path) -> None:
    numbers, nan = bias("FLOAT", [1.0, 2.0]), bias("FLOAT", [1.0, float("nan")])
    report = judge(tmp_path / "worse", numbers, nan)
    assert rules(report) == {"RUN-DRIFT": "unproven", "RUN-FINITE": "breaks"}
    assert "bit-equal" not in report.findings[0].message
    assert "2 of 4 values are NaN or infinite against another value" in str([f.message for f in report.findings])
    assert rules(judge(tmp_path / "better", nan, numbers))["RUN-DRIFT"] == "unproven"


def test_overflow_breaks(tmp_path: Path) -> None:
    weight = np.full((4, 2), 1000.0)
    report = judge(tmp_path, model(weight, kind="FLOAT16"), model(weight * np.inf, kind="FLOAT16"))
    assert rules(report)["RUN-FINITE"] == "breaks"


def test_another_shape_breaks_where_the_contract_is_silent(tmp_path: Path) -> None:
    loose = ("batch", "n")
    report = judge(tmp_path, model(np.ones((4, 2)), out=loose), model(np.ones((4, 3)), out=loose))
    assert rules(report)["RUN-SHAPE"] == "breaks"


def test_a_size_that_the_contract_lost_is_measured(tmp_path: Path) -> None:
    weight = np.ones((4, 2))
    old, new = model(weight), model(weight, out=("batch", "n"))
    report = judge(tmp_path, old, new)
    assert rules(report)["ONX-DIM-WIDEN"] == "hot"
    paths = [tmp_path / "new", tmp_path / "old"]
    assert validate(*paths, contract=Contract()).facts["verdict"] == "unproven"


def test_a_graph_that_fails_breaks(tmp_path: Path) -> None:
    report = judge(tmp_path, model(np.ones((4, 2))), model(np.ones((5, 2))))
    assert rules(report)["RUN-FAIL"] == "breaks"


def test_what_cannot_be_run_is_not_proven(tmp_path: Path) -> None:
    report = judge(tmp_path, model(np.ones((5, 2))), model(np.ones((4, 2))))
    assert rules(report)["RUN-FAIL"] == "unproven"


def test_embeddings_are_judged_by_the_declared_cosine() -> None:
    old, new = packages.pypi(*EMBED_4), packages.pypi(*EMBED_5)
    strict = validate(new, old, contract=Contract(cosine=0.999), run=True)
    assert rules(strict)["EMB-SPACE"] == "breaks"
    assert any("lowest cosine similarity measured is 0.9" in finding.message for finding in strict.findings)
    assert validate(new, old, contract=Contract(cosine=0.95), run=True).facts["verdict"] == "hot"


def test_recurrent_state_is_fed_back() -> None:
    report = validate(packages.pypi(*SILERO_6), packages.pypi(*SILERO_5), contract=Contract(), run=True)
    (drift,) = [finding for finding in report.findings if finding.rule == "RUN-DRIFT"]
    assert "over 8 runs: drift" in drift.message
    assert report.facts["verdict"] == "hot"


def alone(tmp_path: Path, data: bytes, **contract: Any) -> Any:
    return validate(folder(tmp_path / "new", {"model.onnx": data}), contract=Contract(**contract), run=True)


def test_alone_a_graph_is_loaded_and_run(tmp_path: Path) -> None:
    report = alone(tmp_path, model(np.ones((4, 2))))
    assert report.findings == []
    assert report.facts["runs"] == {"model.onnx": 2}
    assert "model.onnx ran 2 times on generated inputs" in str(report.body)
    state = validate(packages.pypi(*SILERO_6), contract=Contract(), run=True)
    assert state.facts["runs"] == {"silero_vad.onnx": 8}
    assert state.headline == "verdict: consistent"


def test_alone_a_graph_that_does_not_load_breaks(tmp_path: Path) -> None:
    report = alone(tmp_path, model(np.ones((4, 2)), op="Relux"))
    assert rules(report)["RUN-FAIL"] == "breaks"
    assert report.exit_code == 1


def reshape(shape: Any) -> bytes:
    """A reshape to [3], which the runtime only tries when it runs."""
    helper, proto = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        [helper.make_node("NonZero", ["x"], ["n"]), helper.make_node("Reshape", ["n", "s"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", proto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", proto.INT64, None)],
        [helper.make_tensor("s", proto.INT64, [2], [7, 10])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8).SerializeToString()


def test_alone_a_graph_that_takes_no_input_breaks_where_none_was_guessed(tmp_path: Path) -> None:
    report = alone(tmp_path, reshape([2, 2]))
    assert rules(report) == {"RUN-FAIL": "breaks"}
    report = alone(tmp_path, reshape(["n", 2]))
    assert rules(report) == {"RUN-FAIL": "unproven"}


def test_what_is_not_a_graph_is_not_run_and_says_so(tmp_path: Path) -> None:
    path = folder(tmp_path / "m", {"model.safetensors": safetensors({"w": ("F32", [2])})})
    report = validate(path, contract=Contract(), run=True)
    assert report.facts["runs"] == {}
    assert "nothing was run" in str(report.body)
    assert validate(path, contract=Contract()).facts["runs"] is None
