"""Embedding graphs: another training moves the space, another export of the same weights does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Accepted, Contract
from interlock.report.report import Report
from onnx import helper, numpy_helper, parser

LP = "y=LpNormalization<axis=-1,p=2>(h)"
TORCH = (
    "n=ReduceL2<keepdims=1,axes=[1]>(h) e=Constant<value_float=1e-12>() c=Clip(n,e) s=Shape(h) ex=Expand(c,s) "
    "y=Div(h,ex)"
)
SHORT = "n=ReduceL2<keepdims=1,axes=[-1]>(h) y=Div(h,n)"
ROOT = "q=Mul(h,h) a=Constant<value_ints=[1]>() t=ReduceSum<keepdims=1>(q,a) n=Sqrt(t) y=Div(h,n)"
SQUARES = "t=ReduceSumSquare<keepdims=1,axes=[1]>(h) n=Sqrt(t) r=Reciprocal(n) y=Mul(h,r)"
FORMS = [LP, TORCH, SHORT, ROOT, SQUARES]
WEIGHTS = {"w": np.arange(32, dtype=np.float32).reshape(8, 4) / 7 - 2, "b": np.array([1, -2, 3, 4], np.float32)}
TRAINED = {**WEIGHTS, "w": WEIGHTS["w"][::-1].copy()}
PLAIN = "g=MatMul(x,w) h=Add(g,b)"


def graph(path: Path, end: str, weights: dict[str, np.ndarray] = WEIGHTS, start: str = PLAIN, opset: int = 15) -> Path:
    made = parser.parse_graph(f"m (float[N,8] x) => (float[N,4] y) {{ {start} {end} }}")
    made.initializer.extend(numpy_helper.from_array(value, name) for name, value in weights.items())
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def judged(new: Path, old: Path) -> Report:
    return validate(new, old, contract=Contract())


@pytest.mark.parametrize("form", FORMS)
def test_another_training_breaks_in_every_form(tmp_path: Path, form: str) -> None:
    old = graph(tmp_path / "old.onnx", form)
    report = judged(graph(tmp_path / "new.onnx", form, TRAINED), old)
    assert report.facts["verdict"] == "breaks"
    assert {f.rule for f in report.findings if f.level == "breaks"} == {"EMB-SPACE"}
    assert judged(graph(tmp_path / "lp.onnx", LP, TRAINED), old).facts["verdict"] == "breaks"


def test_an_accepted_break_keeps_its_step_in_the_plan_and_an_accepted_note_does_not(tmp_path: Path) -> None:
    old, new, same = (
        graph(tmp_path / f"{n}.onnx", LP, w) for n, w in zip("abc", (WEIGHTS, TRAINED, WEIGHTS), strict=True)
    )
    accepted = [Accepted(rule="EMB-SPACE", reason="the index is built again", until="2999-01-01")]
    report = validate(new, old, contract=Contract(accept=accepted))
    assert report.facts["verdict"] == "hot"
    steps = {step["step"]: [each["rule"] for each in step["because"]] for step in report.facts["plan"]}
    assert list(steps) == ["preload", "verify", "reembed-index"]
    assert steps["reembed-index"] == ["EMB-SPACE"]
    assert judged(new, old).facts["plan"] == []  # nothing to plan while it breaks
    assert validate(same, old, contract=Contract(accept=accepted)).facts["plan"] == []
    lowered = Contract(levels={"EMB-SPACE": "hot"})
    assert [each["step"] for each in validate(new, old, contract=lowered).facts["plan"]][-1] == "reembed-index"
    settled = Contract(levels={"EMB-SPACE": "hot"}, accept=accepted)
    assert [each["step"] for each in validate(new, old, contract=settled).facts["plan"]] == ["preload", "verify"]


@pytest.mark.parametrize("form", FORMS)
def test_another_form_with_the_same_weights_is_hot(tmp_path: Path, form: str) -> None:
    report = judged(graph(tmp_path / "new.onnx", form), graph(tmp_path / "old.onnx", LP))
    assert report.facts["verdict"] in ("hot", "equal"), report.findings
    report = judged(graph(tmp_path / "old.onnx", LP), graph(tmp_path / "new.onnx", form))
    assert report.facts["verdict"] in ("hot", "equal"), report.findings


@pytest.mark.parametrize(
    ("start", "names"),
    [
        ("h=Gemm(x,w,b)", {}),
        ("g=MatMul(x,w) h=Add(b,g)", {}),
        ("i=Identity(x) g=MatMul(i,w) h=Add(g,b)", {}),
        ("g=MatMul(x,onnx_77) h=Add(g,bias)", {"w": "onnx_77", "b": "bias"}),
    ],
)
def test_another_export_of_the_same_weights_is_hot(tmp_path: Path, start: str, names: dict[str, str]) -> None:
    weights = {names.get(name, name): value for name, value in WEIGHTS.items()}
    report = judged(graph(tmp_path / "new.onnx", TORCH, weights, start), graph(tmp_path / "old.onnx", TORCH))
    assert report.facts["verdict"] == "hot", report.findings


def test_a_turned_weight_is_the_same_weight(tmp_path: Path) -> None:
    old = graph(tmp_path / "old.onnx", LP)
    turned = {**WEIGHTS, "w": WEIGHTS["w"].T.copy()}
    start = "h=Gemm<transB=1>(x,w,b)"
    assert judged(graph(tmp_path / "new.onnx", LP, turned, start), old).facts["verdict"] == "hot"
    other = {**turned, "w": turned["w"][::-1].copy()}
    assert judged(graph(tmp_path / "bad.onnx", LP, other, start), old).facts["verdict"] == "breaks"


@pytest.mark.parametrize(
    ("start", "form"),
    [
        ("g=MatMul(x,w) k=Add(g,b) h=Relu(k)", LP),
        ("g=MatMul(x,w) h=Sub(g,b)", LP),
        (PLAIN, "y=LpNormalization<axis=-1,p=1>(h)"),
        (PLAIN, "y=LpNormalization<axis=0,p=2>(h)"),
        (PLAIN, "n=ReduceL2<keepdims=1,axes=[1]>(h) e=Constant<value_float=1.0>() c=Clip(n,e) y=Div(h,c)"),
        (PLAIN, "n=ReduceL2<keepdims=1,axes=[0]>(h) y=Div(h,n)"),
        ("h=Gemm<alpha=2.0>(x,w,b)", LP),
    ],
)
def test_the_same_weights_computed_otherwise_are_not_hot(tmp_path: Path, start: str, form: str) -> None:
    report = judged(graph(tmp_path / "new.onnx", form, start=start), graph(tmp_path / "old.onnx", LP))
    assert report.facts["verdict"] in ("unproven", "breaks")
    assert ("EMB-SPACE", "unproven") in {(f.rule, f.level) for f in report.findings}


def test_a_division_by_anything_else_is_no_embedding(tmp_path: Path) -> None:
    form = "n=ReduceMean<keepdims=1,axes=[1]>(h) y=Div(h,n)"
    report = judged(graph(tmp_path / "new.onnx", form, TRAINED), graph(tmp_path / "old.onnx", form))
    assert report.facts["verdict"] == "hot", report.findings


def test_a_newer_opset_and_notes_are_no_other_space(tmp_path: Path) -> None:
    old = graph(tmp_path / "old.onnx", "e=Identity(h) y=LpNormalization<axis=-1,p=2>(e)")
    assert judged(graph(tmp_path / "new.onnx", LP, opset=17), old).facts["verdict"] == "hot"
