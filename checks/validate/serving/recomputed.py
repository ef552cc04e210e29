"""Whether two graphs give the same vectors: the same operators on the same weights, or at least the same weights.

Exporters rename everything and write one operator as several. The vectors are the same where the flow to the output
is, with weights by content, Gemm as MatMul and Add, and a division by the length in whatever form it stands.
"""

from __future__ import annotations

import struct
from hashlib import blake2b
from typing import Any, Literal

from ....models.onnx import BITS, Initializer, OnnxModel
from ....models.onnx_flow import Held, Step
from ....models.onnx_values import setting, values
from ....models.source import open_file
from ..contents import WHOLE, Same
from ..delta import Span, place
from ..graph.reading import Reading
from ..side import Side
from .normalised import normalised

_SAMPLE = 256
_CAST: dict[int, Literal["B", "H", "I", "Q"]] = {1: "B", 2: "H", 4: "I", 8: "Q"}
_LARGE = 1 << 16  # attributes above this many bytes are not compared
_EITHER_WAY = frozenset({"Add", "Mul"})
# Operators that later versions of the operator set compute otherwise with the same attributes.
_MOVED = frozenset({"GroupNormalization", "Resize", "Upsample", "AveragePool", "MaxPool", "LpPool", "GridSample"})
_STANDING = 13
_TYPED = {1: "float", 2: "int64", 6: "float", 7: "int64"}  # of the plain attributes of a Constant, by AttributeType


