"""ONX-GRAPH: a graph that does not hold together, so that no runtime can load it."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.onnx import Dimension, Graph, OnnxModel
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import show_size
from .scopes import Fault, counts, faults

RULE = Rule(
    id="ONX-GRAPH",
    name="graph-inconsistent",
    family="ONX",
    severity=Severity.ERROR,
    summary="the graph reads or promises tensors that nothing makes, makes one twice, or waits for itself",
    what="Names of inputs, weights, operators and their outputs, in the main graph, in bodies (which see the graphs "
    "around them) and in functions that are called (which see nothing else); the order of operators in bodies and "
    "functions; how many values bodies and functions take and give; imports of operator sets; functions that call "
    "themselves or are defined twice; defaults that are not what their input declares.",
    why="the load fails with 'not a graph input, initializer, or output of a previous node', 'Duplicate definition', "
    "'the graph is not acyclic', 'must be in single static assignment (SSA) form', 'two nodes with same node name', "
    "'No opset registered', or the like",
    hint="export the model again; run onnx.checker.check_model after editing a graph",
    exemptions=("what is inside functions that nothing calls", "operators of the main graph in any order"),
    references=("https://github.com/onnx/onnx/blob/main/docs/IR.md#names-within-a-graph",),
)
_SHOWN = 5


def check(ctx: Context) -> Iterator[Finding]:
    """The first few faults of each file."""
    for file, model in ctx.new.onnx.items():
        found = list(dict.fromkeys(_all(model)))
        for message, tensor in found[:_SHOWN]:
            yield ctx.finding(RULE, "breaks", message, path=file, tensor=tensor)
        if len(found) > _SHOWN:
            yield ctx.finding(RULE, "breaks", f"and {len(found) - _SHOWN:,} more faults of this kind", path=file)


def _all(model: OnnxModel) -> Iterator[Fault]:
    yield from _head(model)
    yield from _inputs(model)
    bodies = called(model)
    yield from _functions(model, bodies)
    yield from faults(model.graph)
    for body in bodies:
        yield from faults(body, function=True)
    for root in (model.graph, *bodies):
        for graph in root.walk():
            for node in graph.nodes:
                if node.op in ("If", "Loop") and not node.domain:
                    yield from counts(node, len(node.outputs))


def called(model: OnnxModel) -> list[Graph]:
    """Bodies of the functions that the main graph needs, directly or through others."""
    bodies: dict[tuple[str, str], list[Graph]] = {}
    for (domain, name, _), body in model.functions.items():
        bodies.setdefault((domain, name), []).append(body)
    result: list[Graph] = []
    waiting = [model.graph]
    while waiting and bodies:
        for graph in waiting.pop().walk():
            for node in graph.nodes:
                found = bodies.pop((node.domain, node.op), [])
                result += found
                waiting += found
    return result


def _head(model: OnnxModel) -> Iterator[Fault]:
    """Versions without which nothing says what the graph means."""
    if model.ir_version < 1:
        yield Fault("declares no IR version", "")
    if not model.opsets:
        yield Fault("imports no operator set", "")


def _inputs(model: OnnxModel) -> Iterator[Fault]:
    """Inputs and weights without a type, and defaults that are not what is declared."""
    for tensor in model.graph.initializers.values():
        if tensor.dtype == "undefined":
            yield Fault(f"weight '{tensor.name}' has no type", tensor.name)
    for value in model.graph.inputs:
        tensor = model.graph.initializers.get(value.name)
        if value.name and tensor is None and value.type in ("", "tensor(undefined)"):
            yield Fault(f"input '{value.name}' has no type", value.name)
        if tensor is None or tensor.dtype == "undefined":
            continue
        if value.type.startswith("tensor(") and value.type not in (f"tensor({tensor.dtype})", "tensor(undefined)"):
            text = f"the default of input '{value.name}' is {tensor.dtype}, declared is {value.type[7:-1]}"
            yield Fault(text, value.name)
        elif value.shape is not None and _differs(value.shape, tensor.dims):
            declared = ",".join(map(show_size, value.shape))
            text = f"the default of input '{value.name}' is {list(tensor.dims)}, declared is [{declared}]"
            yield Fault(text, value.name)


def _differs(declared: tuple[Dimension, ...], dims: tuple[int, ...]) -> bool:
    """Here a declared 0 is a size, and only a negative one is open."""
    if len(declared) != len(dims):
        return True
    return any(isinstance(size, int) and 0 <= size != real for size, real in zip(declared, dims, strict=True))


def _functions(model: OnnxModel, bodies: list[Graph]) -> Iterator[Fault]:
    """What a function has to be whether it is called or not, and calls that do not fit; `bodies` are called."""
    for domain, name, _ in model.repeated:
        yield Fault(f"function '{name}' of '{domain}' is defined twice", "")
    sizes: dict[tuple[str, str], tuple[int, int]] = {}
    calls: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for (domain, name, _), body in model.functions.items():
        key = (domain, name)
        sizes[key] = len(body.inputs), len(body.outputs)
        made = {output for node in body.nodes for output in node.outputs}
        for value in body.outputs:
            if value.name not in made:
                text = f"function '{name}' promises '{value.name}', which none of its operators makes"
                yield Fault(text, value.name)
        if len({value.name for value in body.outputs}) < len(body.outputs):
            yield Fault(f"function '{name}' promises an output twice", "")
        nodes = [node for graph in body.walk() for node in graph.nodes]
        calls[key] = {(node.domain, node.op) for node in nodes} & {(d, n) for d, n, _ in model.functions}
        for used in sorted({node.domain for node in nodes} - body.opsets.keys()):
            yield Fault(f"function '{name}' uses operators of '{used or 'ai.onnx'}', which it does not import", "")
    for root in (model.graph, *bodies):
        for graph in root.walk():
            for node in graph.nodes:
                key = (node.domain, node.op)
                if key in sizes:
                    yield from _call(node.op, (len(node.inputs), len(node.outputs)), sizes[key])
                if key in sizes and root is model.graph and node.domain and node.domain not in model.opsets:
                    yield Fault(f"calls function '{node.op}' of '{node.domain}', which the model does not import", "")
    yield from _recursive(calls)


def _call(name: str, have: tuple[int, int], want: tuple[int, int]) -> Iterator[Fault]:
    if have[0] > want[0]:
        yield Fault(f"function '{name}' takes {want[0]} inputs, but is given {have[0]}", "")
    if have[1] != want[1]:
        yield Fault(f"function '{name}' gives {want[1]} outputs, but is asked for {have[1]}", "")


def _recursive(calls: dict[tuple[str, str], set[tuple[str, str]]]) -> Iterator[Fault]:
    """Functions that reach themselves."""
    for start, first in calls.items():
        seen: set[tuple[str, str]] = set()
        waiting = list(first)
        while waiting:
            at = waiting.pop()
            if at not in seen:
                seen.add(at)
                waiting += calls[at]
        if start in seen:
            yield Fault(f"function '{start[1]}' calls itself", "")
            return
