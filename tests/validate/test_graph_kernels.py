"""Operators that ONNX Runtime has for CPUs in single precision only: each is loaded in both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.graph.kernels import SINGLE_ONLY
from interlock.checks.validate.graph.operators import since
from interlock.checks.validate.graph.signatures import signature
from interlock.models.onnx import ELEMENTS
from validate.graphs import judge, loads, node, value

onnx = pytest.importorskip("onnx")
helper, proto = onnx.helper, onnx.TensorProto
OPSET, ML = 17, "ai.onnx.ml"
SIZES: dict[str, list[tuple[int, ...]]] = {
    **{key: [(1, 1, 2, 2), (1, 1, 1, 1)] for key in ("Conv", "ConvTranspose")},
    "InstanceNormalization": [(1, 1, 2, 2), (1,), (1,)],
    "MaxRoiPool": [(1, 1, 2, 2), (1, 5)],
    "RNN": [(1, 1, 2), (1, 1, 2), (1, 1, 1)],
    "Binarizer": [(2, 1)],
    "Imputer": [(2, 1)],
    "LinearRegressor": [(2, 1)],
}
SETTINGS: dict[str, dict[str, Any]] = {
    **{key: {"kernel_shape": [1, 1]} for key in ("AveragePool", "LpPool", "MaxPool")},
    "MaxRoiPool": {"pooled_shape": [1, 1]},
    "LRN": {"size": 1},
    "RNN": {"hidden_size": 1},
    "LinearRegressor": {"coefficients": [1.0]},
    "Imputer": {"imputed_value_floats": [0.0]},
}
# Their output is of a type of its own.
GIVES = {"NonZero": proto.INT64, "LinearRegressor": proto.FLOAT}
NAMES = [(domain, name) for domain, names in SINGLE_ONLY.items() for name in sorted(names)]


def made(domain: str, name: str, kind: int) -> bytes:
    """A model of one operator."""
    version = max(since(domain)[name], 1 if domain else OPSET)
    inputs = [value(f"x{i}", size, kind) for i, size in enumerate(SIZES.get(name, [(1, 1, 2, 2)]))]
    step = node(name, [each.name for each in inputs], ["y"], domain=domain, **SETTINGS.get(name, {}))
    graph = helper.make_graph([step], "g", inputs, [value("y", None, GIVES.get(name, kind))])
    sets = [helper.make_opsetid("", OPSET if domain else version), *([helper.make_opsetid(ML, 1)] if domain else [])]
    return helper.make_model(graph, opset_imports=sets, ir_version=8).SerializeToString()


@pytest.mark.parametrize(("domain", "name"), NAMES)
def test_doubles_without_a_kernel_are_told(domain: str, name: str, tmp_path: Path) -> None:
    single, double = made(domain, name, proto.FLOAT), made(domain, name, proto.DOUBLE)
    assert loads(single)
    assert not loads(double)
    assert "ONNX Runtime" in judge(tmp_path, double)["ONX-OP"][1]
    assert judge(tmp_path, double)["ONX-OP"][0] == "unproven"
    assert "ONX-OP" not in judge(tmp_path, single)


@pytest.mark.parametrize(
    "name", ["Relu", "Sigmoid", "Tanh", "Exp", "Softmax", "MaxPool", "GlobalMaxPool", "Sqrt", "Abs"]
)
def test_other_operators_take_doubles_or_are_listed(name: str, tmp_path: Path) -> None:
    double = made("", name, proto.DOUBLE)
    assert loads(double) == (name not in SINGLE_ONLY[""])
    assert ("ONX-OP" in judge(tmp_path, double)) == (name in SINGLE_ONLY[""])


def test_every_listed_operator_may_take_doubles() -> None:
    for domain, name in NAMES:
        of = signature(domain, name, 1 if domain else max(since("")[name], 22))
        assert of is not None
        assert of.allows(of.inputs[0].type, f"tensor({ELEMENTS[proto.DOUBLE]})")


def test_what_is_served_already_is_served_again(tmp_path: Path) -> None:
    old = made("", "Conv", proto.DOUBLE)
    new = old.replace(b"x1", b"w1")
    assert "ONX-OP" not in judge(tmp_path, new, old)
