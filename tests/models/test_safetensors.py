"""The safetensors reader agrees with the library, and refuses what the format forbids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interlock.models.errors import UnreadableModel
from interlock.models.safetensors import BITS, Header, parse_header
from interlock.models.source import TRUNCATED, MemorySource
from interlock.models.tree import read_tree
from interlock.models.weights import main_table, read_weights

np = pytest.importorskip("numpy")
library = pytest.importorskip("safetensors.numpy")
F32: dict[str, Any] = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def build(header: dict[str, Any] | bytes, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def parse(data: bytes) -> Header:
    return parse_header(MemorySource(data, "m.safetensors"), "m.safetensors")


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.text(min_size=1, max_size=12).filter(lambda name: name != "__metadata__"),
        st.tuples(st.sampled_from(["f4", "f2", "i8", "u1", "b1"]), st.lists(st.integers(0, 4), max_size=3)),
        max_size=6,
    ),
    st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2),
)
def test_agrees_with_the_library(shapes: dict[str, tuple[str, list[int]]], metadata: dict[str, str]) -> None:
    arrays = {name: np.zeros(shape, kind) for name, (kind, shape) in shapes.items()}
    header = parse(library.save(arrays, metadata or None))
    assert {name: (tensor.shape, tensor.size) for name, tensor in header.tensors.items()} == {
        name: (array.shape, array.nbytes) for name, array in arrays.items()
    }
    assert header.metadata == metadata


BAD: dict[str, bytes] = {
    "empty": b"",
    "five bytes": b"12345",
    "header of 2^60 bytes": (1 << 60).to_bytes(8, "little") + b"{}",
    "header beyond the file": (100).to_bytes(8, "little") + b"{}",
    "not JSON": build(b"{nope"),
    "a JSON list": build(b"[]"),
    "not UTF-8": build(b'{"\xff": 1}'),
    "duplicate name": build(b'{"a":%s,"a":%s}' % ((json.dumps(F32).encode(),) * 2), bytes(8)),
    "NaN": build(b'{"a":{"dtype":"F32","shape":[NaN],"data_offsets":[0,8]}}', bytes(8)),
    "nested a million deep": build(b'{"a":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}"),
    "integer of 5000 digits": build(b'{"a":{"dtype":"F32","shape":[' + b"9" * 5000 + b'],"data_offsets":[0,8]}}'),
    "unknown dtype": build({"a": {**F32, "dtype": "F33"}}, bytes(8)),
    "dtype is a list": build({"a": {**F32, "dtype": []}}, bytes(8)),
    "negative size": build({"a": {**F32, "shape": [-2]}}, bytes(8)),
    "size is true": build({"a": {**F32, "shape": [True]}}, bytes(8)),
    "offsets backwards": build({"a": {**F32, "data_offsets": [8, 0]}}, bytes(8)),
    "three offsets": build({"a": {**F32, "data_offsets": [0, 8, 9]}}, bytes(8)),
    "offsets overflow": build({"a": {**F32, "data_offsets": [0, 1 << 70]}}, bytes(8)),
    "span is not the size": build({"a": {**F32, "shape": [3]}}, bytes(8)),
    "product overflows": build({"a": {**F32, "shape": [1 << 40] * 40}}, bytes(8)),
    "a thousand dimensions": build({"a": {**F32, "shape": [2**62] * 1000}}, bytes(8)),
    "overlap": build({"a": F32, "b": {**F32, "data_offsets": [4, 12]}}, bytes(12)),
    "gap": build({"a": F32, "b": {**F32, "data_offsets": [12, 20]}}, bytes(20)),
    "bytes at the end": build({"a": F32}, bytes(9)),
    "metadata of numbers": build({"__metadata__": {"a": 1}}),
    "no offsets": build({"a": {"dtype": "F32", "shape": [2]}}, bytes(8)),
    "entry is a string": build({"a": "F32"}, bytes(8)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_headers_are_refused(name: str) -> None:
    with pytest.raises(UnreadableModel) as caught:
        parse(BAD[name])
    assert caught.value.what == "m.safetensors"
    assert len(str(caught.value)) < 500


def test_truncated_data_says_so() -> None:
    with pytest.raises(UnreadableModel, match="truncated: 3 of") as caught:
        parse(build({"a": F32}, bytes(5)))
    assert caught.value.hint == TRUNCATED


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_never_crash(noise: bytes) -> None:
    for payload in (noise, build(noise)):
        try:
            parse(payload)
        except UnreadableModel as error:
            assert error.reason


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_bytes_never_crash(choice: st.DataObject) -> None:
    whole = bytearray(build({"a": F32, "b": {**F32, "data_offsets": [8, 16]}}, bytes(16)))
    for _ in range(choice.draw(st.integers(1, 4))):
        whole[choice.draw(st.integers(0, len(whole) - 1))] = choice.draw(st.integers(0, 255))
    try:
        parse(bytes(whole))
    except UnreadableModel as error:
        assert error.reason


def test_every_dtype_of_the_library_is_known() -> None:
    assert set(BITS) >= {"F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2", "I64", "I32", "U8", "BOOL", "F4", "C64"}


def shards(folder: Path, **files: dict[str, Any]) -> None:
    folder.mkdir(exist_ok=True)
    for name, tensors in files.items():
        header, at = {}, 0
        for tensor in tensors:
            header[tensor] = {**F32, "data_offsets": [at, at + 8]}
            at += 8
        (folder / f"model-{name}.safetensors").write_bytes(build(header, bytes(at)))


def index(folder: Path, mapping: dict[str, str], total: int | None = None) -> None:
    document: dict[str, Any] = {"metadata": {"total_size": total} if total is not None else {}, "weight_map": mapping}
    (folder / "model.safetensors.index.json").write_text(json.dumps(document))


def test_shards_merge_by_their_index(tmp_path: Path) -> None:
    shards(tmp_path, one={"a": 1}, two={"b": 1})
    index(tmp_path, {"a": "model-one.safetensors", "b": "model-two.safetensors"}, 16)
    table = main_table(read_weights(read_tree(tmp_path)))
    assert table is not None
    assert set(table.tensors) == {"a", "b"}
    assert (table.size, table.faults) == (16, ())


def test_an_index_that_disagrees_is_told(tmp_path: Path) -> None:
    shards(tmp_path, one={"a": 1, "c": 1}, two={"b": 1})
    index(tmp_path, {"a": "model-two.safetensors", "b": "model-two.safetensors", "c": "model-one.safetensors"})
    table = main_table(read_weights(read_tree(tmp_path)))
    assert table is not None
    assert any("'a' is not in model-two" in fault for fault in table.faults)
    assert any("'a' is in model-one" in fault for fault in table.faults)


@pytest.mark.parametrize(
    "shard", ["../secret.safetensors", "/etc/passwd", "a\\b", "model-three.safetensors", "x/../../y"]
)
def test_an_index_that_leads_out_or_nowhere_is_refused(tmp_path: Path, shard: str) -> None:
    shards(tmp_path / "m", one={"a": 1})
    (tmp_path / "secret.safetensors").write_bytes(build({"a": F32}, bytes(8)))
    index(tmp_path / "m", {"a": shard})
    with pytest.raises(UnreadableModel, match="shard"):
        read_weights(read_tree(tmp_path / "m"))


def test_a_missing_number_is_refused(tmp_path: Path) -> None:
    shards(tmp_path, **{"00001-of-00002": {"a": 1}})
    with pytest.raises(UnreadableModel, match="1 of 2 shards"):
        read_weights(read_tree(tmp_path))
