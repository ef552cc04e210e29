"""The behavioural stage: real runs on generated inputs, state fed back, drift told and only then judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.report.errors import BadInput
from services import packages
from validate.build import folder, safetensors

pytest.importorskip("onnxruntime")
np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnx.parser")
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
    def branched(columns: Any) -> bytes:
        """The product in a branch, whose sizes are not followed."""
        bodies = (
            "then_branch = t () => (float[N,2] k) { k = MatMul(x, w) }, "
            "else_branch = e () => (float[N,2] j) { j = MatMul(x, w) }"
        )
        text = (
            f'<ir_version: 8, opset_import: ["": 16]> g (float[N,4] x, bool c) => (float[N,{columns}] y) '
            f"<float[4,2] w = {{1, 2, 3, 4, 5, 6, 7, 8}}> {{ y = If (c) <{bodies}> }}"
        )
        return onnx.parser.parse_model(text).SerializeToString()

    report = judge(tmp_path, branched(2), branched("M"))
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


def spec(kind: str, *, key: Any = None) -> Any:
    """The type of a sequence of float tensors, or of maps from `key`."""
    helper = onnx.helper
    inner = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, None)
    if key is not None:
        inner = helper.make_map_type_proto(key, inner)
    return helper.make_value_info(kind, helper.make_sequence_type_proto(inner))


def scores(labels: list[str], bias: Any = (0.0, 1.0)) -> bytes:
    """A classifier as scikit-learn exports it: its scores are a map a row."""
    helper, proto = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        [
            helper.make_node("Add", ["x", "b"], ["p"]),
            helper.make_node("ZipMap", ["p"], ["z"], domain="ai.onnx.ml", classlabels_strings=labels),
        ],
        "g",
        [helper.make_tensor_value_info("x", proto.FLOAT, ["n", 2])],
        [spec("z", key=proto.STRING)],
        [onnx.numpy_helper.from_array(np.asarray(bias, np.float32), "b")],
    )
    opsets = [helper.make_opsetid("", 16), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def test_maps_are_compared_key_by_key(tmp_path: Path) -> None:
    old = scores(["ok", "fraud"])
    same = judge(tmp_path / "same", old, scores(["ok", "fraud"]))
    assert same.facts["verdict"] == "equal"
    assert "output 'z' over 2 runs: bit-equal" in same.findings[0].message
    retrained = judge(tmp_path / "retrained", old, scores(["ok", "fraud"], (0.1, 1.2)))
    assert {f.level for f in retrained.findings if f.rule.startswith("RUN")} == {"hot"}
    assert "drift" in str([f.message for f in retrained.findings])
    other = judge(tmp_path / "other", old, scores(["ok", "bad"]))
    assert rules(other)["RUN-SHAPE"] == "breaks"
    (finding,) = [f for f in other.findings if f.rule == "RUN-SHAPE"]
    assert "maps of 2 keys ('bad', 'ok'), was maps of 2 keys ('fraud', 'ok')" in finding.message
    swapped = judge(tmp_path / "swapped", scores(["ok", "fraud"], (0.0, 90.0)), scores(["fraud", "ok"], (0.0, 90.0)))
    assert rules(swapped)["RUN-DRIFT"] == "unproven"


def sequence(count: int, scale: float = 1.0) -> bytes:
    helper, proto = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        [
            helper.make_node("Mul", ["x", "w"], ["a"]),
            helper.make_node("SequenceConstruct", ["a"] * count, ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", proto.FLOAT, ["n", 2])],
        [spec("y")],
        [onnx.numpy_helper.from_array(np.asarray(scale, np.float32), "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8).SerializeToString()


def test_sequences_are_compared_tensor_by_tensor(tmp_path: Path) -> None:
    report = judge(tmp_path / "same", sequence(2), sequence(2))
    assert "output 'y' over 2 runs: bit-equal" in report.findings[0].message
    assert rules(judge(tmp_path / "scaled", sequence(2), sequence(2, 1.5)))["RUN-DRIFT"] == "hot"
    assert rules(judge(tmp_path / "turned", sequence(2), sequence(2, -1.0)))["RUN-DRIFT"] == "unproven"
    longer = judge(tmp_path / "longer", sequence(2), sequence(3))
    assert rules(longer)["RUN-SHAPE"] == "breaks"
    assert "a sequence of 3, was a sequence of 2" in str([f.message for f in longer.findings])


def test_one_number_a_row_has_no_direction(tmp_path: Path) -> None:
    def regression(weight: Any) -> bytes:
        return model(np.asarray(weight).reshape(4, 1), out=("batch", 1))

    old = [1.0, -0.5, 0.25, 0.75]
    retrained = judge(tmp_path / "a", regression(old), regression([0.8, -0.6, 0.3, 0.9]))
    assert rules(retrained) == {"RUN-DRIFT": "hot"}
    assert "cosine" not in retrained.findings[0].message
    turned = judge(tmp_path / "b", regression(old), regression([-each for each in old]))
    assert rules(turned) == {"RUN-DRIFT": "unproven"}
    assert "4 of 4 values have the other sign" in turned.findings[0].message


def quantised(scale: float, shift: float, *, label: bool = False) -> bytes:
    """Bytes out: a quantised product, or the position of its largest entry."""
    helper, proto = onnx.helper, onnx.TensorProto
    last = (
        [helper.make_node("ArgMax", ["m"], ["i"], axis=1), helper.make_node("Cast", ["i"], ["y"], to=proto.UINT8)]
        if label
        else [helper.make_node("QuantizeLinear", ["m", "s", "z"], ["y"])]
    )
    weight = np.asarray([[1.0, 0.5], [-1.0, 2.0], [0.5, 0.25], [2.0, -1.0]], np.float32) * scale
    weight[:, 0] += shift
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["m"]), *last],
        "g",
        [helper.make_tensor_value_info("x", proto.FLOAT, ["n", 4])],
        [helper.make_tensor_value_info("y", proto.UINT8, None)],
        [
            onnx.numpy_helper.from_array(weight, "w"),
            onnx.numpy_helper.from_array(np.asarray(0.05, np.float32), "s"),
            onnx.numpy_helper.from_array(np.asarray(128, np.uint8), "z"),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8).SerializeToString()


def test_quantised_bytes_are_numbers_and_labels_in_bytes_are_not(tmp_path: Path) -> None:
    near = judge(tmp_path / "near", quantised(1.0, 0.0), quantised(1.001, 0.0))
    assert rules(near)["RUN-DRIFT"] == "hot"
    assert "drift" not in near.findings[-1].message.split(":")[1]
    assert rules(judge(tmp_path / "moved", quantised(1.0, 0.0), quantised(1.4, 0.0)))["RUN-DRIFT"] == "hot"
    labels = judge(tmp_path / "labels", quantised(1.0, 0.0, label=True), quantised(-1.0, 0.0, label=True))
    assert rules(labels)["RUN-DRIFT"] == "unproven"


def loop(turns: int) -> bytes:
    """An addition, repeated."""
    helper, proto = onnx.helper, onnx.TensorProto
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Add", ["v", "v"], ["w"])],
        "body",
        [
            helper.make_tensor_value_info("i", proto.INT64, []),
            helper.make_tensor_value_info("c", proto.BOOL, []),
            helper.make_tensor_value_info("v", proto.FLOAT, None),
        ],
        [helper.make_tensor_value_info("d", proto.BOOL, []), helper.make_tensor_value_info("w", proto.FLOAT, None)],
    )
    graph = helper.make_graph(
        [helper.make_node("Loop", ["n", "t", "x"], ["y"], body=body)],
        "g",
        [helper.make_tensor_value_info("x", proto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", proto.FLOAT, [2])],
        [helper.make_tensor("n", proto.INT64, [], [turns]), helper.make_tensor("t", proto.BOOL, [], [True])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8).SerializeToString()


def test_a_graph_that_hangs_is_stopped(tmp_path: Path) -> None:
    report = judge(tmp_path / "new", loop(3), loop(1 << 40), run_seconds=15)
    (finding,) = [f for f in report.findings if f.rule == "RUN-FAIL"]
    assert finding.level == "breaks"
    assert "takes longer than 15 seconds while it runs, the old graph took" in finding.message
    old = judge(tmp_path / "old", loop(1 << 40), loop(3), run_seconds=3)
    assert rules(old)["RUN-FAIL"] == "unproven"
    assert alone(tmp_path, loop(1 << 40), run_seconds=3).facts["verdict"] == "unproven"


def filled(size: int) -> bytes:
    helper, proto = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        [
            helper.make_node("ConstantOfShape", ["s"], ["a"]),
            helper.make_node("ReduceSum", ["a"], ["b"], keepdims=0),
            helper.make_node("Add", ["x", "b"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", proto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", proto.FLOAT, [2])],
        [helper.make_tensor("s", proto.INT64, [1], [size])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8).SerializeToString()


def test_a_graph_that_takes_more_memory_than_there_is_fails(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    report = judge(tmp_path, filled(8), filled(1 << 40))
    assert rules(report)["RUN-FAIL"] == "breaks"


# The real runtime, except that a graph with a tensor of this name makes it read where there is no memory.
FAULTY = """
import ctypes, sys
from pathlib import Path
here = str(Path(__file__).parent)
sys.path.remove(here)
del sys.modules["onnxruntime"]
import onnxruntime as real
class Session(real.InferenceSession):
    def run(self, names, feed):
        if any(each.name == "segfault" for each in self.get_outputs()):
            ctypes.string_at(0)
        return super().run(names, feed)
