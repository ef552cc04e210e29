"""Operators that ONNX Runtime brings along need it declared, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.graph.built_in import DOMAINS, built_in
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.graphs import model, node, session, value, weight

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")


def fused(tmp_path: Path, level: str) -> tuple[Path, Path]:
    """A graph as exported, and as the runtime's optimizer writes it."""
    plain, better = tmp_path / "old.onnx", tmp_path / "new.onnx"
    nodes = [node("Conv", ["x", "w"], ["a"], pads=[1] * 4), node("Relu", ["a"], ["y"])]
    shape = ["n", 8, 8, 8]
    plain.write_bytes(model(nodes, [value("x", shape)], [value("y", shape)], [weight("w", 8, 8, 3, 3)]))
    session(plain.read_bytes(), level, better)
    return plain, better


def judge(new: Path, old: Path, **contract: Any) -> dict[str, tuple[str, str, str]]:
    report = validate(new, old, contract=Contract(**contract))
    return {f.rule: (f.level or "", f.message, f.hint) for f in report.findings if f.level not in ("hot", "equal")}


@pytest.mark.parametrize("level", ["ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL"])
def test_what_the_optimizer_of_the_declared_runtime_writes_is_no_library(level: str, tmp_path: Path) -> None:
    old, new = fused(tmp_path, level)
    assert {each.domain for each in onnx.load(new).graph.node} & set(DOMAINS)
    assert "ONX-DOMAIN" not in judge(new, old, runtimes={"onnxruntime": "1.32"})
    level, _, hint = judge(new, old)["ONX-DOMAIN"]
    assert level == "restart"
    assert "contract.runtimes.onnxruntime" in hint


@pytest.mark.parametrize(
    ("domain", "operator", "release", "speaks"),
    [
        ("com.microsoft", "FusedConv", "1.16", False),
        ("com.microsoft", "FusedConv", "1.15", True),
        ("com.microsoft", "GroupQueryAttention", "1.16", True),
        ("com.microsoft", "GroupQueryAttention", "1.18", False),
        ("com.microsoft", "Magic", "1.32", True),
        ("com.acme", "FusedConv", "1.32", True),
    ],
)
def test_only_operators_of_the_release_are_known(
    domain: str, operator: str, release: str, speaks: bool, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.onnx", tmp_path / "new.onnx"
    for path, made in ((old, node("Relu", ["x"], ["y"])), (new, node(operator, ["x"], ["y"], domain=domain))):
        path.write_bytes(model([made], [value("x", ["n", 4])], [value("y", ["n", 4])]))
    found = judge(new, old, runtimes={"onnxruntime": release})
    assert ("ONX-DOMAIN" in found) is speaks
    if speaks:
        assert found["ONX-DOMAIN"][0] == "restart"
        assert operator in found["ONX-DOMAIN"][1]


def test_the_lists_are_those_of_the_installed_runtime() -> None:
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    have = {(each.domain, each.op_name) for each in state.get_all_opkernel_def()}
    if not any(domain == "com.microsoft" for domain, _ in have):
        pytest.skip("this build of onnxruntime does not list its kernels")
    for domain in DOMAINS:
        assert {name for name in built_in(domain) if (domain, name) not in have} == set()


def summed(opset: int, operator: str = "Add") -> bytes:
    inputs = ["x", "w"] if operator == "Add" else ["x"]
    given = [weight("w", 1, 4)] if operator == "Add" else []
    return model([node(operator, inputs, ["y"])], [value("x", [1, 4])], [value("y", [1, 4])], given, opset=opset)


def test_an_operator_set_that_is_too_old_for_the_runtime(tmp_path: Path) -> None:
    old, new = tmp_path / "old.onnx", tmp_path / "new.onnx"
    old.write_bytes(summed(17))
    new.write_bytes(summed(6))
    with pytest.raises(Exception, match="implementation"):
        runtime.InferenceSession(str(new), providers=["CPUExecutionProvider"])
    assert judge(new, old)["ONX-OPSET"][0] == "unproven"
    assert judge(new, old, runtimes={"onnxruntime": "1.32"})["ONX-OPSET"][0] == "breaks"
    new.write_bytes(summed(7))
    runtime.InferenceSession(str(new), providers=["CPUExecutionProvider"])
    assert judge(new, old) == {}
    old.write_bytes(summed(17, "Relu"))
    new.write_bytes(summed(6, "Relu"))
    runtime.InferenceSession(str(new), providers=["CPUExecutionProvider"])
    assert "ONX-OPSET" not in judge(new, old)
