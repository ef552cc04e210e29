"""Shape inference over the main graph: what operators give, from input declarations, weights' dims and small constants.

It is sound before it is complete. What is not modelled has an unknown shape, an unknown size has a name of its own,
and a fault is only told where no input could avoid it. Operators that no output needs are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .....models.onnx import Attribute, Dimension, Graph, Initializer, Node, OnnxModel
from .....models.onnx_values import values
from .....models.source import Source
from ..contract import dynamic, promised
from ..scopes import Fault
from .order import order_of
from .samples import open_axis
from .terms import UNKNOWN_MARK, Shape, Term, axis_of, cancel, fixed, named, show, unclear, whole

MAX_NODES = 50_000
MAX_RANK = 16
# Longer lists of sizes or positions are not followed.
MAX_VALUES = 256
# Before this version binary operators broadcast by attributes.
OLDEST = 7


class Fact(NamedTuple):
    """What is known about a tensor: its shape, and its values row by row where they are few whole numbers or sizes."""

    shape: Shape | None = None
    values: tuple[Term | None, ...] | None = None


UNKNOWN = Fact()
Step = Callable[["Call"], list[Fact]]


@dataclass(slots=True)
class Inferred:
    """What follows from a graph.

    `faults` are operators that fail on every input. `required` maps a named size to the only number that the graph
    works with, `multiples` to one that it has to be a multiple of, `least` and `most` to the smallest and the largest,
    and `either` to the only one besides 1, each with why. `cuts` are sizes of tables cut to an open size, by name: that
    size and the length of the table. `blind` says that some operator may ask for more: shapes that it works with are
    unknown.
    """

    facts: dict[str, Fact] = field(default_factory=dict[str, Fact])
    constants: dict[str, Initializer] = field(default_factory=dict[str, Initializer])
    faults: list[Fault] = field(default_factory=list[Fault])
    required: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    multiples: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    least: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    either: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    most: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    cuts: dict[str, tuple[Term, int]] = field(default_factory=dict[str, tuple[Term, int]])
    blind: bool = False

    def shape(self, name: str) -> Shape | None:
        """The shape of a tensor, None where even its rank is unknown."""
        return self.facts.get(name, UNKNOWN).shape


@dataclass(slots=True)
class Call:
    """One operator with what is known about its inputs, as the functions of the operators see it."""

    node: Node
    opset: int
    inputs: list[Fact]
    source: Source | None
    result: Inferred

    def shape(self, index: int) -> Shape | None:
        """The shape of an input."""
        return self.inputs[index].shape if index < len(self.inputs) else None

    def given(self, index: int) -> bool:
        """Whether an input is there."""
        return index < len(self.node.inputs) and bool(self.node.inputs[index])

    def values(self, index: int) -> tuple[Term | None, ...] | None:
        """The values of an input."""
        return self.inputs[index].values if index < len(self.inputs) else None

    def numbers(self, index: int) -> list[int] | None:
        """The values of an input where all are known numbers."""
        values = self.values(index)
        if values is None:
            return None
        known = [fixed(term) for term in values if term is not None]
        found = [number for number in known if number is not None]
        return found if len(found) == len(values) else None

    def decimals(self, index: int) -> list[float] | None:
        """The values of a short constant of floats."""
        tensor = self.result.constants.get(self.node.inputs[index]) if self.given(index) else None
        if tensor is None or self.source is None or tensor.dtype != "float" or tensor.numel > MAX_RANK:
            return None
        found = values(self.source, tensor)
        return None if found is None else [float(each) for each in found]

    def attribute(self, name: str) -> Attribute | None:
        """An attribute by name."""
        return next((each for each in self.node.attributes if each.name == name), None)

    def integer(self, name: str, default: int) -> int:
        """An integer attribute."""
        found = self.attribute(name)
        return found.integers[-1] if found is not None and found.integers else default

    def integers(self, name: str) -> list[int] | None:
        """A list of integers, None where it is not given."""
        found = self.attribute(name)
        return None if found is None else list(found.integers)

    def text(self, name: str) -> str:
        """A text attribute."""
        found = self.attribute(name)
        return "" if found is None else found.text

    def constant(self, tensor: Initializer) -> Fact:
        """A tensor that is part of the model."""
        if self.node.op == "Constant":
            self.result.constants[self.node.outputs[0]] = tensor
        return _known(tensor, self.source)

    def fresh(self, axis: int, output: int = 0) -> Term:
        """A size of which nothing is known."""
        return named(UNKNOWN_MARK + axis_of(self.node.outputs[output], axis))

    def axis(self, axis: int, rank: int) -> int | None:
        """An axis counted from the front; one that is not there is a fault."""
        if -rank <= axis < rank:
            return axis % rank
        if rank == 0:
            return None  # runtimes differ in what they let pass for a scalar
        self.fault(f"has no axis {axis} in {rank} dimensions")
        return None

    def fault(self, text: str) -> None:
        """This operator fails whatever comes in."""
        name = f" '{self.node.name[:80]}'" if self.node.name else ""
        self.result.faults.append(Fault(f"{self.node.op}{name} {text}", self.node.outputs[0]))

    def meet(self, a: Term, b: Term, told: Callable[[], str]) -> Term:
        """Both sizes must be equal; `told` says what for where they may not be. The simpler of the two."""
        if a == b:
            return a
        x, y = cancel(a, b)
        text = told()
        if not x[1] and not y[1]:
            if x[0] != y[0]:
                self.fault(f"{text}, but {show(a)} is not {show(b)}")
            return a
        for known, open_ in ((x, y), (y, x)):
            if not known[1] and open_[1] and known[0] == open_[0] > 0:
                for name in open_[1]:  # a product of sizes is one where each of them is
                    self.require(name, 1, text)
                return a if not a[1] else b
            if not known[1] and len(open_[1]) == 1:
                if open_[0] == 0 or known[0] % open_[0]:
                    self.fault(f"{text}, but {show(a)} is never {show(b)}")
                else:
                    self.require(open_[1][0], known[0] // open_[0], text)
                return a if not a[1] else b
        self.result.blind |= unclear(a) or unclear(b)
        return a if not a[1] else b

    def require(self, name: str, number: int, text: str) -> None:
        """A named size must be this number."""
        before = self.result.required.setdefault(name, (number, f"{self.node.op} {text}"))
        if before[0] != number:
            self.fault(f"{text}: it needs {name} to be {number}, {before[1]} needs it to be {before[0]}")

    def at_least(self, name: str, number: int, text: str) -> None:
        """A named size must not be smaller than this number."""
        if number > self.result.least.get(name, (0, ""))[0]:
            self.result.least[name] = number, f"{self.node.op} {text}"


def infer(model: OnnxModel, source: Source | None, sent: Mapping[str, int] | None = None) -> Inferred:
    """Shapes of every tensor of the main graph that an output needs.

    `source` is the model's file; without it, the values of constants are not known. `sent` are numbers that clients are
    known to send for open axes.
    """
    from .operators import STEPS

    result = Inferred()
    opset = model.opsets.get("", 0)
    graph = model.graph
    order = order_of(graph) if opset >= OLDEST and len(graph.nodes) <= MAX_NODES else None
    if order is None:
        result.blind = True
        return result
    _start(model, result, source, sent or {})
    own = {(domain, name) for domain, name, _ in model.functions}
    _steps(order, opset, {key: step for key, step in STEPS.items() if key not in own}, source, result)
    return result


def follow(graph: Graph, call: Call, result: Inferred) -> None:
    """What follows inside the body of an operator, from the facts that `result` begins with."""
    from .operators import STEPS

    order = order_of(graph)
    if order is None:
        result.blind = True
        return
    for name, tensor in graph.initializers.items():
        result.facts[name] = _known(tensor, call.source)
    _steps(order, call.opset, STEPS, call.source, result)


def _steps(
    order: list[Node], opset: int, steps: dict[tuple[str, str], Step], source: Source | None, result: Inferred
) -> None:
    facts = result.facts
    for node in order:
        step = steps.get((node.domain, node.op))
        if step is None or not node.outputs or not node.outputs[0]:
            result.blind = True
            continue
        made = step(Call(node, opset, [facts.get(name, UNKNOWN) for name in node.inputs], source, result))
        for name, fact in zip(node.outputs, made, strict=False):
            if fact.shape is not None and len(fact.shape) <= MAX_RANK and all(size >= 0 for size, _ in fact.shape):
                facts[name] = fact
        if node.outputs[0] not in facts:
            result.blind = True


def _start(model: OnnxModel, result: Inferred, source: Source | None, known: Mapping[str, int]) -> None:
    """Facts about inputs and weights. Values that a client may send instead of the default are not known."""
    graph = model.graph
    sent = {value.name for value in promised(model, "inputs")}
    for name, tensor in graph.initializers.items():
        result.facts[name] = _known(tensor, None if name in sent else source)
        if name not in sent:
            result.constants[name] = tensor
    for value in graph.inputs:
        if value.shape is None or (value.name in graph.initializers and value.name not in sent):
            continue
        sizes = (known.get(axis_of(value.name, i), size) for i, size in enumerate(value.shape))
        result.facts[value.name] = Fact(tuple(_declared(value.name, i, size) for i, size in enumerate(sizes)))


def _known(tensor: Initializer, source: Source | None) -> Fact:
    found = None
    if source is not None and tensor.dtype in ("int64", "int32") and len(tensor.dims) < 2:
        found = values(source, tensor, MAX_VALUES)
    return Fact(tuple(map(whole, tensor.dims)), None if found is None else tuple(whole(int(each)) for each in found))


def _declared(name: str, axis: int, dimension: Dimension) -> Term:
    """Runtimes hold clients to sizes, but not to names: two axes of one name may differ."""
    if isinstance(dimension, int) and not dynamic(dimension):
        return whole(dimension)
    return open_axis(axis_of(name, axis))
