"""Element types through a graph: what each operator gives, and operands that its signature does not let meet."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.onnx import ELEMENTS, Graph, Node, OnnxModel, Value
from ....models.onnx_messages import read_noted
from ....models.source import Source
from .kernels import DOUBLE, SINGLE_ONLY
from .operators import NEWEST
from .scopes import Fault, Unserved
from .signatures import Signature, signature

_CONSTANTS = {
    **dict.fromkeys(("value_float", "value_floats"), "float"),
    **dict.fromkeys(("value_int", "value_ints"), "int64"),
    **dict.fromkeys(("value_string", "value_strings"), "string"),
}
_PRECISIONS = {"tensor(float16)", "tensor(bfloat16)", "tensor(float)", "tensor(double)"}
# The attribute that says the type of the output, and the type where it is not given.
_CHOSEN = {"Cast": ("to", ""), "RandomNormal": ("dtype", "float"), "RandomUniform": ("dtype", "float")}
# Their outputs have types that other things than the signature decide.
_LOOSE = frozenset(
    {"If", "Loop", "Scan", "EyeLike", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial", "BitCast"}
)


def faults(model: OnnxModel, source: Source | None) -> Iterator[Fault]:
    """Faults of the main graph and the bodies in it; functions are left out, for their types depend on the caller.

    What the main graph notes about tensors inside it is read from `source`, where precisions are mixed: conversions
    leave notes behind that are no longer true, and runtimes hold the graph to them.
    """
    own = {(domain, name) for domain, name, _ in model.functions}
    types: dict[str, str] = {}
    yield from _graph(model.graph, types, model.opsets, own)
    if source is None or len(_PRECISIONS.intersection(types.values())) < 2:
        return
    makers = {name: node for node in model.graph.nodes for name in node.outputs}
    for value in read_noted(source, model.graph):
        if value.name in makers:
            yield from _told(makers[value.name], types.get(value.name, ""), value)


def _told(maker: Node, made: str, value: Value) -> Iterator[Fault]:
    """Where a graph says another type than an operator gives."""
    if made and value.type and value.type not in (made, "tensor(undefined)"):
        text = f"{maker.op} gives '{value.name}' as {_short(made)}, declared is {_short(value.type)}"
        yield Fault(text, value.name)


def _graph(graph: Graph, types: dict[str, str], opsets: dict[str, int], own: set[tuple[str, str]]) -> Iterator[Fault]:
    """`types` holds those of what the graphs around this one make, and then those of this one, too."""
    makers = {name: node for node in graph.nodes for name in node.outputs if name}
    for name in makers:
        types.pop(name, None)
    types.update((name, f"tensor({tensor.dtype})") for name, tensor in graph.initializers.items())
    types.update((value.name, value.type) for value in graph.inputs if value.type)
    for node in graph.nodes:
        of = None
        version = opsets.get(node.domain, 0)
        if 0 < version <= NEWEST.get(node.domain, 0) and (node.domain, node.op) not in own:
            of = signature(node.domain, node.op, version)
        bodies = [body for attribute in node.attributes for body in attribute.graphs]
        for body in bodies:
            yield from _graph(body, dict(types), opsets, own)
        if of is None:
            continue
        bound: dict[str, str] = {}
        fault = _bind(node, of, types, bound)
        if fault:
            yield Fault(f"{node.op} {fault}", next(iter(node.outputs), ""))
            continue
        if node.op in SINGLE_ONLY.get(node.domain, ()) and bound.get(of.inputs[0].type) == DOUBLE:
            yield Unserved(f"{node.op} of double has no kernel for CPUs in ONNX Runtime", "")
        types.update((name, kind) for name, kind in _outputs(node, of, bound) if kind)
        if node.op == "If" and not node.domain:
            for i, name in enumerate(node.outputs):
                kinds = sorted({body.outputs[i].type for body in bodies if i < len(body.outputs)} - {""})
                if len(kinds) > 1:
                    one, two = map(_short, kinds[:2])
                    yield Fault(f"If gives '{name}' as {one} in one body and as {two} in the other", name)
                elif kinds and kinds[0] != "tensor(undefined)":
                    types[name] = kinds[0]
    for value in graph.outputs:
        if value.name in makers:
            yield from _told(makers[value.name], types.get(value.name, ""), value)


def _bind(node: Node, of: Signature, types: dict[str, str], bound: dict[str, str]) -> str:
    """Fill `bound` from what is known of the inputs; why they do not fit."""
    for i, name in enumerate(node.inputs):
        if not of.inputs:
            return ""
        parameter = of.inputs[min(i, len(of.inputs) - 1)]
        kind = types.get(name, "") if name else ""
        if not kind or kind == "tensor(undefined)":
            continue
        if not of.allows(parameter.type, kind):
            return f"takes '{name}' as {_short(kind)}, which its version does not allow there"
        if parameter.type in of.types and parameter.mark != "+":
            other = bound.setdefault(parameter.type, kind)
            if other != kind:
                return f"takes '{name}' as {_short(kind)}, but another operand is {_short(other)}"
    return ""


def _outputs(node: Node, of: Signature, bound: dict[str, str]) -> Iterator[tuple[str, str]]:
    """(name, type) of the outputs; an empty type is unknown."""
    if node.op in _LOOSE and not node.domain:
        return
    special = _special(node) if not node.domain else None
    for i, name in enumerate(node.outputs):
        if not name or not of.outputs:
            continue
        parameter = of.outputs[min(i, len(of.outputs) - 1)]
        if special is not None:
            yield name, special
        elif parameter.mark == "+":
            continue
        elif parameter.type not in of.types:
            yield name, parameter.type
        elif parameter.type in bound:
            yield name, bound[parameter.type]
        else:
            mask = of.types[parameter.type]
            if mask.bit_count() == 1 and parameter.type not in of.open:
                yield name, f"tensor({ELEMENTS[mask.bit_length() - 1]})"


def _special(node: Node) -> str | None:
    """The type that attributes decide, '' where they do not tell; None where the signature does."""
    if node.op in _CHOSEN:
        name, default = _CHOSEN[node.op]
        number = next((each.integers[-1] for each in node.attributes if each.name == name and each.integers), None)
        if number is not None:
            return f"tensor({ELEMENTS[number]})" if 0 < number < len(ELEMENTS) else ""
        return f"tensor({default})" if default else ""
    if node.op in ("Constant", "ConstantOfShape"):
        for each in node.attributes:
            if each.name == "value" and each.tensors:
                return f"tensor({each.tensors[0].dtype})"
            if each.name in _CONSTANTS:
                return f"tensor({_CONSTANTS[each.name]})"
        return "tensor(float)" if node.op == "ConstantOfShape" and not node.attributes else ""
    return None


def _short(kind: str) -> str:
    return kind[7:-1] if kind.startswith("tensor(") else kind
