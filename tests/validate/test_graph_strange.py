"""Attributes and constants of any type where another is expected: the graph is judged all the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.report.errors import InterlockError
from validate.graph_cases import Case, graph, model
from validate.graphs import judge
from validate.test_graph_meaning import CASES as MEANT
from validate.test_graph_weightless import CASES as WEIGHTLESS

onnx = pytest.importorskip("onnx")
np = pytest.importorskip("numpy")
INFINITE = float("inf")
SETTINGS: list[Any] = [
    *("x", "", b"\xff", 1, -1, 1 << 62, 1.5, 1e-45, INFINITE, [1, -7], [1 << 62, -(1 << 62)]),
    *([1.5, float("nan")], [0.0], ["a", "b"], [b"\xff"], []),
]
CONSTANTS = [
    *(np.array(each) for each in ([], [1.5], [0.0, INFINITE], [5e-324], [1 << 62, -1], [[True]], 7)),
    *(np.array(each, object) for each in (["a", "b"], [""])),
]
ROUNDS = 2


def changed(text: str, draw: Random) -> Iterator[Any]:
    """The graph with one attribute of another kind, and with one constant of another kind."""
    for _ in range(ROUNDS):
        made = model(text)
        nodes = [*made.graph.node, *(node for function in made.functions for node in function.node)]
        if attributes := [each for node in nodes for each in node.attribute if each.name]:
            _set(draw.choice(attributes), draw.choice(SETTINGS))
            yield made
        made = model(text)
        if made.graph.initializer:
            place = draw.choice(made.graph.initializer)
            place.CopyFrom(onnx.numpy_helper.from_array(draw.choice(CONSTANTS), place.name))
            yield made


def _set(attribute: Any, value: Any) -> None:
    name = attribute.name
    attribute.Clear()
    if value == []:
        attribute.name, attribute.type = name, onnx.AttributeProto.INTS
    else:
        attribute.CopyFrom(onnx.helper.make_attribute(name, value))


CASES = [case for case in (*MEANT, *WEIGHTLESS) if any(changed(case.new, Random(0)))]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_another_kind_of_setting_ends_in_a_verdict_or_a_refusal(case: Case, tmp_path: Path) -> None:
    draw = Random(case.name)
    sides = [tmp_path / "old.onnx", tmp_path / "new.onnx"]
    sides[0].write_bytes(model(case.old).SerializeToString())
    for made in changed(case.new, draw):
        sides[1].write_bytes(made.SerializeToString())
        for old, new in (sides, reversed(sides)):
            try:
                assert validate(new, old, contract=Contract()).facts["verdict"] is not None
            except InterlockError as error:
                assert error.reason


CIRCLES = {
    "of nothing": "a = Identity(a) y = Add(a, c)",
    "of a weight": "t = Transpose(t) m = MatMul(x, t) y = Add(m, c)",
    "of shapes": "a = Reshape(a, s) y = Mul(a, c)",
    "of two": "a = Relu(b) b = Neg(a) y = Add(b, c)",
}


@pytest.mark.parametrize("body", CIRCLES.values(), ids=CIRCLES)
def test_a_circle_has_an_end(body: str, tmp_path: Path) -> None:
    old, new = (
        graph(body, "float[N,3] x, int64[2] s", "float[N,3] y", f"float[3] c = {{1, 2, {each}}}") for each in (3, 4)
    )
    found = judge(tmp_path, model(new).SerializeToString(), model(old).SerializeToString())
    assert found["ONX-GRAPH"][0] in ("breaks", "unproven")


def test_a_value_that_is_taken_twice_over_and_over_is_looked_at_once(tmp_path: Path) -> None:
    """Two ways lead back from each product: 2 ** 38 to the input."""
    body = "v0 = Abs(x) " + " ".join(f"v{i + 1} = Mul(v{i}, v{i})" for i in range(38))
    old, new = (
        graph(f"{body} y = ReduceMean <axes=[{axis}]> (v38)", "float[N,S] x", "float[A,B] y") for axis in (1, 0)
    )
    found = judge(tmp_path, model(new).SerializeToString(), model(old).SerializeToString())
    assert found["ONX-HEAD"][0] == "unproven"


@pytest.mark.parametrize("scale", [float("nan"), INFINITE, -INFINITE, 0.0, -1.0, 1e-45, 3e38])
def test_factors_that_are_no_sizes(scale: float, tmp_path: Path) -> None:
    made = model(graph("y = Resize(x, , f)", "float[1,3,A,B] x", "float[C,D,E,F] y", "float[4] f = {1, 1, 2, 2}"))
    made.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(np.array([1, 1, scale, 2], np.float32), "f"))
    assert "FIL-READ" not in judge(tmp_path, made.SerializeToString())


def test_the_smallest_double_divides(tmp_path: Path) -> None:
    made = model(
        graph("a = Div(x, c) y = Add(a, d)", "double[N,3] x", "double[N,3] y", "double c = {1}, double d = {1}")
    )
    sides: list[bytes] = []
    for number in (5e-324, 1.0):
        made.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(np.array(number), "c"))
        sides.append(made.SerializeToString())
    assert {level for level, _ in judge(tmp_path, *sides).values()} == {"unproven"}
