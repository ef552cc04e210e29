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
from validate.graph_cases import Case, model
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
    *(np.array(each) for each in ([], [1.5], [0.0, INFINITE], [1 << 62, -1], [[True]], 7)),
    *(np.array(each, object) for each in (["a", "b"], [""])),
]
ROUNDS = 2
CASES = [*MEANT, *WEIGHTLESS]


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
