"""Structure of ONNX models: contract, operators, graphs and where each weight lies; weights themselves are skipped.

Field numbers are those of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto). Files over 2 GiB,
which protobuf libraries refuse, are read the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from .source import Source, Window, open_file
from .tree import TreeFile

# Bits an element takes, in the order of TensorProto.DataType; strings have no fixed size.
_TYPES_AND_BITS = """
    undefined:0 float:32 uint8:8 int8:8 uint16:16 int16:16 int32:32 int64:64 string:0 bool:8 float16:16 double:64
    uint32:32 uint64:64 complex64:64 complex128:128 bfloat16:16 float8e4m3fn:8 float8e4m3fnuz:8 float8e5m2:8
    float8e5m2fnuz:8 uint4:4 int4:4 float4e2m1:4 float8e8m0:8 uint2:2 int2:2 float6e2m3:6 float6e3m2:6
"""
BITS = {name: int(bits) for name, _, bits in (each.partition(":") for each in _TYPES_AND_BITS.split())}
ELEMENTS = tuple(BITS)

# A size, the name of a dynamic one (`dim_param`), or None where the model says nothing.
Dimension = int | str | None


class Value(NamedTuple):
    """A graph input or output: its type as ONNX Runtime writes it (`tensor(float)`), and its shape where it has one."""

    name: str
    type: str
    shape: tuple[Dimension, ...] | None


class Initializer(NamedTuple):
    """A weight: `begin`, `end` bound its bytes in the file; `external` holds location, offset, length instead.

    `field` is the number of the TensorProto field whose bytes they are, where all lie in one.
    """

    name: str
    dtype: str
    dims: tuple[int, ...]
    begin: int
    end: int
    external: tuple[tuple[str, str], ...] = ()
    field: int = 0

    @property
    def numel(self) -> int:
        """Number of elements."""
        count = 1
        for size in self.dims:
            count *= size
        return count

    @property
    def nbytes(self) -> int:
        """Bytes of the data as its type and dims say (0 for strings, which have no fixed size)."""
        return -(-self.numel * BITS.get(self.dtype, 0) // 8)


class Attribute(NamedTuple):
    """An attribute of a node. Tensors, graphs, short texts and the first integers are read; the rest is a span of the
    encoded message. `kind` is its AttributeProto.AttributeType; `reference` names the function attribute it stands for.
    """

    name: str
    begin: int
    end: int
    tensors: tuple[Initializer, ...] = ()
    graphs: tuple[Graph, ...] = ()
    kind: int = 0
    integers: tuple[int, ...] = ()
    text: str = ""
    reference: str = ""


class Node(NamedTuple):
    """One operator."""

    op: str
    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[Attribute, ...]


@dataclass(slots=True)
class Graph:
    """A graph, or the body of a function (which has plain names for inputs and outputs, and `opsets` of its own).

    `defaults` are values of a function's attributes that a call need not give. `noted` are the spans of what the graph
    says about tensors inside it (value_info), which nobody has to read.
    """

    name: str = ""
    inputs: list[Value] = field(default_factory=list[Value])
    outputs: list[Value] = field(default_factory=list[Value])
    initializers: dict[str, Initializer] = field(default_factory=dict[str, Initializer])
    nodes: list[Node] = field(default_factory=list[Node])
    opsets: dict[str, int] = field(default_factory=dict[str, int])
    defaults: list[Attribute] = field(default_factory=list[Attribute])
    noted: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def walk(self) -> Iterator[Graph]:
        """This graph and every graph below it."""
        yield self
        for node in self.nodes:
            for attribute in node.attributes:
                for graph in attribute.graphs:
                    yield from graph.walk()


@dataclass(slots=True)
class OnnxModel:
    """An ONNX file. `opsets` maps domain to version, the default domain being ''.

    `functions` go by (domain, name, overload); `repeated` names those that the file defines more than once.
    """

    file: str
    size: int
    ir_version: int = 0
    opsets: dict[str, int] = field(default_factory=dict[str, int])
    producer: str = ""
    model_version: int = 0
    graph: Graph = field(default_factory=Graph)
    functions: dict[tuple[str, str, str], Graph] = field(default_factory=dict[tuple[str, str, str], Graph])
    repeated: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    metadata: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def required_inputs(self) -> list[Value]:
        """Graph inputs that a client must send: those that no initializer gives a default."""
        return [value for value in self.graph.inputs if value.name not in self.graph.initializers]

    def graphs(self) -> Iterator[Graph]:
        """Every graph: the main one, graphs in attributes, and function bodies."""
        yield from self.graph.walk()
        for body in self.functions.values():
            yield from body.walk()

    def histogram(self) -> Counter[tuple[str, str]]:
        """How often each (domain, operator) occurs over all graphs."""
        return Counter((node.domain, node.op) for graph in self.graphs() for node in graph.nodes)

    def weights(self) -> Iterator[Initializer]:
        """Every initializer and every tensor in an attribute, over all graphs."""
        for graph in self.graphs():
            yield from graph.initializers.values()
            for node in graph.nodes:
                for attribute in node.attributes:
                    yield from attribute.tensors

    def external_files(self) -> list[str]:
        """Locations of external data as the model writes them, relative to its folder."""
        return sorted({dict(tensor.external).get("location", "") for tensor in self.weights() if tensor.external})

    @property
    def weight_bytes(self) -> int:
        """Bytes of all initializers and constants, inline or external."""
        return sum(tensor.nbytes for tensor in self.weights())


def read_onnx(file: TreeFile) -> OnnxModel:
    """The structure of an ONNX file. Raises UnreadableModel where it is malformed, truncated or not ONNX."""
    with open_file(file.path) as source:
        return parse_onnx(source, file.name)


def parse_onnx(source: Source, file: str) -> OnnxModel:
    """The structure out of any source; `file` is what the model records as its name."""
    from .onnx_messages import Reader  # it imports this module's types

    return Reader(Window(source)).model(file)
