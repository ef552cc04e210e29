"""Which parts of a graph changed: local fingerprints of operators, and the connected groups of the new ones.

An operator's fingerprint covers its domain, type, attributes (tensors by type and dims only), the types and dims of
the weights it takes, and the operators around it, but no names: exporters rename everything. Operators whose
fingerprint the old graph does not have are changed; those that touch each other form a changed subgraph, the unit
of partial recompilation.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from hashlib import blake2b
from typing import Any

from ....models.onnx import Graph, Initializer, Node, OnnxModel
from ....models.source import FileSource, open_file
from ..side import Side

MAX_NODES = 50_000
_LARGE = 1 << 16  # attributes above this many bytes are compared by length


class Structure:
    """Fingerprints of every operator of one model, main graph and bodies alike."""

    def __init__(self, side: Side, model: OnnxModel) -> None:
        self.nodes: list[Node] = []
        self.prints: list[bytes] = []
        self.edges: list[tuple[int, int]] = []
        with open_file(side.tree.files[model.file].path) as source:
            for graph in model.graphs():
                self._graph(graph, source)

    def _graph(self, graph: Graph, source: FileSource) -> None:
        first = len(self.nodes)
        made: dict[str, int] = {}
        for i, node in enumerate(graph.nodes, first):
            made.update((name, i) for name in node.outputs if name)
        plain = [_own(node, graph, source) for node in graph.nodes]
        before: dict[int, list[bytes]] = defaultdict(list)
        after: dict[int, list[bytes]] = defaultdict(list)
        for i, node in enumerate(graph.nodes, first):
            for name in node.inputs:
                j = made.get(name)
                if j is not None:
                    self.edges.append((j, i))
                    before[i].append(plain[j - first])
                    after[j].append(plain[i - first])
        for i, node in enumerate(graph.nodes, first):
            around = b"".join(before[i]) + b"|" + b"".join(sorted(after[i]))
            self.nodes.append(node)
            self.prints.append(blake2b(plain[i - first] + around, digest_size=12).digest())

    def changed(self, other: Structure) -> list[list[int]]:
        """Groups of connected operators that `other` does not have, largest first."""
        spare = Counter(other.prints)
        fresh: set[int] = set()
        for i, mark in enumerate(self.prints):
            if spare[mark]:
                spare[mark] -= 1
            else:
                fresh.add(i)
        parent = {i: i for i in fresh}

        def root(i: int) -> int:
            while parent[i] != i:
                parent[i] = parent[parent[i]]
                i = parent[i]
            return i

        for a, b in self.edges:
            if a in fresh and b in fresh:
                parent[root(a)] = root(b)
        groups: dict[int, list[int]] = defaultdict(list)
        for i in sorted(fresh):
            groups[root(i)].append(i)
        return sorted(groups.values(), key=lambda group: (-len(group), group))

    def describe(self, group: list[int]) -> dict[str, Any]:
        """A changed subgraph for the report."""
        operators = Counter(self.nodes[i].op for i in group)
        first = self.nodes[group[0]]
        return {
            "operators": len(group),
            "types": dict(operators.most_common(8)),
            "first": first.name or (first.outputs[0] if first.outputs else first.op),
        }


def _own(node: Node, graph: Graph, source: FileSource) -> bytes:
    """An operator by itself."""
    digest = blake2b(f"{node.domain}\0{node.op}\0{len(node.inputs)}\0{len(node.outputs)}".encode(), digest_size=12)
    for attribute in sorted(node.attributes, key=lambda each: each.name):
        digest.update(attribute.name.encode() + b"\0")
        if attribute.tensors or attribute.graphs:
            digest.update(b"".join(map(_weight, attribute.tensors)))
            digest.update(b"".join(f"{len(each.nodes)}".encode() for each in attribute.graphs))
        elif attribute.end - attribute.begin <= _LARGE:
            digest.update(source.read(attribute.begin, attribute.end - attribute.begin))
        else:
            digest.update(str(attribute.end - attribute.begin).encode())
    for name in node.inputs:
        weight = graph.initializers.get(name)
        digest.update(_weight(weight) if weight is not None else b"?" if name else b"-")
    return digest.digest()


def _weight(tensor: Initializer) -> bytes:
    return f"{tensor.dtype}{tensor.dims}".encode()
