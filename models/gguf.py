"""Headers of GGUF files: metadata and tensor places, streamed; arrays are skipped until somebody asks for them.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Magic `GGUF`, version, tensor count, key count, the
key-value pairs, the tensor infos, padding to `general.alignment`, the data. Versions 2 and 3, both byte orders.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple, cast

from .errors import UnreadableModel
from .source import TRUNCATED, Source, open_file
from .tree import TreeFile

MAX_KEYS = 100_000
MAX_TENSORS = 1_000_000
MAX_ITEMS = 20_000_000
MAX_ARRAYS = 100_000  # arrays in arrays, which nobody is known to write
_CHUNK = 1 << 20

# Scalar types by number: struct code. 8 is a string, 9 an array.
_SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9

# ggml tensor types: number, name, elements in a block, bytes of a block (ggml.h and its quantisation structs).
_TYPES = """
    0:F32:1:4 1:F16:1:2 2:Q4_0:32:18 3:Q4_1:32:20 6:Q5_0:32:22 7:Q5_1:32:24 8:Q8_0:32:34 9:Q8_1:32:40 10:Q2_K:256:84
    11:Q3_K:256:110 12:Q4_K:256:144 13:Q5_K:256:176 14:Q6_K:256:210 15:Q8_K:256:292 16:IQ2_XXS:256:66 17:IQ2_XS:256:74
    18:IQ3_XXS:256:98 19:IQ1_S:256:50 20:IQ4_NL:32:18 21:IQ3_S:256:110 22:IQ2_S:256:82 23:IQ4_XS:256:136 24:I8:1:1
    25:I16:1:2 26:I32:1:4 27:I64:1:8 28:F64:1:8 29:IQ1_M:256:56 30:BF16:1:2 34:TQ1_0:256:54 35:TQ2_0:256:66
    39:MXFP4:32:17 40:NVFP4:64:36 41:Q1_0:128:18
"""
TENSOR_TYPES = {
    int(number): (name, int(block), int(size))
    for number, name, block, size in (each.split(":") for each in _TYPES.split())
}


class GgufArray(NamedTuple):
    """An array of the metadata that was skipped: element type, length, and its bytes in the file."""

    type: int
    length: int
    begin: int
    end: int


class GgufTensor(NamedTuple):
    """A tensor: ggml type, dims in ggml's order (fastest first), and its bytes in the file."""

    type: str
    dims: tuple[int, ...]
    begin: int
    end: int


@dataclass(slots=True)
class GgufModel:
    """A GGUF file's metadata and tensors by name. Arrays are `GgufArray` until `read_array` decodes them."""

    file: str
    size: int
    version: int
    little: bool = True
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    tensors: dict[str, GgufTensor] = field(default_factory=dict[str, GgufTensor])
    data_begin: int = 0

    @property
    def architecture(self) -> str:
        """general.architecture."""
        return str(self.metadata.get("general.architecture", ""))

    def get(self, key: str) -> Any:
        """A key below the architecture's prefix, such as `context_length`."""
        return self.metadata.get(f"{self.architecture}.{key}")


def read_gguf(file: TreeFile) -> GgufModel:
    """The header of a GGUF file. Raises UnreadableModel where it is malformed, truncated or not GGUF."""
    with open_file(file.path) as source:
        return parse_gguf(source, file.name)


def read_array(file: TreeFile, model: GgufModel, array: GgufArray) -> list[Any]:
    """The items of a skipped array; strings as bytes, for tokens need not be UTF-8."""
    with open_file(file.path) as source:
        data = source.read(array.begin, array.end - array.begin)
    order = "<" if model.little else ">"
    if array.type in _SCALARS:
        return list(struct.unpack(f"{order}{array.length}{_SCALARS[array.type]}", data))
    if array.type != STRING:
        raise UnreadableModel(file.path, "has an array of arrays where a list was wanted", offset=array.begin)
    unpack = struct.Struct(order + "Q").unpack_from
    items: list[Any] = []
    at = 0
    for _ in range(array.length):
        end = at + 8 + unpack(data, at)[0]
        items.append(data[at + 8 : end])
        at = end
    return items


def parse_gguf(source: Source, file: str) -> GgufModel:
    """The header out of any source; `file` is what the model records as its name."""
    return _Reader(source).model(file)


