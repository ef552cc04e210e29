"""Names in graphs: what is made, read and promised, in which order, in graphs and the bodies in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ....models.onnx import Graph, Node


class Fault(NamedTuple):
    """What is wrong, and the tensor it is about."""

    message: str
    tensor: str


class Unserved(Fault):
    """What one runtime is known to refuse on CPUs, whatever another one does."""


class Scope(NamedTuple):
    """A graph around a body: every name in it, and those that stand before the operator that has the body."""

    made: set[str]
    before: set[str]


def faults(graph: Graph, around: tuple[Scope, ...] = (), *, function: bool = False) -> Iterator[Fault]:
    """Faults of a graph and of the bodies in it; `around` holds the graphs around it.

    Runtimes sort the operators of the main graph, but not those of bodies and of a `function`.
    """
    place = f"{f'graph {graph.name[:80]!r}' if graph.name else 'a graph'}: " if around else ""
    for message, tensor in _own(graph, around, function=function):
        yield Fault(place + message, tensor)
    made = _starts(graph) | {name for node in graph.nodes for name in node.outputs}
    given = _starts(graph) | {name for node in graph.nodes if node.op == "Constant" for name in node.outputs}
    maker = {name: node for node in graph.nodes for name in node.outputs if name}
    for node in graph.nodes:
        bodies = [body for attribute in node.attributes for body in attribute.graphs]
        if bodies:
            scope = Scope(made, given | (_needed(maker, node) if not function else set()))
            for body in bodies:
                yield from faults(body, (*around, scope), function=function)
    if stuck := _cycle(graph):
        text = f"{place}operators wait for each other in a circle, among them {stuck[0]} of '{stuck[1]}'"
        yield Fault(text, stuck[1])


def _needed(maker: dict[str, Node], node: Node) -> set[str]:
    """What stands before an operator in any order: all that it needs, directly or through others."""
    found: set[str] = set()
    todo = [node]
    while todo:
        each = todo.pop()
        bodies = (body for attribute in each.attributes for body in attribute.graphs)
        new = ({*each.inputs}.union(*map(free, bodies))) - found
        todo += {id(maker[name]): maker[name] for name in new if name in maker}.values()
        found |= new
        found.update(name for name in new if name in maker for name in maker[name].outputs)
    return found - {""}


def _starts(graph: Graph) -> set[str]:
    return graph.initializers.keys() | {value.name for value in graph.inputs}


def _own(graph: Graph, around: tuple[Scope, ...], *, function: bool) -> Iterator[Fault]:
    """Faults of one graph, bodies left out."""
    inputs: set[str] = set()
    for value in graph.inputs:
        if value.name in inputs:
            yield Fault(f"declares the input '{value.name}' twice", value.name)
        inputs.add(value.name)
    made = _starts(graph)
    maker = {name: i for i, node in enumerate(graph.nodes) for name in node.outputs if name}
    every = made | maker.keys()
    called: set[str] = set()
    for i, node in enumerate(graph.nodes):
        if node.name and node.op != "Constant":  # runtimes take constants for weights
            if node.name in called:
                yield Fault(f"two operators have the name '{node.name[:80]}'", node.name)
            called.add(node.name)
        for name in node.inputs:
            if not name or any(name in scope.made for scope in around):
                continue
            if name not in every:
                yield Fault(f"{node.op} reads '{name}', which nothing makes", name)
            elif (around or function) and maker.get(name, -1) > i:
                yield Fault(f"{node.op} reads '{name}' before it is made: only the main graph may be unsorted", name)
        for name in node.outputs:
            if name and name in made:
                yield Fault(f"{node.op} makes '{name}', which is made already", name)
            elif name and not function and any(name in scope.before for scope in around):
                yield Fault(f"{node.op} makes '{name}', which a graph around it has already", name)
            made.add(name)
    for value in graph.outputs:
        if value.name not in made:
            yield Fault(f"promises the output '{value.name}', which nothing makes", value.name)


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


def counts(node: Node, outputs: int) -> Iterator[Fault]:
    """Bodies of If and Loop that do not fit their operator, which has this many outputs."""
    first = next(iter(node.outputs), "")
    for attribute in node.attributes:
        for body in attribute.graphs:
            made = len(body.outputs)
            if node.op == "If":
                if body.inputs:
                    yield Fault(f"a body of If has {len(body.inputs)} inputs, but is given none", first)
                if made != outputs:
                    yield Fault(f"{attribute.name} of If gives {made} outputs, If has {outputs}", first)
            elif node.op == "Loop" and attribute.name == "body":
                if len(body.inputs) != max(2, len(node.inputs)):
                    text = f"the body of Loop has {len(body.inputs)} inputs, but is given {max(2, len(node.inputs))}"
                    yield Fault(text, first)
                elif made != outputs + 1:
                    yield Fault(f"the body of Loop gives {made} outputs, Loop has {outputs} and a condition", first)
