"""Seeded inputs for a graph, from its contract: types, sizes, and what values make sense.

An input's values come from contract.domains where it is listed there; else from what its name says (a sample rate, a
mask, token ids, positions); else from its type. State that goes around starts at zero. Dynamic sizes are tried in
two settings that the old graph accepts, larger ones first: many graphs refuse tiny inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..graph.contract import dynamic, symbol

if TYPE_CHECKING:
    from ....models.onnx import Dimension, Value

SEED = 20_240_229
# (batch, anything else): sizes to try for the first axis and for the other dynamic ones.
SIZES = ((1, 512), (3, 256), (1, 576), (3, 576), (1, 64), (3, 32), (1, 224), (3, 160), (2, 16), (1, 8), (1, 4), (1, 1))
MAX_ELEMENTS = 1 << 26
_TYPES = {
    "float": "float32",
    "double": "float64",
    "float16": "float16",
    "int64": "int64",
    "int32": "int32",
    "int16": "int16",
    "int8": "int8",
    "uint8": "uint8",
    "uint16": "uint16",
    "uint32": "uint32",
    "uint64": "uint64",
    "bool": "bool",
}
_NAMED: tuple[tuple[re.Pattern[str], tuple[float, ...]], ...] = (
    (re.compile(r"^(sr|sampling_?rate|sample_?rate)$", re.IGNORECASE), (16000, 8000)),
    (re.compile(r"mask", re.IGNORECASE), (1,)),
    (re.compile(r"token_type|segment", re.IGNORECASE), (0,)),
    (re.compile(r"(^|_)len(gth)?s?$", re.IGNORECASE), (8,)),
)


def element_type(value: Value) -> str | None:
    """The numpy type of a tensor input; None for what cannot be generated (strings, sequences, maps)."""
    return (
        _TYPES.get(value.type.removeprefix("tensor(").removesuffix(")")) if value.type.startswith("tensor(") else None
    )


def shape(value: Value, sizes: tuple[int, int], given: Mapping[str, list[int]]) -> tuple[int, ...]:
    """A concrete shape; `given` holds shapes by input name."""
    if value.name in given and len(given[value.name]) == len(value.shape or ()):
        return tuple(given[value.name])
    return tuple(_size(dimension, axis, sizes) for axis, dimension in enumerate(value.shape or ()))


def _size(dimension: Dimension, axis: int, sizes: tuple[int, int]) -> int:
    if isinstance(dimension, int) and not dynamic(dimension):
        return dimension
    batch = axis == 0 or "batch" in symbol(dimension).lower()
    return sizes[0] if batch else sizes[1]


def batch_axis(value: Value) -> int | None:
    """The axis of recurrent state that follows the batch: its only dynamic one."""
    axes = [axis for axis, dimension in enumerate(value.shape or ()) if dynamic(dimension)]
    return axes[0] if len(axes) == 1 else None


def certain(value: Value, domains: Mapping[str, list[float]], given: Mapping[str, list[int]]) -> bool:
    """Whether an input is generated without a guess: its sizes are declared, and so are its values, or any will do."""
    sized = value.name in given or (value.shape is not None and not any(map(dynamic, value.shape)))
    return sized and (value.name in domains or "float" in (element_type(value) or ""))


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is known beyond the graph: values by input name, shapes by input name, and the number of token ids."""

    domains: Mapping[str, list[float]]
    shapes: Mapping[str, list[int]]
    vocabulary: int = 100


def feeds(values: list[Value], state: set[str], wishes: Wishes) -> Iterator[dict[str, Any]]:
    """A feed for each setting of the dynamic sizes. The same call gives the same values."""
    import numpy

    np: Any = numpy
    for sizes in SIZES:
        generator = np.random.default_rng(SEED + sizes[0] * 1009 + sizes[1])
        feed: dict[str, Any] = {}
        for value in values:
            dims = shape(value, sizes, wishes.shapes)
            if value.name in state and (axis := batch_axis(value)) is not None:
                dims = tuple(sizes[0] if i == axis else size for i, size in enumerate(dims))
            if int(np.prod(dims, dtype=np.float64)) > MAX_ELEMENTS:
                break
            kind = element_type(value)
            if value.name in state:
                feed[value.name] = np.zeros(dims, kind)
            else:
                feed[value.name] = _values(value.name, dims, str(kind), wishes, generator)
        else:
            yield feed


def _values(name: str, dims: tuple[int, ...], kind: str, wishes: Wishes, generator: Any) -> Any:
    import numpy

    np: Any = numpy
    choices: tuple[float, ...] = tuple(wishes.domains.get(name, ())) or next(
        (v for p, v in _NAMED if p.search(name)), ()
    )
    if choices:
        first = np.full(dims, choices[0])
        return (first if not dims else generator.choice(choices, dims) if name in wishes.domains else first).astype(
            kind
        )
    if "position" in name.lower() and dims:
        return np.broadcast_to(np.arange(dims[-1]), dims).astype(kind)
    if kind == "bool":
        return generator.integers(0, 2, dims).astype(bool)
    if kind.startswith("float"):
        return (generator.standard_normal(dims) * 0.5).astype(kind)
    return generator.integers(0, max(2, min(wishes.vocabulary, 100)), dims).astype(kind)
