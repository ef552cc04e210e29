"""The tensor messages of onnx.proto: what a tensor is, where its data lies, and whether all of it is there."""

from __future__ import annotations

from .errors import UnreadableModel
from .onnx import ELEMENTS, Initializer
from .protobuf import BYTES, FIXED32, VARINT, Field, fields, integers, text
from .source import TRUNCATED, Window

_COUNTED = 1 << 16
_STRINGS = 6
_WIDE = frozenset({4, 9, 10})  # float, raw and double data: as many bytes as the tensor takes
_DATA = frozenset({4, 5, 6, 7, 9, 10, 11})  # float, int32, string, int64, raw, double and uint64 data


def read_pair(window: Window, begin: int, end: int) -> tuple[str, str]:
    """A key and its value (StringStringEntryProto)."""
    key = item = ""
    for number, wire, value, stop in fields(window, begin, end):
        if (number, wire) == (1, BYTES):
            key = text(window, value, stop)
        elif (number, wire) == (2, BYTES):
            # Label lists and charsets live in metadata values; a whole configuration may, too.
            item = text(window, value, stop, 16 << 20)
    return key, item


def read_tensor(window: Window, begin: int, end: int) -> Initializer:
    """A TensorProto. Raises UnreadableModel where its dims are impossible or its data is not as long as they say."""
    name, dtype, outside, part = "", 0, False, False
    dims: list[int] = []
    external: list[tuple[str, str]] = []
    data: list[Field] = []
    at = start = begin
    for each in fields(window, begin, end):
        number, wire, value, stop = each
        if number == _STRINGS and not data:
            start = at
        at = stop
        if number == 1:
            dims.extend(integers(window, each))
        elif (number, wire) == (2, VARINT):
            dtype = value
        elif (number, wire) == (8, BYTES):
            name = text(window, value, stop)
        elif number in _DATA:
            if wire != BYTES or stop > value or number == _STRINGS:
                data.append(each)
        elif number == 3:
            part = True  # one segment of a tensor that is stored in several
        elif (number, wire) == (13, BYTES):
            external.append(read_pair(window, value, stop))
        elif (number, wire) == (14, VARINT):
            outside = value == 1
    _possible(window, name, dims, begin)
    first, last = (data[0][2] if data[0][1] == BYTES else data[0][3], data[-1][3]) if data else (begin, begin)
    if data and data[0][0] == _STRINGS:
        first = start  # each string is a field of its own: the span holds them with their lengths
    place = tuple(external) or (("location", ""),) if outside else ()
    whole = data[0][0] if len(data) == 1 and data[0][1] == BYTES and not part and not outside else 0
    tensor = Initializer(name, element(dtype), tuple(dims), first, last, place, whole)
    if not outside and not part:
        _complete(window, tensor, data, begin)
    return tensor


def _possible(window: Window, name: str, dims: list[int], begin: int) -> None:
    if len(dims) > 64 or any(not 0 <= size < 1 << 63 for size in dims):
        raise UnreadableModel(
            window.source.name, f"tensor {name[:200]!r} has impossible dims {str(dims)[:80]}", offset=begin
        )


def _complete(window: Window, tensor: Initializer, data: list[Field], begin: int) -> None:
    """Raises UnreadableModel where a tensor's data in the file is not as long as its type and dims say."""
    held, wanted, unit, exact = len(data), tensor.numel, "values", True
    number = data[0][0] if data else 0
    if tensor.dtype == "string":
        pass
    elif not tensor.nbytes or tensor.dtype.startswith("float6"):
        return  # nothing to hold, or a type whose packing no runtime has settled
    elif number in _WIDE:
        held, wanted, unit = sum(map(_length, data)), tensor.nbytes, "bytes"
    elif number:
        held, exact = _varints(window, data)
        if tensor.nbytes < wanted:  # types under a byte share one number
            wanted, exact = tensor.nbytes, False
    if held < wanted or (exact and held > wanted):
        raise UnreadableModel(
            window.source.name,
            f"tensor {tensor.name[:80]!r} has {held:,} {unit} of data, its dims {list(tensor.dims)} of "
            f"{tensor.dtype} take {wanted:,}",
            hint=TRUNCATED if held < wanted else "export the model again",
            offset=begin,
        )


def _length(field: Field) -> int:
    _, wire, value, stop = field
    return stop - value if wire == BYTES else 4 if wire == FIXED32 else 8


def _varints(window: Window, data: list[Field]) -> tuple[int, bool]:
    """How many numbers the fields hold: exact, or the most there can be where counting would read much."""
    size = sum(stop - value for _, wire, value, stop in data if wire == BYTES)
    if size > _COUNTED:
        return size, False
    packed = b"".join(window.take(value, stop - value) for _, wire, value, stop in data if wire == BYTES)
    return sum(byte < 128 for byte in packed) + sum(wire != BYTES for _, wire, _, _ in data), True


def read_sparse(window: Window, begin: int, end: int) -> Initializer:
    """A sparse tensor under the name of its values, with its dense dims."""
    values: Initializer | None = None
    dims: list[int] = []
    for each in fields(window, begin, end):
        if each[0] == 1 and each[1] == BYTES:
            values = read_tensor(window, each[2], each[3])
        elif each[0] == 3:
            dims.extend(integers(window, each))
    if values is None:
        raise UnreadableModel(window.source.name, "has a sparse tensor without values", offset=begin)
    _possible(window, values.name, dims, begin)
    return Initializer(values.name, values.dtype, tuple(dims), begin, end, values.external)


def element(number: int) -> str:
    """The name of an element type."""
    return ELEMENTS[number] if number < len(ELEMENTS) else f"type{number}"
