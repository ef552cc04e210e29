"""Values of attributes and small tensors of an ONNX model, read when a rule asks for them.

Field numbers are those of AttributeProto and TensorProto in onnx.proto. What is long is trained, and nobody compares
it by value: it reads as None.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from .onnx import Attribute, Initializer, OnnxModel
from .onnx_tensors import read_tensor
from .protobuf import BYTES, FIXED32, fields, integers, signed
from .source import Source, Window

Scalar = int | float | str
Values = tuple[Scalar, ...]

# A list of labels may be long, a list of numbers that is no weight is short.
TEXT_BYTES = 16 << 20
NUMBERS = 4096
_READ = 1 << 16

# The codes of the module struct.
_KINDS = "float double float16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool"
_UNPACKED: dict[str, str] = dict(zip(_KINDS.split(), "fdebBhHiIqQ?", strict=True))
_FLOATS = ("float", "double", "float16", "bfloat16")


def setting(source: Source, attribute: Attribute, first: int = 0) -> Values | None:
    """The value of an attribute: one entry for a scalar, all of a list or of a tensor. None where it is long, a graph,
    or stands for an attribute of the function around it. With `first`, the first numbers of a list of any length, of
    integers as onnx.proto has them: each by itself."""
    if attribute.graphs or attribute.reference:
        return None
    window = Window(source)
    found: list[Scalar] = []
    left = TEXT_BYTES
    for each in fields(window, attribute.begin, attribute.end):
        number, wire, value, stop = each
        if number == 2 and wire == FIXED32:
            found.append(_float(value))
        elif number == 3:
            found.append(signed(value))
        elif number in (4, 9) and wire == BYTES:
            left -= stop - value
            if left < 0:
                return None
            found.append(window.take(value, stop - value).decode("utf-8", "replace"))
        elif number in (5, 10) and wire == BYTES:
            inner = values(source, read_tensor(window, value, stop))
            if inner is None:
                return None
            found.extend(inner)
        elif number == 7:
            if wire == BYTES and first:
                stop = min(stop, value + 4 * first)
            if wire == BYTES and stop - value > 4 * NUMBERS:
                return None
            if wire == BYTES:
                found.extend(struct.unpack(f"<{(stop - value) // 4}f", window.take(value, (stop - value) & ~3)))
            elif wire == FIXED32:
                found.append(_float(value))
        elif number == 8:
            if wire == BYTES and stop - value > 16 * NUMBERS:
                return None
            found.extend(integers(window, each))
        if first and number in (7, 8) and len(found) >= first:
            break
        if number in (7, 8) and len(found) > NUMBERS:
            return None
    return tuple(found)


def values(source: Source, tensor: Initializer, limit: int = NUMBERS) -> Values | None:
    """The values of a tensor, row by row; booleans as 0 and 1. None where it has more than `limit` numbers, lies in
    another file, or is of a type or in a form that is not read."""
    if tensor.dtype == "string":
        return _texts(source, tensor)
    if tensor.external or tensor.numel > limit:
        return None
    if not tensor.numel:
        return ()
    window = Window(source)
    if tensor.field == 9:
        data = window.take(tensor.begin, tensor.end - tensor.begin)
        if tensor.dtype == "bfloat16":
            data = b"".join(b"\0\0" + data[i : i + 2] for i in range(0, len(data), 2))
        code = "f" if tensor.dtype == "bfloat16" else _UNPACKED.get(tensor.dtype)
        if code is None or len(data) != tensor.numel * struct.calcsize(code):
            return None
        return tuple(int(each) if code == "?" else each for each in struct.unpack(f"<{tensor.numel}{code}", data))
    if tensor.field in (4, 10):
        dtype, code = ("float", "f") if tensor.field == 4 else ("double", "d")
        data = window.take(tensor.begin, tensor.end - tensor.begin)
        if tensor.dtype != dtype or len(data) != tensor.numel * struct.calcsize(code):
            return None
        return struct.unpack(f"<{tensor.numel}{code}", data)
    if tensor.field in (5, 7, 11):
        numbers = integers(window, (tensor.field, BYTES, tensor.begin, tensor.end))
        if len(numbers) != tensor.numel:
            return None
        return _bits(tensor.dtype, numbers)
    return None


def read_small(source: Source, model: OnnxModel) -> None:
    """Read every attribute and small tensor once, so that a source which keeps what it read has them."""
    for graph in model.graphs():
        for node in graph.nodes:
            for attribute in node.attributes:
                source.read(attribute.begin, min(attribute.end - attribute.begin, _READ))
    for tensor in model.weights():
        size = tensor.end - tensor.begin
        if not tensor.external and size and (tensor.dtype == "string" or tensor.numel <= NUMBERS):
            source.read(tensor.begin, min(size, TEXT_BYTES))


def _bits(dtype: str, numbers: Sequence[int]) -> Values | None:
    """What int32_data and its like hold: integers as they are, short floats as their bits."""
    if dtype not in _FLOATS:
        return tuple(numbers)
    if dtype == "float16":
        return tuple(struct.unpack("<e", struct.pack("<H", each & 0xFFFF))[0] for each in numbers)
    if dtype == "bfloat16":
        return tuple(struct.unpack("<f", struct.pack("<I", (each & 0xFFFF) << 16))[0] for each in numbers)
    return None


def _texts(source: Source, tensor: Initializer) -> Values | None:
    if tensor.end - tensor.begin > TEXT_BYTES or tensor.external:
        return None
    window = Window(source)
    return tuple(
        window.take(value, stop - value).decode("utf-8", "replace")
        for number, wire, value, stop in fields(window, tensor.begin, tensor.end)
        if (number, wire) == (6, BYTES)
    )


def _float(bits: int) -> float:
    return struct.unpack("<f", bits.to_bytes(4, "little"))[0]