real.InferenceSession = Session
"""


def test_a_crash_of_the_runtime_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder(tmp_path / "path", {"onnxruntime.py": FAULTY})
    monkeypatch.syspath_prepend(str(tmp_path / "path"))
    good = sequence(1)
    proto = onnx.ModelProto()
    proto.ParseFromString(model(np.ones((4, 2))))
    proto.graph.node[0].output[0] = proto.graph.output[0].name = "segfault"
    bad = proto.SerializeToString()
    report = judge(tmp_path / "pair", model(np.ones((4, 2))), bad)
    (finding,) = [f for f in report.findings if f.rule == "RUN-FAIL"]
    assert finding.level == "breaks"
    assert "crashes the runtime (SIGSEGV) while it runs" in finding.message
    assert rules(alone(tmp_path / "alone", bad))["RUN-FAIL"] == "breaks"
    old = judge(tmp_path / "old", bad, model(np.ones((4, 2))))
    assert rules(old)["RUN-FAIL"] == "unproven"
    assert judge(tmp_path / "good", good, good).facts["verdict"] == "equal"


@pytest.mark.parametrize(("providers", "where"), [("[cpu]", "cpu"), ("[cuda, cpu]", "cpu"), ("[cuda]", "")])
def test_graphs_run_where_bench_providers_says(providers: str, where: str, tmp_path: Path) -> None:
    import onnxruntime

    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("this ONNX Runtime is built with CUDA")
    path = folder(tmp_path / "m", {"model.onnx": model(np.ones((4, 2)))})
    config = folder(tmp_path, {"interlock.yaml": f"bench: {{providers: {providers}}}\n"}) / "interlock.yaml"
    if not where:
        with pytest.raises(BadInput, match="built without cuda"):
            validate(path, config=str(config), run=True)
        return
    report = validate(path, config=str(config), run=True)
    assert report.facts["provider"] == where
    assert f"ran 2 times on generated inputs on {where}" in str(report.body)
