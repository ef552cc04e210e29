"""The messages of onnx.proto, one method each, over the streaming wire reader. Use `models.onnx`."""

from __future__ import annotations

from .errors import UnreadableModel
from .onnx import ELEMENTS, Attribute, Dimension, Graph, Initializer, Node, OnnxModel, Value
from .protobuf import BYTES, VARINT, Field, fields, integers, signed, text
from .source import TRUNCATED, Source, Window

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
                    key, item = self.pair(value, end)
                    model.metadata[key] = item
                case 25, 2:
                    key, body = self.function(value, end)
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

    def pair(self, begin: int, end: int) -> tuple[str, str]:
        key = item = ""
        for number, wire, value, stop in fields(self.window, begin, end):
            if (number, wire) == (1, BYTES):
                key = text(self.window, value, stop)
            elif (number, wire) == (2, BYTES):
                # Label lists and charsets live in metadata values; a whole configuration may, too.
                item = text(self.window, value, stop, 16 << 20)
        return key, item

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
                    tensor = self.tensor(value, stop)
                    graph.initializers[tensor.name] = tensor
                case 11:
                    graph.inputs.append(self.value(value, stop))
                case 12:
                    graph.outputs.append(self.value(value, stop))
                case 15:
                    tensor = self.sparse(value, stop)
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
        name = ""
        tensors: list[Initializer] = []
        graphs: list[Graph] = []
        for number, wire, value, stop in fields(w, begin, end):
            if wire != BYTES:
                continue
            if number == 1:
                name = text(w, value, stop)
            elif number in (5, 10):
                tensors.append(self.tensor(value, stop))
            elif number in (6, 11):
                graphs.append(self.graph(Graph(), value, stop))
            elif number in (22, 23):
                tensors.append(self.sparse(value, stop))
        return Attribute(name, begin, end, tuple(tensors), tuple(graphs))

    def tensor(self, begin: int, end: int) -> Initializer:
        w = self.window
        name, dtype, outside, part = "", 0, False, False
        dims: list[int] = []
        external: list[tuple[str, str]] = []
        data: list[Field] = []
        for each in fields(w, begin, end):
            number, wire, value, stop = each
            if number == 1:
                dims.extend(integers(w, each))
            elif (number, wire) == (2, VARINT):
                dtype = value
            elif (number, wire) == (8, BYTES):
                name = text(w, value, stop)
            elif number in _DATA:
                data.append(each)
            elif number == 3:
                part = True  # one segment of a tensor that is stored in several
            elif (number, wire) == (13, BYTES):
                external.append(self.pair(value, stop))
            elif (number, wire) == (14, VARINT):
                outside = value == 1
        if len(dims) > 64 or any(not 0 <= size < 1 << 63 for size in dims):
            raise UnreadableModel(
                w.source.name, f"tensor {name[:200]!r} has impossible dims {str(dims)[:80]}", offset=begin
            )
        first, last = (data[0][2] if data[0][1] == BYTES else data[0][3], data[-1][3]) if data else (begin, begin)
        place = tuple(external) or (("location", ""),) if outside else ()
        tensor = Initializer(name, _element(dtype), tuple(dims), first, last, place)
        if not outside and not part:
            self.complete(tensor, data, begin)
        return tensor

    def complete(self, tensor: Initializer, data: list[Field], begin: int) -> None:
        """Raises UnreadableModel where a tensor's data in the file is not as long as its type and dims say."""
        held, wanted, unit, exact = len(data), tensor.numel, "values", True
        number = data[0][0] if data else 0
        if tensor.dtype == "string":
            pass
        elif not tensor.nbytes or tensor.dtype.startswith("float6"):
            return  # nothing to hold, or a type whose packing no runtime has settled
        elif number in _WIDE:
            held, wanted, unit = sum(stop - value for _, _, value, stop in data), tensor.nbytes, "bytes"
        elif number:
            held, exact = self.varints(data)
            if tensor.nbytes < wanted:  # types under a byte share one number
                wanted, exact = tensor.nbytes, False
        if held < wanted or (exact and held > wanted):
            raise UnreadableModel(
                self.window.source.name,
                f"tensor {tensor.name[:80]!r} has {held:,} {unit} of data, its dims {list(tensor.dims)} of "
                f"{tensor.dtype} take {wanted:,}",
                hint=TRUNCATED if held < wanted else "export the model again",
                offset=begin,
            )

    def varints(self, data: list[Field]) -> tuple[int, bool]:
        """How many numbers the fields hold: exact, or the most there can be where counting would read much."""
        size = sum(stop - value for _, wire, value, stop in data if wire == BYTES)
        if size > _COUNTED:
            return size, False
        packed = b"".join(self.window.take(value, stop - value) for _, wire, value, stop in data if wire == BYTES)
        return sum(byte < 128 for byte in packed) + sum(wire != BYTES for _, wire, _, _ in data), True

    def sparse(self, begin: int, end: int) -> Initializer:
        """A sparse tensor under the name of its values, with its dense dims."""
        values: Initializer | None = None
        dims: list[int] = []
        for each in fields(self.window, begin, end):
            if each[0] == 1 and each[1] == BYTES:
                values = self.tensor(each[2], each[3])
            elif each[0] == 3:
                dims.extend(integers(self.window, each))
        if values is None:
            raise UnreadableModel(self.window.source.name, "has a sparse tensor without values", offset=begin)
        return Initializer(values.name, values.dtype, tuple(dims), begin, end, values.external)

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
                    parts.append(_element(each[2]))
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
_COUNTED = 1 << 16
_WIDE = frozenset({4, 9, 10})  # float, raw and double data: as many bytes as the tensor takes
_DATA = frozenset({4, 5, 6, 7, 9, 10, 11})  # float, int32, string, int64, raw, double and uint64 data


def _element(number: int) -> str:
    return ELEMENTS[number] if number < len(ELEMENTS) else f"type{number}"


def flag(source: Source, attribute: Attribute) -> bool:
    """Whether an attribute is an integer other than zero."""
    values = [value for number, _, value, _ in fields(Window(source), attribute.begin, attribute.end) if number == 3]
    return bool(values and values[-1])
