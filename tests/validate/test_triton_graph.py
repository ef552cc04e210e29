"""config.pbtxt against the graph it serves: what Triton fills in itself, and what its ONNX backend refuses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from onnx import TensorProto, helper
from validate.build import folder

Values = Sequence[tuple[str, int, Sequence[int | str]]]
F, I32, U64, B = TensorProto.FLOAT, TensorProto.INT32, TensorProto.UINT64, TensorProto.BOOL
X, Y = ("X", F, ["b", 4]), ("Y", F, ["b", 4])
START = 'name: "START" control [{ kind: CONTROL_SEQUENCE_START fp32_false_true: [0, 1] }]'
STATE = 'state [{ input_name: "S" output_name: "SN" data_type: TYPE_FP32 dims: [4] }]'


def graph(inputs: Values, outputs: Values) -> bytes:
    """Every output is the input of its place, or the last one."""
    nodes = [
        helper.make_node("Cast", [inputs[min(at, len(inputs) - 1)][0]], [name], to=kind)
        for at, (name, kind, _) in enumerate(outputs)
    ]
    made = [[helper.make_tensor_value_info(*each) for each in values] for values in (inputs, outputs)]
    model = helper.make_model(helper.make_graph(nodes, "g", *made), opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model.SerializeToString()


def config(more: str = "", *, batch: int = 8, x: str = "dims: [4]", y: str = "dims: [4]") -> str:
    return (
        f'name: "m"\nbackend: "onnxruntime"\nmax_batch_size: {batch}\n'
        f'input [{{name: "X" data_type: TYPE_FP32 {x}}}]\noutput [{{name: "Y" data_type: TYPE_FP32 {y}}}]\n{more}\n'
    )


def repository(text: str, inputs: Values, outputs: Values) -> dict[str, Any]:
    return {"m/config.pbtxt": text, "m/1/model.onnx": graph(inputs, outputs)}


def told(path: Path, text: str, inputs: Values, outputs: Values) -> list[str]:
    report = validate(folder(path, repository(text, inputs, outputs)), contract=Contract())
    return [each.message for each in report.findings if each.rule == "TRI-CFG"]


def controls(*each: str) -> str:
    return f"sequence_batching {{ control_input [{', '.join(f'{{ {one} }}' for one in each)}] }}"


@pytest.mark.parametrize(
    ("text", "inputs", "outputs"),
    [
        (config(controls(START)), [X, ("START", F, ["b", 1])], [Y]),
        (config(controls(START), batch=0, x="dims: [2, 4]", y="dims: [2, 4]"),
         [("X", F, [2, 4]), ("START", F, [1])], [("Y", F, [2, 4])]),
        (config(controls(START, 'name: "ID" control { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 }')),
         [X, ("START", F, ["b", 1]), ("ID", U64, ["b", 1])], [Y]),
        (config(controls('name: "END" control { kind: 2 bool_false_true: [false, true] }')),
         [X, ("END", B, ["b", 1])], [Y]),
        (config(f"sequence_batching {{ {STATE} }}"), [X, ("S", F, ["b", 4])], [Y, ("SN", F, ["b", 4])]),
        (config(f"sequence_batching {{ {STATE} }}"), [X, ("S", F, ["b", "n"])], [Y, ("SN", F, ["b", "n"])]),
        (config('batch_input { kind: BATCH_ELEMENT_COUNT target_name: "N" data_type: TYPE_INT32 source_input: "X" }',
                x="dims: [-1] allow_ragged_batch: true"), [("X", F, ["n"]), ("N", I32, ["b"])], [Y]),
        (config('batch_output { target_name: "Y" kind: BATCH_SCATTER_WITH_INPUT_SHAPE source_input: "X" }',
                x="dims: [-1] allow_ragged_batch: true", y="dims: [-1]"), [("X", F, ["n"])], [("Y", F, ["n"])]),
        (config(x="dims: [-1]", y="dims: [-1]"), [("X", F, ["b", "n"])], [("Y", F, ["b", "n"])]),
        (config(x="dims: [4]", y="dims: [-1]"), [("X", F, ["b", "n"])], [("Y", F, ["b", "n"])]),
        (config(batch=0, x="dims: [1]", y="dims: [1]"), [("X", F, [])], [("Y", F, [])]),
    ],
)  # fmt: skip
def test_what_triton_fills_in_itself(tmp_path: Path, text: str, inputs: Values, outputs: Values) -> None:
    files = repository(text, inputs, outputs)
    assert not told(tmp_path / "1", text, inputs, outputs)
    again = folder(tmp_path / "2", files), folder(tmp_path / "3", {**files, "m/README.md": "x"})
    assert validate(again[1], again[0], contract=Contract()).facts["verdict"] == "hot"


@pytest.mark.parametrize(
    ("text", "inputs", "outputs", "says"),
    [
        (config(controls(START)), [X], [Y], "input 'START', which control_input fills, is not"),
        (config(controls(START)), [X, ("START", I32, ["b", 1])], [Y], "input 'START' is TYPE_FP32 here, tensor(int32)"),
        (config(controls(START)), [X, ("START", F, ["b", "n"])], [Y], "input 'START' has dims [-1, 1] here"),
        (config(controls(START)), [X, ("START", F, ["b", 1]), ("END", F, ["b", 1])], [Y], "lacks the input 'END'"),
        (config(f"sequence_batching {{ {STATE} }}"), [X, ("S", F, ["b", 4])], [Y], "'SN', which sequence_batching"),
        (config(f"sequence_batching {{ {STATE} }}"), [X, ("S", F, ["b", 5])], [Y, ("SN", F, ["b", 5])], "'S' has dims"),
        (config('batch_input { kind: BATCH_ELEMENT_COUNT target_name: "N" data_type: TYPE_INT32 source_input: "X" }'),
         [X, ("N", F, ["b"])], [Y], "input 'N' is TYPE_INT32 here"),
        (config(x="dims: [-1] allow_ragged_batch: true"), [("X", F, ["b", "n"])], [Y], "input 'X' has dims"),
        (config(), [("X", F, [1, 4])], [("Y", F, [1, 4])], "input 'X' has dims [-1, 4] here, [1, 4]"),
        (config(x="dims: [-1]"), [X], [Y], "input 'X' has dims [-1, -1] here, ['b', 4]"),
        (config(y="dims: [-1]"), [X], [Y], "output 'Y' has dims [-1, -1] here, ['b', 4]"),
        (config(x="dims: [-1]"), [("X", F, ["b", "n"])], [("Y", F, ["b", "n"])], "output 'Y' has 4 on axis 1 here"),
    ],
)  # fmt: skip
def test_what_the_onnx_backend_refuses(tmp_path: Path, text: str, inputs: Values, outputs: Values, says: str) -> None:
    found = told(tmp_path / "1", text, inputs, outputs)
    assert any(says in each for each in found), found
    # What the live version has just the same is a note.
    files = repository(text, inputs, outputs)
    again = folder(tmp_path / "2", files), folder(tmp_path / "3", {**files, "m/README.md": "x"})
    assert validate(again[1], again[0], contract=Contract()).facts["verdict"] == "hot"


@pytest.mark.parametrize("backend", ["openvino", "custom"])
def test_other_backends_compare_sizes_in_their_own_way(tmp_path: Path, backend: str) -> None:
    text = config(x="dims: [-1]").replace("onnxruntime", backend)
    assert not told(tmp_path, text, [X], [Y])


def test_an_output_whose_size_the_runtime_works_out(tmp_path: Path) -> None:
    assert not told(tmp_path, config(), [X], [("Y", F, ["b", "n"])])


PYTHON = config().replace("onnxruntime", "python")


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ({"m/1/model.onnx": graph([X], [Y])}, {"m/config.pbtxt": PYTHON, "m/1/model.py": "x"}, "unproven"),
        ({"m/config.pbtxt": config().replace("onnxruntime", "tensorflow"), "m/1/model.savedmodel/saved_model.pb": b"x"},
         {"m/config.pbtxt": PYTHON, "m/1/model.py": "x"}, "unproven"),
        ({"m/config.pbtxt": config().replace("onnxruntime", "tensorflow"), "m/1/model.graphdef": b"x"},
         {"m/1/model.onnx": graph([X], [Y])}, "unproven"),
        # what another model of the repository holds does not stand for this one
        ({"m/1/model.onnx": graph([X], [Y]), "n/config.pbtxt": PYTHON.replace('"m"', '"n"'), "n/1/model.py": "x"},
         {"n/config.pbtxt": PYTHON.replace('"m"', '"n"'), "n/1/model.py": "x"}, "breaks"),
        ({"m/1/model.onnx": graph([X], [Y])}, {"m/1/model.plan": b"x"}, "breaks"),
        ({"m/1/model.onnx": graph([X], [Y])}, {"m/config.pbtxt": PYTHON, "m/1/model.onnx": graph([X], [Y])}, "breaks"),
        ({"m/1/model.onnx": graph([X], [Y])}, {"m/config.pbtxt": PYTHON.replace("[4]", "[5]"), "m/1/model.py": "x"},
         "breaks"),
    ],
)  # fmt: skip
def test_another_backend_for_the_same_promises(
    tmp_path: Path, old: dict[str, Any], new: dict[str, Any], verdict: str
) -> None:
    sides = [folder(tmp_path / side, {"m/config.pbtxt": config(), **files}) for side, files in (("a", old), ("b", new))]
    report = validate(sides[1], sides[0], contract=Contract())
    assert report.facts["verdict"] == verdict, report.findings


def test_another_container_without_triton_asks_for_another_server(tmp_path: Path) -> None:
    sides = (
        folder(tmp_path / "a", {"saved_model.pb": b"x", "a.onnx": graph([X], [Y])}),
        folder(tmp_path / "b", {"model.engine": b"x", "a.onnx": graph([X], [Y])}),
    )
    report = validate(sides[1], sides[0], contract=Contract())
    assert [each.level for each in report.findings if each.rule == "FIL-FORMAT"] == ["restart"]
