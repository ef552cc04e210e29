"""ONX-OP: an operator that the declared operator set does not have."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ....models.onnx import Graph, OnnxModel
from ....models.source import open_file
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from . import words
from .contract import pairs
from .element_types import faults
from .onx_graph import called
from .operators import NEWEST, fault, since
from .scopes import Fault, Unserved
from .signatures import misfit, signature

RULE = Rule(
    id="ONX-OP",
    name="operator-unknown",
    family="ONX",
    severity=Severity.ERROR,
    summary="an operator of the standard domains does not exist in the declared operator set, or not in this way",
    what="Every operator of ai.onnx and ai.onnx.ml, bodies and called functions included, against the versions in "
    "which it is defined: its name, how many inputs and outputs it has, its attributes and their types, and the "
    "element types that meet in it; settings that are one of a few words; and doubles where ONNX Runtime computes on "
    "CPUs in single precision only.",
    why="the load fails with 'No Op registered for', 'Unrecognized attribute', 'Required attribute is missing', "
    "'Type Error', 'Could not find an implementation', or the like",
    hint="correct the name, or export with an opset_version that has the operator",
    exemptions=(
        "operators that functions in the file define",
        "operators that the live graph uses at the same version, and in the same way: its server knows them",
        "operator sets newer than interlock knows (ONX-OPSET speaks)",
        "TensorRT plugins (names that end in _TRT)",
    ),
    references=("https://onnx.ai/onnx/operators/",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """One finding an operator."""
    lived = {pair.new.file: pair.old for pair in pairs(ctx)}
    for file, model in ctx.new.onnx.items():
        roots, before = _roots(model), _roots(lived[file]) if file in lived else []
        served = _operators(lived[file], before) if file in lived else set[tuple[str, str, int]]()
        for domain, operator, version in sorted(_operators(model, roots) - served):
            if reason := fault(domain, operator, version):
                close = get_close_matches(operator, since(domain), n=1) if operator not in since(domain) else []
                yield ctx.finding(
                    RULE,
                    "breaks",
                    f"'{operator[:80]}' is no operator of {domain or 'ai.onnx'} at version {version}: {reason}",
                    path=file,
                    pointer="graph.node",
                    hint=f"did you mean '{close[0]}'?" if close else "",
                )
        used = list(dict.fromkeys(_misused(ctx.new, model, roots)))
        if used and ctx.old is not None and file in lived:
            old = {fault.message for fault in _misused(ctx.old, lived[file], before)}
            used = [each for each in used if each.message not in old]
        for each in used[:_SHOWN]:
            level, hint = ("unproven", _SINGLE) if isinstance(each, Unserved) else ("breaks", _EXPORT)
            yield ctx.finding(RULE, level, each.message, path=file, tensor=each.tensor, pointer="graph.node", hint=hint)


_SHOWN = 5
_Roots = list[tuple[Graph, dict[str, int]]]
_SINGLE = "export the model in single precision, unless a GPU or another runtime serves it"
_EXPORT = "export the model again; run onnx.checker.check_model after editing a graph"


def _roots(model: OnnxModel) -> _Roots:
    """The main graph and the functions that are called, each with the operator sets that it imports."""
    return [(model.graph, model.opsets), *((body, body.opsets) for body in called(model))]


def _misused(side: Side, model: OnnxModel, roots: _Roots) -> Iterator[Fault]:
    """Operators that are not used as their signature says."""
    own = {(domain, name) for domain, name, _ in model.functions}
    found = False
    for root, opsets in roots:
        for graph in root.walk():
            for node in graph.nodes:
                version = opsets.get(node.domain, 0) if node.domain in NEWEST else 0
                if not 0 < version <= NEWEST.get(node.domain, 0) or (node.domain, node.op) in own:
                    continue
                of = signature(node.domain, node.op, version)
                if of is not None and (why := misfit(node, of)):
                    found = True
                    name = f" '{node.name[:80]}'" if node.name else ""
                    text = f"{node.op}{name} at version {version} {why}"
                    yield Fault(text, next(iter(node.outputs), ""))
    if not found and side.tree.files[model.file].partial:
        yield from faults(model, None)
    elif not found:
        with open_file(side.tree.files[model.file].path) as source:
            yield from faults(model, source)
            for root, opsets in roots:
                yield from words.faults(root, source, opsets.get("", model.opsets.get("", 0)))


def _operators(model: OnnxModel, roots: _Roots) -> set[tuple[str, str, int]]:
    """(domain, operator, version of the domain) of everything that must exist for the graph to load.

    A function that imports nothing uses what the model imports.
    """
    result: set[tuple[str, str, int]] = set()
    own = {(domain, name) for domain, name, _ in model.functions}
    for root, opsets in roots:
        for graph in root.walk():
            for node in graph.nodes:
                if node.domain in NEWEST and (node.domain, node.op) not in own:
                    result.add((node.domain, node.op, (opsets or model.opsets).get(node.domain, 0)))
    return result