class Weights:
    """The weights that the operators of one side take, their bytes read once each."""

    def __init__(self, side: Side, model: OnnxModel) -> None:
        self.side = side
        self.model = model
        taken = {name for graph in model.graphs() for node in graph.nodes for name in node.inputs}
        tensors = (each for graph in model.graphs() for each in graph.initializers.values() if each.name in taken)
        inner = (each for g in model.graphs() for node in g.nodes for a in node.attributes for each in a.tensors)
        self.all = [each for each in (*tensors, *inner) if trained(each)]
        self.whole = sum(each.nbytes for each in self.all) <= WHOLE
        self._digests: dict[tuple[Span, bool], bytes] = {}

    def digest(self, tensor: Initializer, *, turned: bool = False) -> bytes | None:
        """Of a tensor by type, dims and bytes, or of its transpose; None where they cannot be read whole."""
        at = place(self.side, self.model, tensor)
        if not at.path or not self.whole or at.end - at.begin != tensor.nbytes:
            return None
        if (at, turned) not in self._digests:
            with open_file(at.path) as source:
                data = source.read(at.begin, tensor.nbytes)
            dims = tensor.dims
            if turned:
                if len(dims) != 2 or (width := BITS[tensor.dtype] // 8) not in _CAST:
                    return None
                cells = memoryview(data).cast(_CAST[width])
                data = b"".join(cells[column :: dims[1]].tobytes() for column in range(dims[1]))
                dims = dims[::-1]
            text = f"{tensor.dtype}{dims}".encode()
            self._digests[at, turned] = blake2b(text + data, digest_size=16).digest()
        return self._digests[at, turned]

    def sample(self, tensor: Initializer) -> bytes | None:
        """Size, type and some bytes from the middle."""
        at = place(self.side, self.model, tensor)
        if not at.path:
            return None
        size = at.end - at.begin
        with open_file(at.path) as source:
            data = source.read(at.begin + max(0, size - _SAMPLE) // 2, min(_SAMPLE, size))
        return f"{tensor.dtype}{tensor.numel}|".encode() + data


def trained(tensor: Initializer) -> bool:
    """Whether a tensor may be a weight: numbers, and more than one of them."""
    return tensor.numel > 1 and tensor.dtype != "string" and not tensor.dtype.startswith(("int64", "bool"))


def same_weights(old: Weights, new: Weights) -> Same:
    """Whether both hold the same weights under any names, a matrix or its transpose; `unknown` for what is large or
    not at hand and agrees in samples."""
    if not (old.whole and new.whole):
        sides = [{side.sample(each) for each in side.all} for side in (old, new)]
        return "different" if sides[0] != sides[1] and None not in sides[0] | sides[1] else "unknown"
    before, after = ({side.digest(each): each for each in side.all} for side in (old, new))
    if None in before or None in after:
        return "unknown"
    left = before.keys() - after.keys()
    for digest, tensor in after.items():
        if digest not in before:
            turned = new.digest(tensor, turned=True)
            if turned not in left:
                return "different"
            left.remove(turned)
    return "different" if left else "same"


def same_vectors(old: Reading, new: Reading, weights: tuple[Weights, Weights]) -> bool:
    """Whether every output of OLD is computed by NEW in the same way from the same inputs and weights."""
    before, after = _Prints(old, weights[0]), _Prints(new, weights[1])
    for name, value in old.flow.outputs.items():
        other = new.flow.outputs.get(name)
        if other is None:
            return False
        a, b = before.output(name, value), after.output(name, other)
        if a is None or a != b:
            return False
    return True


class _Prints:
    """A digest of how each value is computed; none for what is not understood."""

    def __init__(self, reading: Reading, weights: Weights) -> None:
        self.reading = reading
        self.weights = weights
        self.ranks = {each.name: len(each.shape) for each in weights.model.graph.outputs if each.shape is not None}
        self.known: dict[int, bytes | None] = {0: b"-"}
        for name, value in reading.flow.inputs.items():
            self.known[value] = _of("input", name)
        for value, held in reading.flow.held.items():
            if value not in self.known:  # an input with a default is what clients send
                self.known[value] = self.constant(held)
        for step in reading.flow.steps if reading.flow.complete else ():
            self.step(step)

    def output(self, name: str, value: int) -> bytes | None:
        """An output, with the vectors before a normalisation in place of its form."""
        made, rank = self.reading.maker(value), self.ranks.get(name, 0)
        last = made is not None and made[0].op in ("LpNormalization", "Div", "Mul")
        found = normalised(self.reading, value) if last else None
        if found is None or not found.exact or not found.axes or not rank:
            return self.known.get(value)
        before = self.known.get(found.before)
        return None if before is None else _of("normalised", sorted(axis % rank for axis in found.axes), before)

    def constant(self, held: Held, *, turned: bool = False) -> bytes | None:
        """A constant by type, dims and bytes, wherever it is written."""
        tensor, attribute = held
        if tensor is not None:
            if tensor.dtype.startswith(("int", "uint", "bool")) and tensor.numel <= _SAMPLE and not turned:
                return _of(tensor.dtype, tensor.dims, values(self.reading.source, tensor))
            return self.weights.digest(tensor, turned=turned)
        if attribute is None or attribute.kind not in _TYPED:
            return None
        found = setting(self.reading.source, attribute) or ()
        kind, dims = _TYPED[attribute.kind], (len(found),) if attribute.kind > 3 else ()
        if kind == "float":
            text = f"{kind}{dims}".encode()
            return blake2b(text + struct.pack(f"<{len(found)}f", *found), digest_size=16).digest()
        return _of(kind, dims, found)

    def step(self, step: Step) -> None:
        """The outputs of an operator from its inputs."""
        inputs = [self.known.get(value) for value in step.inputs]
        if None in inputs:
            return
        op = step.op
        if not step.domain and (op == "Identity" or (op == "Dropout" and len(inputs) == 1)):
            self.known[step.outputs[0]] = inputs[0]
            return
        if not step.domain and op == "Gemm" and (plain := self.gemm(step, inputs)) is not None:
            self.known[step.outputs[0]] = plain
            return
        attributes: list[Any] = []
        for name, attribute in sorted(step.attributes.items()):
            if attribute.graphs or attribute.end - attribute.begin > _LARGE:
                return
            attributes += [name, self.reading.source.read(attribute.begin, attribute.end - attribute.begin)]
        if not step.domain and op in _EITHER_WAY:
            inputs.sort(key=lambda each: each or b"")
        version = step.version
        if not step.domain and version > _STANDING and op not in _MOVED:
            version = _STANDING
        for number, value in enumerate(step.outputs):
            if value:
                where = (number, len(step.outputs)) if len(step.outputs) > 1 else ()
                self.known[value] = _computed(op, step.domain, version, attributes, inputs, *where)

    def gemm(self, step: Step, inputs: list[bytes | None]) -> bytes | None:
        """A Gemm as the MatMul and Add that give the same."""
        number, scalar = self.reading.number, self.reading.scalar
        if scalar(step, "alpha", 1.0) != 1 or scalar(step, "beta", 1.0) != 1 or number(step, "transA", 0):
            return None
        weight = inputs[1]
        if number(step, "transB", 0):
            held = self.reading.flow.held.get(step.inputs[1])
            weight = None if held is None else self.constant(held, turned=True)
        if weight is None:
            return None
        version = min(step.version, _STANDING)
        product = _computed("MatMul", "", version, [], [inputs[0], weight])
        if len(inputs) < 3 or not step.inputs[2]:
            return product
        added = sorted((product, inputs[2] or b""))
        return _computed("Add", "", version, [], [*added])


def _computed(
    op: str, domain: str, version: int, attributes: list[Any], inputs: list[bytes | None], *where: int
) -> bytes:
    return _of(op, domain, version, attributes, inputs, where)


def _of(*parts: Any) -> bytes:
    return blake2b(repr(parts).encode(), digest_size=16).digest()
