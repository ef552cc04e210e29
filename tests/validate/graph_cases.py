"""Pairs of graphs as ONNX text that are judged, and run by ONNX Runtime on the same request.

Where we speak of a change the answers differ, or the new graph refuses what the old one took; re-exports answer as
before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.graphs import session

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnx.parser")
ML = "ai.onnx.ml"
HEAD, LABEL, VALUES, MEANING = "ONX-HEAD", "ONX-LABEL", "ONX-IN-VALUES", "ONX-IN-MEANING"
IMAGE, FEATURES = "float[N,A,B,C] x", "float[N,2,D,E] y"


class Case(NamedTuple):
    """Two graphs as ONNX text, the verdict and the rule that gives it; `same` where the answers are equal too."""

    name: str
    old: str
    new: str
    verdict: str = "hot"
    rule: str = ""
    same: bool = False
    level: str = ""  # of the rule, where another one gives the verdict

    def check(self, tmp_path: Path) -> None:
        """The verdict, and that what the runtime answers agrees with it."""
        old, new = model(self.old), model(self.new)
        for name, each in (("old", old), ("new", new)):
            (tmp_path / f"{name}.onnx").write_bytes(each.SerializeToString())
        report = validate(tmp_path / "new.onnx", tmp_path / "old.onnx", contract=Contract())
        said = [(finding.rule, finding.level, finding.message) for finding in report.findings]
        assert report.facts["verdict"] == self.verdict, said
        if self.rule:
            assert (self.rule, self.level or self.verdict) in [(rule, level) for rule, level, _ in said]
        sent = feeds(old)
        before, after = answers(old, sent), answers(new, sent)
        assert before is not None
        if self.same or self.verdict != "hot":
            alike = after is not None and all(map(equal, before, after))
            assert alike == self.same, (before, after)


def numbers(*dims: int, seed: int = 0) -> str:
    """Values of a weight."""
    count = int(np.prod(dims))
    return ", ".join(f"{each:.4f}" for each in np.random.RandomState(seed).randn(count))


def weight(name: str, *dims: int, seed: int = 0) -> str:
    return f"float[{','.join(map(str, dims))}] {name} = {{{numbers(*dims, seed=seed)}}}"


def graph(
    body: str, inputs: str = "float[N,4] x", outputs: str = "float[N,3] y", weights: str = "", more: str = ""
) -> str:
    head = f'<ir_version: 8, opset_import: ["": 17, "{ML}": 3, "local": 1, "com.microsoft": 1]>'
    held = f" <{weights}>" if weights else ""
    return f"{head} g ({inputs}) => ({outputs}){held} {{ {body} }} {more}"


def model(text: str) -> Any:
    return onnx.parser.parse_model(text)


def head(body: str, seed: int = 0, *, outputs: str = "float[N,3] y", weights: str = "", more: str = "") -> str:
    """A product whose result is `z`, and what follows."""
    held = ", ".join(each for each in (weight("w", 4, 3, seed=seed), weights) if each)
    return graph(f"z = MatMul(x, w) {body}", outputs=outputs, weights=held, more=more)


def image(body: str, seed: int = 0, weights: str = "", inputs: str = IMAGE) -> str:
    """What happens to an image before the first convolution, which takes `t`."""
    held = ", ".join(each for each in (weight("w", 2, 3, 1, 1, seed=seed), weights) if each)
    return graph(f"{body} y = Conv(t, w)", inputs, FEATURES, held)


def tabular(body: str, seed: int = 0, weights: str = "") -> str:
    held = ", ".join(each for each in (weight("w", 6, 2, seed=seed), weights) if each)
    return graph(f"{body} y = MatMul(t, w)", "float[N,6] x", "float[N,2] y", held)


def feeds(old: Any) -> dict[str, Any]:
    """One request that the old model takes: ids of the last row, a category that unknown clients send.

    Inputs of these names are something else: boxes `b`, their scores `s`, `gaps` with missing numbers, `positive`
    ones, `texts` in letters of both cases.
    """
    chooser = np.random.RandomState(3)
    free = {"N": 40, "S": 5, "M": 4, "A": 3, "B": 3, "C": 3}
    found: dict[str, Any] = {}
    for value in old.graph.input:
        kind = value.type.tensor_type
        dims = [d.dim_value or free.get(d.dim_param, 3) for d in kind.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        if value.name == "b" and len(dims) == 2:
            found["b"] = np.array([[0, 0, 3, 3]], np.float32)
        elif value.name == "b":
            found["b"] = np.array([[[0, 0, 1, 1], [0, 0.3, 1, 1.3], [2, 2, 3, 3], [5, 5, 6, 6]]], np.float32)
        elif value.name == "s":
            found["s"] = np.array([[[0.95, 0.8, 0.6, 0.3]]], np.float32)
        elif value.name == "texts":
            found[value.name] = np.resize(np.array(["Good Eel", "good cat", "the CAT", "bad"], object), dims)
        elif value.name == "positive":
            found[value.name] = (np.abs(chooser.randn(*dims)) + 0.1).astype(dtype)
        elif value.name == "gaps":
            numbers = chooser.randn(*dims).astype(dtype)
            found[value.name] = np.where(np.arange(numbers.size).reshape(dims) % 5 == 1, np.nan, numbers).astype(dtype)
        elif kind.elem_type == onnx.TensorProto.STRING:
            found[value.name] = np.resize(np.array(["cat", "eel", "c39", "c30", "new"], object), dims)
        elif dtype == np.bool_ or (value.name == "mask" and dtype == np.int64):
            found[value.name] = (np.arange(int(np.prod(dims))) % 3 != 1).reshape(dims).astype(dtype)
        elif np.issubdtype(dtype, np.floating):
            found[value.name] = (chooser.randn(*dims) * 2).astype(dtype)
        else:
            found[value.name] = (
                (np.arange(int(np.prod(dims))) % (200 if dtype == np.uint8 else 10)).reshape(dims).astype(dtype)
            )
    return found


def answers(model: Any, sent: dict[str, Any]) -> list[Any] | None:
    """What the runtime answers, None where it refuses the request."""
    running = session(model.SerializeToString())
    try:
        return list(running.run(None, sent))
    except Exception:  # noqa: BLE001 - the runtime raises its own kinds
        return None


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, list):
        return [sorted(each.items()) for each in a] == [sorted(each.items()) for each in b]
    if a.shape != b.shape:
        return False
    return (
        bool((a == b).all())
        if a.dtype.kind not in "f"
        else bool(np.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True))
    )
