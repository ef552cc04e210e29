"""The messages of onnx.proto, one method each, over the streaming wire reader. Use `models.onnx`."""

from __future__ import annotations

from .errors import UnreadableModel
from .onnx import Attribute, Dimension, Graph, Initializer, Node, OnnxModel, Value
from .onnx_tensors import element, read_pair, read_sparse, read_tensor
from .protobuf import BYTES, VARINT, fields, integers, signed, text
from .source import Source, Window

MAX_INTEGERS = 256  # of an attribute's list; operators that shape tensors have no more
_SHORT = 1024
MAX_DEPTH = 60  # graphs in attributes of nodes of graphs …; protobuf libraries stop at 100 nested messages


class Reader:
    """One method per message of onnx.proto; each takes the message's [begin, end)."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.depth = 0

    def model(self, file: str) -> OnnxModel:
        w = self.window
        model = OnnxModel(file, w.source.size)
        seen = False
        for number, wire, value, end in fields(w, 0, w.source.size):
            match number, wire:
                case 1, 0:
                    model.ir_version = signed(value)
                case 2, 2:
                    model.producer = text(w, value, end)
                case 5, 0:
                    model.model_version = signed(value)
                case 7, 2:
                    seen = True
                    self.graph(model.graph, value, end)
                case 8, 2:
                    domain, version = self.opset(value, end)
                    model.opsets[domain] = version
                case 14, 2:
                    key, item = read_pair(w, value, end)
                    model.metadata[key] = item
                case 25, 2:
                    key, body = self.function(value, end)
                    if key in model.functions:
                        model.repeated.append(key)
                    model.functions[key] = body
                case _:
                    pass
        if not seen:
            raise UnreadableModel(w.source.name, "holds no graph", hint="is this an ONNX model?")
        return model

    def opset(self, begin: int, end: int) -> tuple[str, int]:
        domain, version = "", 0
        for number, wire, value, stop in fields(self.window, begin, end):
            if (number, wire) == (1, BYTES):
                domain = text(self.window, value, stop)
            elif (number, wire) == (2, VARINT):
                version = signed(value)
        # The specification names the default domain both ways.
        return ("" if domain == "ai.onnx" else domain), version

    def graph(self, graph: Graph, begin: int, end: int) -> Graph:
        w = self.window
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnreadableModel(w.source.name, f"nests graphs more than {MAX_DEPTH} deep", offset=begin)
        for number, wire, value, stop in fields(w, begin, end):
            if wire != BYTES:
                continue
            match number:
                case 1:
                    w.left -= 8  # an operator costs us more than a field
                    graph.nodes.append(self.node(value, stop))
                case 2:
                    graph.name = text(w, value, stop)
                case 5:
                    tensor = read_tensor(w, value, stop)
                    graph.initializers[tensor.name] = tensor
                case 11:
                    graph.inputs.append(self.value(value, stop))
                case 12:
                    graph.outputs.append(self.value(value, stop))
                case 13:
                    graph.noted.append((value, stop))
                case 15:
                    tensor = read_sparse(w, value, stop)
                    graph.initializers[tensor.name] = tensor
                case _:
                    pass
        self.depth -= 1
        return graph

    def function(self, begin: int, end: int) -> tuple[tuple[str, str, str], Graph]:
        w = self.window
        body = Graph()
        domain = overload = ""
        for number, wire, value, stop in fields(w, begin, end):
            if wire != BYTES:
                continue
            match number:
                case 1:
                    body.name = text(w, value, stop)
                case 4:
                    body.inputs.append(Value(text(w, value, stop), "", None))
                case 5:
                    body.outputs.append(Value(text(w, value, stop), "", None))
                case 7:
                    body.nodes.append(self.node(value, stop))
                case 9:
                    imported, version = self.opset(value, stop)
                    body.opsets[imported] = version
                case 10:
                    domain = text(w, value, stop)
                case 11:
                    body.defaults.append(self.attribute(value, stop))
                case 13:
                    overload = text(w, value, stop)
                case _:
                    pass
        return (domain, body.name, overload), body

    def node(self, begin: int, end: int) -> Node:
        w = self.window
        op = domain = name = ""
        inputs: list[str] = []
        outputs: list[str] = []
        attributes: list[Attribute] = []
        for number, wire, value, stop in fields(w, begin, end):
            if wire != BYTES:
                continue
            if number == 1:
                inputs.append(text(w, value, stop))
            elif number == 2:
                outputs.append(text(w, value, stop))
            elif number == 3:
                name = text(w, value, stop)
            elif number == 4:
                op = text(w, value, stop)
            elif number == 5:
                attributes.append(self.attribute(value, stop))
            elif number == 7:
                domain = text(w, value, stop)
        domain = "" if domain == "ai.onnx" else domain
        return Node(op, domain, name, tuple(inputs), tuple(outputs), tuple(attributes))

    def attribute(self, begin: int, end: int) -> Attribute:
        w = self.window
        name = said = reference = ""
        kind = 0
        tensors: list[Initializer] = []
        graphs: list[Graph] = []
        numbers: list[int] = []
        for each in fields(w, begin, end):
            number, wire, value, stop = each
            if number == 20:
                kind = value
            elif number in (3, 8):
                if len(numbers) < MAX_INTEGERS and (wire == VARINT or stop - value < _SHORT):
                    numbers.extend(integers(w, each))
            elif wire != BYTES:
                continue
            elif number == 1:
                name = text(w, value, stop)
            elif number == 4 and stop - value < _SHORT:
                said = text(w, value, stop)
            elif number == 21:
                reference = text(w, value, stop)
            elif number in (5, 10):
                tensors.append(read_tensor(w, value, stop))
            elif number in (6, 11):
                graphs.append(self.graph(Graph(), value, stop))
            elif number in (22, 23):
                tensors.append(read_sparse(w, value, stop))
        return Attribute(name, begin, end, tuple(tensors), tuple(graphs), kind, tuple(numbers), said, reference)

    def value(self, begin: int, end: int) -> Value:
        name, kind, shape = "", "", None
        for number, wire, value, stop in fields(self.window, begin, end):
            if (number, wire) == (1, BYTES):
                name = text(self.window, value, stop)
            elif (number, wire) == (2, BYTES):
                kind, shape = self.type(value, stop)
        return Value(name, kind, shape)

    def type(self, begin: int, end: int, depth: int = 0) -> tuple[str, tuple[Dimension, ...] | None]:
        """A TypeProto as ONNX Runtime writes it, and the shape of a tensor."""
        w = self.window
        if depth > 16:
            raise UnreadableModel(w.source.name, "nests types more than 16 deep", offset=begin)
        kind: str = ""
        shape: tuple[Dimension, ...] | None = None
        for number, wire, value, stop in fields(w, begin, end):
            if wire != BYTES or number not in _TYPES:
                continue
            shape = None
            parts: list[str] = []
            for each in fields(w, value, stop):
                if each[1] == VARINT and each[0] == 1:
                    parts.append(element(each[2]))
                elif each[1] == BYTES and number in (1, 8) and each[0] == 2:
                    shape = self.shape(each[2], each[3])
                elif each[1] == BYTES and number in (4, 5, 9) and each[0] == (2 if number == 5 else 1):
                    parts.append(self.type(each[2], each[3], depth + 1)[0])
            kind = f"{_TYPES[number]}({','.join(parts) or 'undefined'})"
        return kind, shape

    def shape(self, begin: int, end: int) -> tuple[Dimension, ...]:
        w = self.window
        dimensions: list[Dimension] = []
        for number, wire, value, stop in fields(w, begin, end):
            if (number, wire) != (1, BYTES):
                continue
            dimension: Dimension = None
            for part, kind, item, last in fields(w, value, stop):
                if (part, kind) == (1, VARINT):
                    dimension = signed(item)
                elif (part, kind) == (2, BYTES):
                    dimension = text(w, item, last)
            dimensions.append(dimension)
        return tuple(dimensions)


_TYPES = {1: "tensor", 4: "seq", 5: "map", 7: "opaque", 8: "sparse_tensor", 9: "optional"}


def read_noted(source: Source, graph: Graph) -> list[Value]:
    """What a graph says about tensors inside it."""
    reader = Reader(Window(source))
    return [reader.value(begin, end) for begin, end in graph.noted]
