"""Headers of safetensors files: names, types, shapes and places of tensors, never their data.

Format: 8 bytes little-endian header length N, N bytes of JSON, then the data buffer. The JSON maps a tensor's name to
`dtype`, `shape` and `data_offsets` (begin, end in the buffer); `__metadata__` maps strings to strings. The buffer has
no holes, so the largest end must be the end of the file (https://github.com/huggingface/safetensors, format section).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple, cast

from .errors import UnreadableModel
from .source import TRUNCATED, Source, open_file
from .strict_json import bounded, loads
from .tree import TreeFile

MAX_HEADER = 100_000_000  # the reference implementation's limit, in bytes
MAX_TENSORS = 400_000  # some twenty times what the largest mixture of experts has
BITS = {
    **dict.fromkeys(("F4",), 4),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("I16", "U16", "F16", "BF16"), 16),
    **dict.fromkeys(("I32", "U32", "F32"), 32),
    **dict.fromkeys(("I64", "U64", "F64", "C64"), 64),
}


class Tensor(NamedTuple):
    """A tensor by its header: element type, shape, the file it is in, and its bytes there as [begin, end)."""

    dtype: str
    shape: tuple[int, ...]
    file: str
    begin: int
    end: int

    @property
    def size(self) -> int:
        """Bytes of data."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class Header:
    """One file's tensors by name, its string metadata, and where its data begins."""

    tensors: dict[str, Tensor] = field(default_factory=dict[str, Tensor])
    metadata: dict[str, str] = field(default_factory=dict[str, str])
    data_begin: int = 0


def read_header(file: TreeFile) -> Header:
    """The header of a safetensors file. Raises UnreadableModel on anything the format forbids."""
    with open_file(file.path) as source:
        return parse_header(source, file.name)


def parse_header(source: Source, file: str) -> Header:
    """The header out of any source; `file` is what the tensors record as the file they are in."""
    head = source.read(0, 8192)
    if len(head) < 8:
        raise UnreadableModel(source.name, f"is {source.size} bytes long, too short for safetensors", hint=TRUNCATED)
    length = int.from_bytes(head[:8], "little")
    if length > MAX_HEADER:
        raise UnreadableModel(source.name, f"claims a header of {length:,} bytes", offset=0, hint="not safetensors?")
    if 8 + length > source.size:
        reason = f"claims a header of {length:,} bytes but is {source.size:,} bytes long"
        raise UnreadableModel(source.name, reason, offset=0, hint=TRUNCATED)
    text = (
        head[8 : 8 + length] if 8 + length <= len(head) else head[8:] + source.read(len(head), 8 + length - len(head))
    )
    if text[:1] != b"{":
        raise UnreadableModel(source.name, "has a header that is not a JSON object", offset=8, hint="not safetensors?")
    if text.count(b"data_offsets") > MAX_TENSORS:
        raise UnreadableModel(source.name, f"names more than {MAX_TENSORS:,} tensors", offset=8)
    bounded(text, source.name)
    document = _document(text, source.name)
    metadata = document.pop("__metadata__", {})
    if not _strings(metadata):
        raise UnreadableModel(source.name, "__metadata__ must map strings to strings")
    base = 8 + length
    tensors = {name: _tensor(name, entry, source.name, file, base) for name, entry in document.items()}
    _check_layout(tensors, source, base)
    return Header(tensors, cast("dict[str, str]", metadata), base)


def _unique(items: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(items)
    if len(result) != len(items):
        raise ValueError("duplicate key")
    return result


def _constant(name: str) -> Any:
    raise ValueError(name)


def _document(text: bytes, name: str) -> dict[str, Any]:
    """The header's JSON. What is not plain goes to the strict reader, which is slower and says what is wrong."""
    try:
        if b"\\u" not in text:
            document: Any = json.loads(text.decode(), object_pairs_hook=_unique, parse_constant=_constant)
            return cast("dict[str, Any]", document)
    except (ValueError, RecursionError):
        pass
    return loads(text, name)


def _strings(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in cast("dict[str, Any]", value).values())


def _natural(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _tensor(name: str, entry: Any, source: str, file: str, base: int) -> Tensor:
    try:
        dtype: Any = entry["dtype"]
        sizes: Any = entry["shape"]
        begin, end = entry["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise UnreadableModel(source, f"tensor {name[:200]!r} lacks dtype, shape or two data_offsets") from None
    if not isinstance(dtype, str) or dtype not in BITS:
        hint = "a newer interlock may know it"
        raise UnreadableModel(source, f"tensor {name[:200]!r} has the unknown dtype {str(dtype)[:80]!r}", hint=hint)
    shape = cast("list[int]", sizes)
    # The bound on dimensions keeps the product below cheap: sizes of 63 bits each multiply to ever longer numbers.
    if not isinstance(cast("object", sizes), list) or len(shape) > 64 or not all(map(_natural, shape)):
        reason = f"tensor {name[:200]!r} has the shape {str(shape)[:80]}, not a list of up to 64 sizes"
        raise UnreadableModel(source, reason)
    if not (_natural(begin) and _natural(end) and begin <= end):
        raise UnreadableModel(source, f"tensor {name[:200]!r} has the data_offsets [{begin}, {end}]")
    bits = prod(shape) * BITS[dtype]
    if bits % 8 or bits // 8 != end - begin:
        reason = f"tensor {name[:200]!r} of {dtype} does not take the {end - begin:,} bytes that its offsets span"
        raise UnreadableModel(source, reason)
    return Tensor(dtype, tuple(shape), file, base + begin, base + end)


def _check_layout(tensors: dict[str, Tensor], source: Source, base: int) -> None:
    """The tensors must tile the data buffer: an overlap lets one name write into another, a gap hides bytes."""
    at = base
    for name, tensor in sorted(tensors.items(), key=lambda item: (item[1].begin, item[1].end)):
        if tensor.begin != at:
            what = "overlaps the tensor before it" if tensor.begin < at else "leaves a gap before it"
            raise UnreadableModel(source.name, f"tensor {name[:200]!r} {what}", offset=tensor.begin)
        at = tensor.end
    if at > source.size:
        missing = at - source.size
        reason = f"is truncated: {missing:,} of {at:,} bytes are missing"
        raise UnreadableModel(source.name, reason, offset=source.size, hint=TRUNCATED)
    if at < source.size:
        raise UnreadableModel(source.name, f"has {source.size - at:,} bytes after its last tensor", offset=at)


_SHARD = r"(?P<stem>.+)-(?P<number>\d{5,6})-of-(?P<count>\d{5,6})\.safetensors"


def shard_of(name: str) -> tuple[str, int, int] | None:
    """(stem, number, count) of a file named `stem-00001-of-00030.safetensors`."""
    match = re.fullmatch(_SHARD, name) if "-of-" in name else None
    return (match["stem"], int(match["number"]), int(match["count"])) if match else None