class _Reader:
    """Reads forward through chunks; `at` is the next offset."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.at = 0
        self.order = "<"
        self.items = self.arrays = 0
        self._data = b""
        self._start = 0

    def fail(self, reason: str, at: int | None = None, hint: str = "") -> UnreadableModel:
        return UnreadableModel(self.source.name, reason, offset=self.at if at is None else at, hint=hint)

    def take(self, length: int) -> bytes:
        begin = self.at - self._start
        if begin < 0 or begin + length > len(self._data):
            if self.at + length > self.source.size:
                raise self.fail(f"ends inside its header: it is {self.source.size:,} bytes long", hint=TRUNCATED)
            # The first chunk is small: most headers without a vocabulary fit in it.
            self._data = self.source.read(self.at, max(length, _CHUNK if self.at else 1 << 16))
            self._start = self.at
            begin = 0
            if len(self._data) < length:
                raise self.fail("shrank while it was read")
        self.at += length
        return self._data[begin : begin + length]

    def number(self, code: str) -> Any:
        return struct.unpack(self.order + code, self.take(struct.calcsize("=" + code)))[0]

    def text(self, limit: int = 1 << 26) -> bytes:
        length = self.number("Q")
        if length > limit:
            raise self.fail(f"has a string of {length:,} bytes")
        return self.take(length)

    def model(self, file: str) -> GgufModel:
        if self.source.size < 24 or self.take(4) != b"GGUF":
            raise self.fail("does not start with GGUF", at=0, hint="is this a GGUF file?")
        version = self.number("I")
        if version & 0xFFFF == 0:  # a small number in the other byte order
            self.order = ">"
            version = int.from_bytes(version.to_bytes(4, "little"), "big")
        if version not in (2, 3):
            raise self.fail(f"has the GGUF version {version}; 2 and 3 are known", at=4)
        tensors, keys = self.number("Q"), self.number("Q")
        if tensors > MAX_TENSORS or keys > MAX_KEYS:
            raise self.fail(f"claims {tensors:,} tensors and {keys:,} keys", at=8)
        model = GgufModel(file, self.source.size, version, self.order == "<")
        for _ in range(keys):
            key = self.text(1 << 16).decode("utf-8", "replace")
            if key in model.metadata:
                raise self.fail(f"has the key {key[:80]!r} twice")
            model.metadata[key] = self.value(self.number("I"))
        self.tensors(model, tensors)
        return model

    def value(self, kind: int) -> Any:
        if kind in _SCALARS:
            return self.number(_SCALARS[kind])
        if kind == STRING:
            return self.text().decode("utf-8", "replace")
        if kind == ARRAY:
            return self.array()
        raise self.fail(f"has a value of the unknown type {kind}")

    def array(self, depth: int = 0) -> GgufArray:
        kind, count = self.number("I"), self.number("Q")
        begin = self.at
        self.items += count
        if self.items > MAX_ITEMS:
            raise self.fail(f"claims more than {MAX_ITEMS:,} array items")
        if kind in _SCALARS:
            self.skip(count * struct.calcsize("=" + _SCALARS[kind]))
        elif kind == STRING:
            self.skip_strings(count)
        elif kind == ARRAY and depth < 4:
            self.arrays += count
            if self.arrays > MAX_ARRAYS:
                raise self.fail(f"claims more than {MAX_ARRAYS:,} arrays in arrays")
            for _ in range(count):
                self.array(depth + 1)
        else:
            raise self.fail(f"has an array of the unknown type {kind}")
        return GgufArray(kind, count, begin, self.at)

    def skip(self, length: int) -> None:
        self.at += length
        if self.at > self.source.size:
            raise self.fail("ends inside an array", at=self.source.size, hint=TRUNCATED)

    def skip_strings(self, count: int) -> None:
        """Step from length to length. 260,000 tokens are usual, so the loop body is one unpack and one addition."""
        unpack = struct.Struct(self.order + "Q").unpack_from
        size = self.source.size
        done, at = 0, self.at
        while done < count:
            if at + 8 > size:
                raise self.fail("ends inside an array of strings", at=at, hint=TRUNCATED)
            if not self._start <= at < self._start + len(self._data) - 8:
                self._data, self._start = self.source.read(at, _CHUNK), at
            data, i = self._data, at - self._start
            try:
                for _ in range(count - done):
                    i += 8 + unpack(data, i)[0]
                    done += 1
            except (struct.error, OverflowError):
                pass  # the chunk ends here, or a length is absurd; the checks above tell at the next turn
            at = self._start + i
        if at > size:
            raise self.fail("ends inside an array of strings", at=size, hint=TRUNCATED)
        self.at = at

    def tensors(self, model: GgufModel, count: int) -> None:
        infos: dict[str, tuple[str, tuple[int, ...], int, int]] = {}
        for _ in range(count):
            name = self.text(1 << 16).decode("utf-8", "replace")
            if name in infos:
                raise self.fail(f"has the tensor {name[:80]!r} twice")
            axes = self.number("I")
            if axes > 8:
                raise self.fail(f"tensor {name[:80]!r} has {axes} dimensions")
            dims = tuple(cast("int", self.number("Q")) for _ in range(axes))
            kind, offset = self.number("I"), self.number("Q")
            if kind not in TENSOR_TYPES:
                raise self.fail(
                    f"tensor {name[:80]!r} has the unknown type {kind}", hint="a newer interlock may know it"
                )
            label, block, size = TENSOR_TYPES[kind]
            elements = prod(dims)
            if elements % block or elements >= 1 << 63:
                raise self.fail(f"tensor {name[:80]!r} has {elements:,} elements, no whole blocks of {label}")
            infos[name] = (label, dims, offset, elements // block * size)
        alignment = model.metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 0 < alignment <= 1 << 20:
            raise self.fail(f"has the alignment {alignment!r}")
        model.data_begin = base = -(-self.at // alignment) * alignment
        at = 0
        for name, (label, dims, offset, size) in sorted(infos.items(), key=lambda info: info[1][2:]):
            if offset < at:
                raise self.fail(f"tensor {name[:80]!r} overlaps the tensor before it", at=base + offset)
            if base + offset + size > self.source.size:
                missing = base + offset + size - self.source.size
                raise self.fail(f"is truncated: {missing:,} bytes of tensor {name[:80]!r} are missing", hint=TRUNCATED)
            model.tensors[name] = GgufTensor(label, dims, base + offset, base + offset + size)
            at = offset + size
