"""The GGUF reader agrees with the gguf library, in both byte orders, and refuses hostile headers."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interlock.models.errors import UnreadableModel
from interlock.models.gguf import TENSOR_TYPES, GgufArray, GgufModel, parse_gguf, read_array, read_gguf
from interlock.models.source import TRUNCATED, MemorySource
from interlock.models.tree import TreeFile

np = pytest.importorskip("numpy")
gguf = pytest.importorskip("gguf")


def write(path: Path, tokens: list[bytes], *, big: bool = False) -> Path:
    order = gguf.GGUFEndian.BIG if big else gguf.GGUFEndian.LITTLE
    writer = gguf.GGUFWriter(path, "llama", endianess=order)
    writer.add_context_length(8192)
    writer.add_bool("general.flag", True)
    writer.add_float32("llama.rope.freq_base", 10000.0)
    writer.add_token_list(tokens)
    writer.add_token_scores([float(i) for i in range(len(tokens))])
    writer.add_token_types([1] * len(tokens))
    writer.add_tensor("token_embd.weight", np.zeros((len(tokens), 32), np.float16))
    writer.add_tensor("output_norm.weight", np.ones(32, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def entry(path: Path) -> TreeFile:
    return TreeFile(path.name, path, path.stat().st_size, "gguf")


def parse(data: bytes) -> GgufModel:
    return parse_gguf(MemorySource(data, "m.gguf"), "m.gguf")


@pytest.mark.parametrize("big", [False, True])
def test_agrees_with_the_library(tmp_path: Path, big: bool) -> None:
    tokens = [b"a", b"", "é".encode(), b"\xff\xfe", b"x" * 70_000, *(b"t%d" % i for i in range(3000))]
    path = write(tmp_path / "m.gguf", tokens, big=big)
    model, reader = read_gguf(entry(path)), gguf.GGUFReader(path)
    assert {t.name: (t.data_offset, t.n_bytes, tuple(t.shape.tolist())) for t in reader.tensors} == {
        name: (t.begin, t.end - t.begin, t.dims) for name, t in model.tensors.items()
    }
    assert model.metadata["llama.context_length"] == 8192
    assert model.get("context_length") == 8192
    assert model.metadata["general.flag"] is True
    assert model.architecture == "llama"
    array = model.metadata["tokenizer.ggml.tokens"]
    assert isinstance(array, GgufArray)
    assert read_array(entry(path), model, array) == tokens
    scores = read_array(entry(path), model, model.metadata["tokenizer.ggml.scores"])
    assert scores == [float(i) for i in range(len(tokens))]


def test_knows_the_block_sizes_of_the_library() -> None:
    ours = {name: (block, size) for name, block, size in TENSOR_TYPES.values()}
    for kind, sizes in gguf.constants.GGML_QUANT_SIZES.items():
        assert ours[kind.name] == tuple(sizes)
        assert TENSOR_TYPES[int(kind)][0] == kind.name


def text(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


def header(tensors: int, keys: int, rest: bytes = b"", version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys) + rest


def tensor(name: bytes, dims: list[int], kind: int, offset: int) -> bytes:
    return text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)


BAD: dict[str, bytes] = {
    "empty": b"",
    "other magic": b"GGML" + bytes(40),
    "version 1": header(0, 0, bytes(40), version=1),
    "2^60 tensors": header(1 << 60, 0, bytes(40)),
    "2^60 keys": header(0, 1 << 60, bytes(40)),
    "key of 2^60 bytes": header(0, 1, struct.pack("<Q", 1 << 60) + bytes(40)),
    "string of 2^60 bytes": header(0, 1, text(b"k") + struct.pack("<IQ", 8, 1 << 60) + bytes(40)),
    "array of 2^60 strings": header(0, 1, text(b"k") + struct.pack("<IIQ", 9, 8, 1 << 60) + bytes(40)),
    "array of 2^60 floats": header(0, 1, text(b"k") + struct.pack("<IIQ", 9, 6, 1 << 60) + bytes(40)),
    "array beyond the file": header(0, 1, text(b"k") + struct.pack("<IIQ", 9, 6, 1000) + bytes(40)),
    "string in an array beyond the file": header(
        0, 1, text(b"k") + struct.pack("<IIQ", 9, 8, 2) + text(b"a") + struct.pack("<Q", 1 << 62) + bytes(40)
    ),
    "arrays of arrays of arrays": header(0, 1, text(b"k") + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 50),
    "unknown value type": header(0, 1, text(b"k") + struct.pack("<I", 99) + bytes(40)),
    "same key twice": header(0, 2, (text(b"k") + struct.pack("<II", 4, 1)) * 2 + bytes(40)),
    "unknown tensor type": header(1, 0, tensor(b"t", [1], 99, 0) + bytes(64)),
    "nine dimensions": header(1, 0, tensor(b"t", [1] * 9, 0, 0) + bytes(64)),
    "elements overflow": header(1, 0, tensor(b"t", [1 << 62, 1 << 62], 0, 0) + bytes(64)),
    "no whole blocks": header(1, 0, tensor(b"t", [33], 2, 0) + bytes(64)),
    "same tensor twice": header(2, 0, tensor(b"t", [1], 0, 0) + tensor(b"t", [1], 0, 32) + bytes(128)),
    "overlap": header(2, 0, tensor(b"a", [16], 0, 0) + tensor(b"b", [16], 0, 32) + bytes(256)),
    "alignment zero": header(0, 1, text(b"general.alignment") + struct.pack("<II", 4, 0) + bytes(40)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_headers_are_refused(name: str) -> None:
    with pytest.raises(UnreadableModel) as caught:
        parse(BAD[name])
    assert caught.value.what == "m.gguf"


def test_truncated_data_says_so() -> None:
    whole = header(1, 0, tensor(b"t", [64], 0, 0))
    whole += bytes(-len(whole) % 32 + 256)
    assert parse(whole).tensors["t"].dims == (64,)
    with pytest.raises(UnreadableModel, match="1 bytes of tensor 't' are missing") as caught:
        parse(whole[:-1])
    assert caught.value.hint == TRUNCATED


SAMPLE = header(
    1,
    2,
    text(b"general.architecture")
    + struct.pack("<I", 8)
    + text(b"llama")
    + text(b"t")
    + struct.pack("<IIQ", 9, 8, 3)
    + text(b"a") * 3
    + tensor(b"w", [4], 0, 0)
    + bytes(80),
)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_bytes_never_crash(choice: st.DataObject) -> None:
    damaged: Any = bytearray(SAMPLE)
    for _ in range(choice.draw(st.integers(1, 5))):
        damaged[choice.draw(st.integers(0, len(damaged) - 1))] = choice.draw(st.integers(0, 255))
    try:
        parse(bytes(damaged[: choice.draw(st.integers(0, len(damaged)))]))
    except UnreadableModel as error:
        assert error.reason
