"""How many features a model asks for, where the graph leaves the width open, and how large its outputs are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.graph.shapes.samples import sampled
from interlock.models.onnx import parse_onnx
from interlock.models.onnx_lists import largest, length
from interlock.models.source import MemorySource
from validate.graphs import NONE, judge, model, node, read, session, value, weight, whole

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
np = pytest.importorskip("numpy")
helper, proto = onnx.helper, onnx.TensorProto
RBF = {"kernel_type": "RBF", "kernel_params": [1.0, 0.0, 0.0], "rho": [0.0]}


def classic(*nodes: Any, width: Any = None, rank: Any = NONE) -> bytes:
    graph = helper.make_graph(list(nodes), "g", [value("x", [None, width])], [value("y", rank)], [])
    imports = [helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


def ml(op: str, outputs: Any = ("y",), inputs: Any = ("x",), **attributes: Any) -> Any:
    return node(op, list(inputs), list(outputs), domain="ai.onnx.ml", **attributes)


def tree(width: int, leaf: float = 1.0) -> Any:
    """Trees of one decision each, a tree a feature."""
    ids = [i for i in range(width) for _ in range(3)]
    return ml(
        "TreeEnsembleRegressor",
        n_targets=1,
        nodes_treeids=ids,
        nodes_nodeids=[0, 1, 2] * width,
        nodes_featureids=[i for feature in range(width) for i in (width - 1 - feature, 0, 0)],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"] * width,
        nodes_values=[0.5, 0.0, 0.0] * width,
        nodes_truenodeids=[1, 0, 0] * width,
        nodes_falsenodeids=[2, 0, 0] * width,
        target_ids=[0, 0] * width,
        target_nodeids=[1, 2] * width,
        target_treeids=[i for i in range(width) for _ in range(2)],
        target_weights=[leaf, 2.0] * width,
    )


def linear(width: int, scale: float = 1.0) -> Any:
    return ml("LinearRegressor", coefficients=[scale] * width, intercepts=[scale])


def classifier(width: int, scale: float = 1.0) -> list[Any]:
    label = ml(
        "LinearClassifier",
        ("l", "y"),
        coefficients=[scale] * 3 * width,
        intercepts=[scale] * 3,
        classlabels_ints=[0, 1, 2],
    )
    return [label]


def vectors(width: int, scale: float = 1.0) -> Any:
    return ml("SVMRegressor", coefficients=[scale] * 3, n_supports=3, support_vectors=[scale] * 3 * width, **RBF)


def scaled(width: int, scale: float = 1.0) -> Any:
    return ml("Scaler", offset=[0.0] * width, scale=[scale] * width)


def neighbours(width: int, scale: float = 1.0) -> bytes:
    """Distances of every row to two others, one a slice."""
    inner = [node("Sub", ["all", "one"], ["d"]), node("ReduceSumSquare", ["d"], ["r"], axes=[1], keepdims=0)]
    inner += [node("Identity", ["all"], ["same"])]
    body = helper.make_graph(
        inner, "b", [value("all", NONE), value("one", [None])], [value("same", NONE), value("r", [None])]
    )
    table = onnx.numpy_helper.from_array(np.full((2, width), scale, np.float32), "t")
    nodes = [node("Scan", ["x", "t"], ["s", "y"], body=body, num_scan_inputs=1)]
    return model(nodes, [value("x", NONE)], [value("y", NONE)], [table])


def plain(width: int, scale: float = 1.0) -> bytes:
    """Standardised in operators of the standard domain."""
    mean = onnx.numpy_helper.from_array(np.full(width, scale, np.float32), "m")
    nodes = [node("Sub", ["x", "m"], ["d"]), node("MatMul", ["d", "w"], ["y"])]
    return model(nodes, [value("x", NONE)], [value("y", NONE)], [mean, weight("w", width, 2)])


def product(width: int, scale: float = 1.0) -> bytes:
    factor = onnx.numpy_helper.from_array(np.full((width, 2), scale, np.float32), "w")
    return model([node("MatMul", ["x", "w"], ["y"])], [value("x", NONE)], [value("y", NONE)], [factor])


EXACT = {
    "linear": lambda width, scale=1.0: classic(linear(width, scale)),
    "classifier": lambda width, scale=1.0: classic(*classifier(width, scale)),
    "vectors": lambda width, scale=1.0: classic(vectors(width, scale)),
    "scaler": lambda width, scale=1.0: classic(scaled(width, scale)),
    "neighbours": neighbours,
    "plain": plain,
    "product": product,
}
FORMS = {**EXACT, "trees": lambda width, scale=1.0: classic(tree(width, scale))}


def runs(data: bytes, width: int) -> Any:
    running = session(data)
    try:
        return running.run(["y"], {"x": np.ones((2, width), np.float32)})[0]
    except Exception:  # noqa: BLE001 - what the runtime says about a wrong width is of many kinds
        return None


@pytest.mark.parametrize("name", FORMS)
def test_a_retrained_model_of_the_same_width_is_hot(name: str, tmp_path: Path) -> None:
    for width in (2, 4, 6):
        data = FORMS[name](width, 2.0)
        assert judge(tmp_path, data, FORMS[name](width)) == {}
        assert judge(tmp_path, data) == {}
        result, shape = runs(data, width), read(data)[1].shape("y")
        assert result is not None
        if shape is not None:
            assert [got for (got, names) in shape if not names] == [
                size for size, (_, names) in zip(result.shape, shape, strict=True) if not names
            ]


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("width", [3, 6])
def test_another_width_breaks_where_the_declaration_hides_it(name: str, width: int, tmp_path: Path) -> None:
    level, text = judge(tmp_path, EXACT[name](width), EXACT[name](4))["ONX-SHAPE"]
    assert (level, text) == ("breaks", f"input 'x' axis 1 only works with another size: 4 → {width}")
    if width == 3 or name not in ("linear", "classifier"):  # with fewer features linear models read what is there
        assert runs(EXACT[name](width), 4) is None


def test_trees_ask_for_as_many_features_as_they_read(tmp_path: Path) -> None:
    few, many = classic(tree(4)), classic(tree(6))
    assert runs(many, 4) is None
    assert runs(few, 6) is not None
    assert judge(tmp_path, many, few)["ONX-SHAPE"] == ("unproven", "input 'x' axis 1 needs a larger size: 4 → 6")
    assert judge(tmp_path, few, many) == {}
    assert judge(tmp_path, many, classic(linear(4)))["ONX-SHAPE"][0] == "breaks"
    assert "ONX-SHAPE" not in judge(tmp_path, many, classic(linear(6)))
    assert "ONX-SHAPE" not in judge(tmp_path, classic(linear(6)), many)
    assert judge(tmp_path, classic(linear(8)), many)["ONX-SHAPE"][0] == "unproven"
    assert judge(tmp_path, classic(linear(4)), many)["ONX-SHAPE"][0] == "breaks"


def test_trees_that_read_past_a_declared_width_are_inconsistent(tmp_path: Path) -> None:
    new = classic(tree(6), width=4)
    assert runs(new, 4) is None
    level, text = judge(tmp_path, new)["ONX-SHAPE"]
    assert level == "breaks"
    assert "reads feature 5" in text
    assert judge(tmp_path, classic(tree(4), width=4)) == {}
    assert judge(tmp_path, classic(tree(3), width=4), classic(tree(4), width=4)) == {}


def test_lists_are_measured_unpacked_and_packed() -> None:
    data = classic(tree(300, 2.0))
    source = MemorySource(data, "m")
    found = {each.name: each for each in parse_onnx(source, "m").graph.nodes[0].attributes}
    assert length(source, found["nodes_featureids"]) == 900
    assert largest(source, found["nodes_featureids"]) == 299
    assert length(source, found["target_weights"]) == 600
    assert length(source, found["nodes_modes"]) == 900
    assert length(source, found["n_targets"]) == 0


def kernel(name: str, *dims: int, scale: float = 1.0) -> Any:
    return onnx.numpy_helper.from_array(np.full(dims, scale, np.float32), name)


def image(*nodes: Any, scale: float = 1.0, more: Any = ()) -> bytes:
    """Operators on a picture of any size, from x to y; `w` is a filter of three by three."""
    inputs, outputs = [value("x", ["n", 1, "h", "w_"])], [value("y", ["n", 1, "a", "b"])]
    return model(list(nodes), inputs, outputs, [kernel("w", 1, 1, 3, 3, scale=scale), *more])


def filtered(stride: int = 1, scale: float = 1.0, **how: Any) -> bytes:
    how = how or {"pads": [1, 1, 1, 1]}
    return image(node("Conv", ["x", "w"], ["y"], strides=[stride] * 2, **how), scale=scale)


def up(stride: int, scale: float = 1.0) -> bytes:
    return image(node("ConvTranspose", ["x", "w"], ["y"], strides=[stride] * 2), scale=scale)


def pooled(size: int, scale: float = 1.0) -> bytes:
    nodes = [
        node("Conv", ["x", "w"], ["a"]),
        node("MaxPool", ["a"], ["y"], kernel_shape=[size] * 2, strides=[size] * 2),
    ]
    return image(*nodes, scale=scale)


def resized(factor: float, scale: float = 1.0) -> bytes:
    nodes = [node("Conv", ["x", "w"], ["a"]), node("Resize", ["a", "", "s"], ["y"], mode="nearest")]
    return image(
        *nodes, scale=scale, more=[onnx.numpy_helper.from_array(np.array([1, 1, factor, factor], np.float32), "s")]
    )


def frames(step: int, scale: float = 1.0) -> bytes:
    given = [whole("s", step), kernel("w", 16, scale=scale)]
    return model([node("STFT", ["x", "s", "w"], ["y"])], [value("x", ["n", "t", 1])], [value("y", [None] * 4)], given)


RATIOS = [
    ("stride", filtered(2), filtered()),
    ("another stride", filtered(4), filtered(2)),
    ("stride of equal padding", filtered(2, auto_pad="SAME_UPPER"), filtered()),
    ("padding", filtered(pads=[0, 0, 0, 0]), filtered()),
    ("transposed", up(4), up(2)),
    ("pool", pooled(4), pooled(2)),
    ("factor", resized(0.5), resized(2)),
    ("frames", frames(4), frames(8)),
    ("one to all", filtered(), image(node("GlobalAveragePool", ["x"], ["y"]))),
    ("all to one", image(node("GlobalAveragePool", ["x"], ["y"])), filtered()),
]
RATIO_HOT = [
    ("stride", filtered(2, 2.0), filtered(2)),
    ("transposed", up(2, 2.0), up(2)),
    ("pool", pooled(2, 2.0), pooled(2)),
    ("factor", resized(0.5, 2.0), resized(0.5)),
    ("factor up", resized(2, 2.0), resized(2)),
    ("frames", frames(8, 2.0), frames(8)),
    (
        "equal padding written out",
        filtered(1, pads=[1, 1, 1, 1]),
        filtered(1, auto_pad="SAME_UPPER"),
    ),
    (
        "a sum around the same filter",
        image(node("Conv", ["x", "w"], ["a"], pads=[1] * 4), node("Add", ["a", "x"], ["y"])),
        filtered(),
    ),
]


def sizes(data: bytes, shape: Any) -> Any:
    return session(data).run(None, {"x": np.ones(shape, np.float32)})[0].shape


def shape_of(data: bytes) -> Any:
    return (32, 32, 1) if b"STFT" in data else (32, 1, 32, 32)


@pytest.mark.parametrize(("name", "new", "old"), RATIOS, ids=[each[0] for each in RATIOS])
def test_another_share_of_the_input_breaks(name: str, new: bytes, old: bytes, tmp_path: Path) -> None:
    shape = shape_of(new)
    assert sizes(new, shape) != sizes(old, shape)
    level, text = judge(tmp_path, new, old)["ONX-SHAPE"]
    assert level == "breaks"
    axis = int(text.split("axis ")[1][0])
    for data, words in ((new, "is really"), (old, "was")):
        if words in text and "for an input of" in text:
            assert f"{words} {sizes(data, shape)[axis]}" in text
    assert judge(tmp_path, new) == {}


@pytest.mark.parametrize(("name", "new", "old"), RATIO_HOT, ids=[each[0] for each in RATIO_HOT])
def test_the_same_share_of_the_input_stays_hot(name: str, new: bytes, old: bytes, tmp_path: Path) -> None:
    assert sizes(new, shape_of(new)) == sizes(old, shape_of(old))
    assert "ONX-SHAPE" not in judge(tmp_path, new, old)


def test_the_same_size_by_another_formula_is_the_same(tmp_path: Path) -> None:
    halved = filtered(2, auto_pad="SAME_UPPER")
    assert read(halved)[1].shape("y") != read(filtered(2))[1].shape("y")
    assert "ONX-SHAPE" not in judge(tmp_path, filtered(2), halved)


@pytest.mark.parametrize("data", [each[1] for each in RATIOS], ids=[each[0] for each in RATIOS])
def test_samples_are_what_the_runtime_gives(data: bytes) -> None:
    shape = read(data)[1].shape("y") or ()
    assert len(shape) == 4
    for term, size in zip(shape, sizes(data, shape_of(data)), strict=True):
        found = sampled(term)
        assert found is not None
        assert found[0][0] == size


def placed(length: int, scale: float = 1.0, op: str = "Add") -> bytes:
    """A table of positions, cut to the length of the input."""
    nodes = [
        node("Shape", ["x"], ["s"], start=1, end=2),
        node("Slice", ["pe", "zero", "s", "one"], ["p"]),
        node(op, ["x", "p"], ["h"]),
        node("MatMul", ["h", "w"], ["y"]),
    ]
    weights = [kernel("pe", 1, length, 4, scale=scale), kernel("w", 4, 2, scale=scale)]
    given = [whole("zero", [0]), whole("one", [1]), *weights]
    return model(nodes, [value("x", ["n", "t", 4])], [value("y", ["n", "t", 2])], given)


def test_a_shorter_table_that_is_cut_to_the_input_breaks(tmp_path: Path) -> None:
    running = session(placed(32))
    assert running.run(None, {"x": np.ones((2, 32, 4), np.float32)})[0].shape == (2, 32, 2)
    with pytest.raises(Exception, match="broadcast"):
        running.run(None, {"x": np.ones((2, 33, 4), np.float32)})
    found = judge(tmp_path, placed(32), placed(512))
    assert found["ONX-SHAPE"] == ("breaks", "input 'x' axis 1 only works up to a smaller size: 512 → 32")
    assert read(placed(32))[1].most["x[1]"][0] == 32


@pytest.mark.parametrize("new", [placed(512, 2.0), placed(1024, 2.0)])
def test_a_table_as_long_or_longer_stays_hot(new: bytes, tmp_path: Path) -> None:
    assert "ONX-SHAPE" not in judge(tmp_path, new, placed(512))
    assert judge(tmp_path, new) == {}
