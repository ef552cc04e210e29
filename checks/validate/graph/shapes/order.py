"""The order in which the operators of a graph are looked at."""

from __future__ import annotations

from collections.abc import Sequence

from .....models.onnx import Graph, Node
from ..scopes import free


def order_of(graph: Graph) -> list[Node] | None:
    """Operators that an output needs, makers before users; None where they go in a circle."""
    maker = {name: i for i, node in enumerate(graph.nodes) for name in node.outputs if name}
    needs = [_needs(node) for node in graph.nodes]
    if all(maker.get(name, -1) < i for i, names in enumerate(needs) for name in names):
        return _live(graph, needs)
    order: list[Node] = []
    state = [0] * len(graph.nodes)  # 0 unseen, 1 waiting for its inputs, 2 done
    stack = [maker[value.name] for value in reversed(graph.outputs) if value.name in maker]
    while stack:
        i = stack[-1]
        if state[i]:
            stack.pop()
            if state[i] == 1:
                state[i] = 2
                order.append(graph.nodes[i])
            continue
        state[i] = 1
        before = {maker[name] for name in needs[i] if name in maker}
        if any(state[j] == 1 for j in before):
            return None
        stack += [j for j in before if not state[j]]
    return order


def _live(graph: Graph, needs: list[Sequence[str]]) -> list[Node]:
    """The operators that an output needs, of a graph in which makers come before users."""
    wanted = {value.name for value in graph.outputs}
    order: list[Node] = []
    for node, names in zip(reversed(graph.nodes), reversed(needs), strict=True):
        if not wanted.isdisjoint(node.outputs):
            wanted.update(names)
            wanted.discard("")
            order.append(node)
    return order[::-1]


def _needs(node: Node) -> Sequence[str]:
    bodies = [body for attribute in node.attributes for body in attribute.graphs]
    return [*node.inputs, *(name for body in bodies for name in free(body))] if bodies else node.inputs
