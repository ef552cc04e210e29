"""ONX-SHAPE: a product of an input and a weight whose declared sizes cannot meet."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.onnx import Dimension, Graph, Node
from ....models.onnx_messages import flag
from ....models.source import FileSource, open_file
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import dynamic, show_size

RULE = Rule(
    id="ONX-SHAPE",
    name="shapes-cannot-meet",
    family="ONX",
    severity=Severity.ERROR,
    summary="a matrix product of inputs and weights whose declared sizes differ",
    what="MatMul and Gemm of the main graph whose operands are graph inputs with declared sizes, or weights.",
    why="the load fails with 'Incompatible dimensions for matrix multiplication', or every request does",
    hint="export the graph again from the weights that it ships with",
    exemptions=("sizes that are dynamic", "operands that other operators make: their sizes are not declared"),
)
Shape = tuple[Dimension, ...]


def check(ctx: Context) -> Iterator[Finding]:
    """One finding an operator."""
    for file, model in ctx.new.onnx.items():
        graph = model.graph
        products = [node for node in graph.nodes if not node.domain and node.op in ("MatMul", "Gemm")]
        if not products:
            continue
        shapes = _declared(graph)
        with open_file(ctx.new.tree.files[file].path) as source:
            for node in products:
                a, b = (shapes.get(name) for name in (*node.inputs, "", "")[:2])
                if a is not None and b is not None and (message := _fault(node, a, b, source)):
                    yield ctx.finding(RULE, "breaks", message, path=file, tensor=node.inputs[1])


def _declared(graph: Graph) -> dict[str, Shape]:
    """Shapes by name; what a graph input declares counts before what its default happens to have."""
    shapes: dict[str, Shape] = {name: tensor.dims for name, tensor in graph.initializers.items()}
    shapes.update((value.name, value.shape) for value in graph.inputs if value.shape is not None)
    return shapes


def _fault(node: Node, a: Shape, b: Shape, source: FileSource) -> str:
    name = f" '{node.name[:80]}'" if node.name else ""
    text = f"{node.op}{name} multiplies '{node.inputs[0]}' {_show(a)} and '{node.inputs[1]}' {_show(b)}"
    if node.op == "Gemm":
        if len(a) != 2 or len(b) != 2:
            return ""
        inner = a[0 if _set(node, "transA", source) else 1], b[1 if _set(node, "transB", source) else 0]
    elif len(a) > 0 and len(b) > 0:
        inner = a[-1], b[-2] if len(b) > 1 else b[0]
    else:
        return ""
    x, y = inner
    if dynamic(x) or dynamic(y) or x == y:
        return ""
    return f"{text}, but {x} is not {y}"


def _set(node: Node, name: str, source: FileSource) -> bool:
    found = next((attribute for attribute in node.attributes if attribute.name == name), None)
    return found is not None and flag(source, found)


def _show(shape: Shape) -> str:
    return f"[{','.join(map(show_size, shape))}]"
