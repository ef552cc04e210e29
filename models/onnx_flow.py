"""An ONNX model as one flow of steps: functions called in place, bodies of If, Loop and Scan joined to their operator.

Values are numbers, as names mean something else in each function and body. 0 is an optional value left out.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from .onnx import Attribute, Graph, Initializer, Node, OnnxModel

MAX_STEPS = 100_000
MAX_CALLS = 30  # functions that call functions …
# The constant operators of ONNX; what they hold is a tensor or a plain value in an attribute.
_CONSTANT = "Constant"

# How many inputs an operator takes at least, where it is not one: with fewer it is no such operator.
_LEAST = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Pow", "Mod", "Equal", "Greater", "Less", "GreaterOrEqual"), 2),
    **dict.fromkeys(("LessOrEqual", "And", "Or", "Xor", "Gather", "GatherElements", "GatherND", "OneHot"), 2),
    **dict.fromkeys(("ArrayFeatureExtractor", "MatMul", "Gemm", "Conv", "QuantizeLinear", "DequantizeLinear"), 2),
    **dict.fromkeys(("Constant", "RandomNormal", "RandomUniform", "SequenceEmpty", "Optional"), 0),
    "Where": 3,
}

Env = dict[str, int]
Functions = dict[tuple[str, str], Graph]
Around = tuple[Env, dict[str, Attribute], dict[str, int]]


class Step(NamedTuple):
    """An operator with all its attributes. If, Loop and Scan are a step for each output, which takes the condition (If)
    or the count (Loop), and then that output's value of each body."""

    op: str
    domain: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    attributes: dict[str, Attribute]
    version: int
    name: str = ""


class Held(NamedTuple):
    """A value that is written in the model: a tensor, or a plain attribute of a Constant."""

    tensor: Initializer | None
    attribute: Attribute | None = None

    @property
    def dims(self) -> tuple[int, ...] | None:
        """Dims of a tensor; None of a plain attribute."""
        return None if self.tensor is None else self.tensor.dims


@dataclass(slots=True)
class Flow:
    """`maker` and `users` tell which step makes or takes a value (and as which output or input)."""

    steps: list[Step] = field(default_factory=list[Step])
    held: dict[int, Held] = field(default_factory=dict[int, Held])
    inputs: dict[str, int] = field(default_factory=dict[str, int])
    outputs: dict[str, int] = field(default_factory=dict[str, int])
    maker: dict[int, tuple[Step, int]] = field(default_factory=dict[int, tuple[Step, int]])
    users: dict[int, list[tuple[Step, int]]] = field(default_factory=lambda: defaultdict(list))
    complete: bool = True


def flow(model: OnnxModel) -> Flow:
    """The flow of a model. Where functions call each other too deep, or multiply, the call stays as one step."""
    return _Builder(model).result


class _Builder:
    def __init__(self, model: OnnxModel) -> None:
        self.result = Flow()
        self.count = 0
        self.functions: Functions = {(domain, name): body for (domain, name, _), body in model.functions.items()}
        self.opsets = model.opsets
        env: Env = {}
        for value in model.graph.inputs:
            env[value.name] = self.new()
        self.graph(model.graph, env, {}, model.opsets, 0)
        # An input with a default is what a client may send, not a constant.
        self.result.inputs = {value.name: env[value.name] for value in model.graph.inputs}
        self.result.outputs = {v.name: env[v.name] for v in model.graph.outputs if v.name in env}
        for step in self.result.steps:
            for i, value in enumerate(step.outputs):
                if value:
                    self.result.maker[value] = step, i
            for i, value in enumerate(step.inputs):
                if value:
                    self.result.users[value].append((step, i))

    def new(self) -> int:
        self.count += 1
        return self.count

    def graph(self, graph: Graph, env: Env, given: dict[str, Attribute], opsets: dict[str, int], depth: int) -> None:
        """Add the steps of a graph. `env` holds what it sees and then what it makes; `given` are attributes of the
        function it is the body of."""
        for name, tensor in graph.initializers.items():
            if name not in env:
                env[name] = self.new()
            self.result.held[env[name]] = Held(tensor)
        for node in graph.nodes:
            for name in node.outputs:
                if name:
                    env[name] = self.new()
        for node in graph.nodes:
            self.node(node, env, given, opsets, depth)

    def node(self, node: Node, env: Env, given: dict[str, Attribute], opsets: dict[str, int], depth: int) -> None:
        inputs = tuple(env.get(name, 0) if name else 0 for name in node.inputs)
        outputs = tuple(env[name] if name else 0 for name in node.outputs)
        attributes: dict[str, Attribute] = {}
        for each in node.attributes:
            real = given.get(each.reference) if each.reference else each
            if real is not None:
                attributes[each.name] = real
        if node.op == _CONSTANT and not node.domain and outputs:
            for each in attributes.values():
                tensor = each.tensors[0] if each.tensors else None
                self.result.held[outputs[0]] = Held(tensor, None if tensor else each)
            return
        version = opsets.get(node.domain, self.opsets.get(node.domain, 0))
        whole = len(inputs) >= _LEAST.get(node.op, 1 if node.domain in ("", "ai.onnx.ml") else 0)
        op = node.op if whole else f"{node.op} without inputs"
        step = Step(op, node.domain, inputs, outputs, attributes, version, node.name)
        called = self.functions.get((node.domain, node.op))
        known = not node.domain and node.op in ("If", "Loop", "Scan", "SequenceMap")
        # What an If does where its condition holds comes first, in whatever order the file has the two.
        bodies = [graph for name in sorted(attributes, reverse=True) for graph in attributes[name].graphs]
        bodies = bodies if known else []
        room = depth < MAX_CALLS and len(self.result.steps) < MAX_STEPS
        if called is not None and room:
            self.call(step, called, called.opsets or opsets, depth)
        elif bodies and room:
            self.bodies(step, bodies, (env, given, opsets), depth)
        else:
            self.result.complete &= called is None and not bodies
            self.result.steps.append(step)

    def call(self, step: Step, body: Graph, opsets: dict[str, int], depth: int) -> None:
        """The steps of a function in the place of its call."""
        inner: Env = {value.name: known for value, known in zip(body.inputs, step.inputs, strict=False)}
        given = {each.name: each for each in body.defaults} | step.attributes
        self.graph(body, inner, given, opsets, depth + 1)
        for value, output in zip(body.outputs, step.outputs, strict=False):
            made = inner.get(value.name, 0)
            self.result.steps.append(Step("Identity", "", (made,), (output,), {}, step.version, step.name))

    def bodies(self, step: Step, bodies: list[Graph], around: Around, depth: int) -> None:
        """Join bodies to their operator: what a body starts from is what the operator is given."""
        env, given, opsets = around
        loop = step.op == "Loop"  # its body takes the count and the condition first, and gives the condition first
        made: list[list[int]] = []
        for body in bodies:
            inner = dict(env)
            for i, value in enumerate(body.inputs):
                known = step.inputs[i] if i < len(step.inputs) and not (loop and i < 2) else 0
                inner[value.name] = known or self.new()
            self.graph(body, inner, given, opsets, depth + 1)
            made.append([inner.get(value.name, 0) for value in body.outputs][1 if loop else 0 :])
        plain = {name: each for name, each in step.attributes.items() if not each.graphs}
        own = (*step.inputs, 0)[:1] if step.op in ("If", "Loop") else ()
        for k, output in enumerate(step.outputs):
            if output:
                ends = tuple(ids[k] for ids in made if k < len(ids))
                self.result.steps.append(step._replace(inputs=(*own, *ends), outputs=(output,), attributes=plain))
