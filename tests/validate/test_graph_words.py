"""Settings that are one of a few words: ONNX Runtime loads what we let pass, and refuses what we tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from interlock.checks.validate.graph.words import WORDS
from validate.graph_cases import ML, model, weight
from validate.graphs import helper, judge, loads, node, proto, value
from validate.graphs import model as whole_model

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
IMAGE, MADE = "float[1,4,4,4] x", "float[A,B,C,D] y"
LAYER = "float[3,1,4] x"
TREE = (
    "nodes_treeids=[0,0,0], nodes_nodeids=[0,1,2], nodes_featureids=[0,0,0], nodes_values=[0.1,0.0,0.0], "
    "nodes_truenodeids=[1,0,0], nodes_falsenodeids=[2,0,0]"
)
TARGETS = "n_targets=1, target_treeids=[0,0], target_nodeids=[1,2], target_ids=[0,0], target_weights=[0.2,0.9]"
CLASSES = (
    "class_treeids=[0,0,0,0], class_nodeids=[1,1,2,2], class_ids=[0,1,0,1], class_weights=[0.2,0.8,0.9,0.1], "
    "classlabels_int64s=[0,1]"
)
LEAVES = '"LEAF", "LEAF"'
TABLE, NUMBER = "float[N,2] x", "float[N,1] y"
LABELLED = "int64[N] y, float[N,2] p"
SVM = "kernel_params=[0.5, 0.0, 3.0], coefficients=[1.0], rho=[0.1], n_supports=1, support_vectors=[0.1, 0.2]"
LINEAR = "coefficients=[1.0, 2.0], intercepts=[0.1]"
TWO = "coefficients=[1.0, 2.0, 0.5, 0.3], intercepts=[0.1, 0.2], classlabels_ints=[0, 1]"
# By operator: settings that it needs, its inputs as a call has them, and what the graph takes, gives and holds.
CALLS: dict[str, tuple[str, str, str, str, str]] = {
    **dict.fromkeys(("Conv", "ConvTranspose"), ("", "x, w", IMAGE, MADE, weight("w", 4, 4, 1, 1))),
    **dict.fromkeys(("AveragePool", "MaxPool", "LpPool"), ("kernel_shape=[1, 1]", "x", IMAGE, MADE, "")),
    "Resize": ("", "x, r, f", IMAGE, MADE, "float[8] r = {0, 0, 0, 0, 1, 1, 1, 1}, float[4] f = {1, 1, 2, 2}"),
    "Pad": ("", "x, p", IMAGE, MADE, "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}"),
    "DepthToSpace": ("blocksize=2", "x", IMAGE, MADE, ""),
    "GridSample": ("", "x, g", IMAGE, MADE, weight("g", 1, 2, 2, 2)),
    "Normalizer": ("", "x", TABLE, "float[N,2] y", ""),
    "StringNormalizer": ('locale="C"', "x", "string[N] x", "string[N] y", ""),
    "LinearClassifier": (TWO, "x", TABLE, LABELLED, ""),
    "LinearRegressor": (LINEAR, "x", TABLE, NUMBER, ""),
    "SVMRegressor": (SVM, "x", TABLE, NUMBER, ""),
    "TreeEnsembleClassifier": (f"{TREE}, {CLASSES}", "x", TABLE, LABELLED, ""),
    "TreeEnsembleRegressor": (f"{TREE}, {TARGETS}", "x", TABLE, NUMBER, ""),
    **{
        op: ("hidden_size=3", "x, w, r", LAYER, MADE, f"{weight('w', 1, 3 * n, 4)}, {weight('r', 1, 3 * n, 3)}")
        for op, n in GATES.items()
    },
}
OF_ML = {"TreeEnsembleClassifier", "TreeEnsembleRegressor", "LinearClassifier", "LinearRegressor", "SVMRegressor"} | {
    "Normalizer"
}


def made(op: str, name: str, word: str, opset: int = 19) -> bytes:
    """A model of one operator with one word."""
    settings, inputs, takes, gives, held = CALLS[op]
    said = f'{name}=["{word}", {LEAVES}]' if name == "nodes_modes" else f'{name}="{word}"'
    if "TreeEnsemble" in op and name != "nodes_modes":
        said += f', nodes_modes=["BRANCH_LEQ", {LEAVES}]'
    if op == "SVMRegressor" and name != "kernel_type":
        said += ', kernel_type="RBF"'
    if op == "Resize" and name == "nearest_mode":
        said += ', mode="nearest"'
    outputs = ", ".join(each.split()[-1] for each in gives.split(", "))
    call = f"{outputs} = {f'{ML}.' if op in OF_ML else ''}{op} <{', '.join(each for each in (settings, said) if each)}>"
    head = f'<ir_version: 8, opset_import: ["": {opset}, "{ML}": 3]>'
    if word == "bidirectional":
        held = f"{weight('w', 2, 3 * GATES[op], 4)}, {weight('r', 2, 3 * GATES[op], 3)}"
    weights = f" <{held}>" if held else ""
    return model(f"{head} g ({takes}) => ({gives}){weights} {{ {call} ({inputs}) }}").SerializeToString()


# Words of later versions of the operator set than the one here.
LATER = {("GridSample", "linear"), ("GridSample", "cubic")}
CASES = [(op, name) for op, settings in WORDS.items() for name in settings]


@pytest.mark.parametrize(("op", "name"), CASES)
def test_the_runtime_knows_the_same_words(op: str, name: str, tmp_path: Path) -> None:
    strange = made(op, name, "FOO")
    assert judge(tmp_path, strange)["ONX-OP"][0] == "breaks"
    assert not loads(strange)
    for word in WORDS[op][name].split():
        plain = made(op, name, word, 20 if (op, word) in LATER else 19)
        assert "ONX-OP" not in judge(tmp_path, plain)
        assert loads(plain), word


@pytest.mark.parametrize("op", ["Conv", "MaxPool"])
def test_an_empty_word_is_the_default(op: str, tmp_path: Path) -> None:
    empty = made(op, "auto_pad", "")
    assert loads(empty)
    assert "ONX-OP" not in judge(tmp_path, empty)


@pytest.mark.parametrize("opset", [16, 19, 20, 22])
@pytest.mark.parametrize("word", ["linear", "bilinear", "nearest", "cubic", "bicubic"])
def test_words_that_changed_are_those_of_the_version(word: str, opset: int, tmp_path: Path) -> None:
    sampled = made("GridSample", "mode", word, opset)
    said = judge(tmp_path, sampled).get("ONX-OP")
    assert (said is None) == loads(sampled)
    assert said is None or said[0] == "breaks"
    assert said is None or f"at version {opset}" in said[1]


@pytest.mark.parametrize("dims", [(), (1,), (1, 1), (2,)])
def test_a_filling_value_is_a_list_of_one(dims: tuple[int, ...], tmp_path: Path) -> None:
    tensor = helper.make_tensor("v", proto.FLOAT, dims, [0.0] * (2 if dims == (2,) else 1))
    filling = [node("ConstantOfShape", ["x"], ["y"], value=tensor)]
    filled = whole_model(filling, [value("x", (2,), proto.INT64)], [value("y", ("a", "b"))])
    said = judge(tmp_path, filled).get("ONX-OP")
    assert (said is None) == loads(filled) == (dims == (1,))
    assert said is None or said[0] == "breaks"
