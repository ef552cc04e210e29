"""ONX-GRAPH: a graph that does not hold together, so that no runtime can load it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ....models.onnx import Graph, OnnxModel
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule

RULE = Rule(
    id="ONX-GRAPH",
    name="graph-inconsistent",
    family="ONX",
    severity=Severity.ERROR,
    summary="the graph reads or promises tensors that nothing makes, makes one twice, or waits for itself",
    what="Names of all inputs, weights and operator outputs, in the main graph, in bodies (which see the graphs around "
    "them) and in functions that are called (which see nothing else).",
    why="the load fails with 'not a graph input, initializer, or output of a previous node', 'Duplicate definition' or "
    "'the graph is not acyclic'",
    hint="export the model again; run onnx.checker.check_model after editing a graph",
    exemptions=("functions that nothing calls", "operators in any order"),
    references=("https://github.com/onnx/onnx/blob/main/docs/IR.md#names-within-a-graph",),
)
_SHOWN = 5


class Fault(NamedTuple):
    """What is wrong, and the tensor it is about."""

    message: str
    tensor: str


def check(ctx: Context) -> Iterator[Finding]:
    """The first few faults of each file."""
    for file, model in ctx.new.onnx.items():
        roots = (model.graph, *called(model))
        found = list(dict.fromkeys(fault for root in roots for fault in _faults(root, ())))
        for message, tensor in found[:_SHOWN]:
            yield ctx.finding(RULE, "breaks", message, path=file, tensor=tensor)
        if len(found) > _SHOWN:
            yield ctx.finding(RULE, "breaks", f"and {len(found) - _SHOWN:,} more faults of this kind", path=file)


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


def _faults(graph: Graph, around: tuple[set[str], ...]) -> Iterator[Fault]:
    """Faults of a graph and of the bodies in it; `around` holds the names that each graph around it makes."""
    place = f"{f'graph {graph.name[:80]!r}' if graph.name else 'a graph'}: " if around else ""
    made = set(graph.initializers)
    inputs: set[str] = set()
    for value in graph.inputs:
        if value.name in inputs:
            yield Fault(f"{place}declares the input '{value.name}' twice", value.name)
        inputs.add(value.name)
    made |= inputs
    for node in graph.nodes:
        for name in node.outputs:
            if name and name in made:
                yield Fault(f"{place}{node.op} makes '{name}', which is made already", name)
            made.add(name)
    scopes = (*around, made)
    for node in graph.nodes:
        for name in node.inputs:
            if name and not any(name in names for names in scopes):
                yield Fault(f"{place}{node.op} reads '{name}', which nothing makes", name)
        for attribute in node.attributes:
            for body in attribute.graphs:
                yield from _faults(body, scopes)
    for value in graph.outputs:
        if value.name not in made:
            yield Fault(f"{place}promises the output '{value.name}', which nothing makes", value.name)
    if stuck := _cycle(graph):
        yield Fault(
            f"{place}operators wait for each other in a circle, among them {stuck[0]} of '{stuck[1]}'", stuck[1]
        )


def _cycle(graph: Graph) -> tuple[str, str] | None:
    """An operator on a circle (type and an output), None where there is none."""
    maker = {name: i for i, node in enumerate(graph.nodes) for name in node.outputs if name}
    needs: list[set[int]] = []
    users: list[list[int]] = [[] for _ in graph.nodes]
    for i, node in enumerate(graph.nodes):
        names = set(node.inputs)
        for attribute in node.attributes:
            for body in attribute.graphs:
                names |= free(body)
        before = {maker[name] for name in names if name in maker}
        needs.append(before)
        for j in before:
            users[j].append(i)
    left = [len(before) for before in needs]
    ready = [i for i, count in enumerate(left) if count == 0]
    done = 0
    while ready:
        done += 1
        for user in users[ready.pop()]:
            left[user] -= 1
            if left[user] == 0:
                ready.append(user)
    if done == len(graph.nodes):
        return None
    # Whatever waits has something before it that waits: walking back must come round.
    at = next(i for i, count in enumerate(left) if count)
    seen: set[int] = set()
    while at not in seen:
        seen.add(at)
        at = next(j for j in needs[at] if left[j])
    node = graph.nodes[at]
    return node.op, next(iter(name for name in node.outputs if name), node.name)


def free(body: Graph) -> set[str]:
    """Names that a body takes from the graphs around it."""
    made = {value.name for value in body.inputs} | body.initializers.keys()
    used: set[str] = set()
    for node in body.nodes:
        made.update(node.outputs)
        used.update(node.inputs)
        for attribute in node.attributes:
            for graph in attribute.graphs:
                used |= free(graph)
    return used - made - {""}
