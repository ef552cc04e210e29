"""Recurrent layers at an input or an output: the order of their steps, their activations, and state clients keep."""

from __future__ import annotations

from pathlib import Path

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.graph_cases import HEAD, MEANING, Case, graph, model, weight
from validate.graphs import judge, loads

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def layer(settings: str = "", op: str = "LSTM", seed: int = 0, after: str = "y = Squeeze(s, d)") -> str:
    """One layer over a sequence of one request; `s` holds what each step gives."""
    gates = GATES[op]
    held = f"{weight('w', 1, 3 * gates, 4, seed=seed)}, {weight('r', 1, 3 * gates, 3, seed=seed)}, int64[1] d = {{1}}"
    more = f", {settings}" if settings else ""
    held += f", {weight('u', 3, 3, seed=seed)}"
    return graph(f"s = {op} <hidden_size = 3{more}> (x, w, r) {after}", "float[5,1,4] x", "float[A,B,3] y", held)


def deep(settings: str = "", seed: int = 0) -> str:
    """A layer between products."""
    more = f", {settings}" if settings else ""
    held = f"{weight('v', 4, 4, seed=seed)}, {weight('w', 1, 12, 4, seed=seed)}, {weight('r', 1, 12, 3, seed=seed)}"
    held += f", {weight('u', 3, 3, seed=seed)}"
    body = f"z = MatMul(x, v) s = LSTM <hidden_size = 3{more}> (z, w, r) y = MatMul(s, u)"
    return graph(body, "float[5,1,4] x", "float[A,E,B,3] y", held)


HIDDEN = "q = Squeeze(s, d) y = MatMul(q, u)"
BACK = 'direction = "reverse"'
RELU = 'activations = ["Sigmoid", "Relu", "Tanh"]'
CASES = [
    *(Case(f"{op} from the end", layer(op=op), layer(BACK, op), "unproven", HEAD) for op in GATES),
    Case("from the end, behind a product", layer(after=HIDDEN), layer(BACK, after=HIDDEN), "unproven", MEANING),
    Case("other activations", layer(), layer(RELU), "unproven", HEAD),
    Case(
        "other activations of a plain layer", layer(op="RNN"), layer('activations = ["Relu"]', "RNN"), "unproven", HEAD
    ),
    *(Case(f"{op}, retrained", layer(op=op), layer(op=op, seed=1)) for op in GATES),
    Case(
        "defaults written out",
        layer(),
        layer('direction = "forward", activations = ["sigmoid", "Tanh", "Tanh"]'),
        same=True,
    ),
    Case("from the end, retrained", layer(BACK), layer(BACK, seed=1)),
    Case("other activations behind a product", layer(after=HIDDEN), layer(RELU, seed=1, after=HIDDEN)),
    Case("from the end, between products", deep(), deep(BACK, 1)),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_verdict_is_what_a_client_would_say(case: Case, tmp_path: Path) -> None:
    case.check(tmp_path)


def test_steps_along_another_axis_are_told(tmp_path: Path) -> None:
    old, new = (model(layer(more)).SerializeToString() for more in ("", "layout = 1"))
    said = judge(tmp_path, new, old)
    assert said[HEAD] == ("unproven", "output 'y' has another LSTM layout: 0 → 1")
    assert said[MEANING][0] == "unproven"
    assert loads(old)
    assert not loads(new)  # no release takes requests first


def stateful(names: str = "one, two", seed: int = 0, kept: str = "h0, c0") -> str:
    """A layer whose state comes from the client and goes back to it, under names that do not tell."""
    first, second = names.split(", ")
    a, b = kept.split(", ")
    held = f"{weight('w', 1, 12, 4, seed=seed)}, {weight('r', 1, 12, 3, seed=seed)}, {weight('g', 1, 24, seed=seed)}"
    layer = f"s, {first}, {second} = LSTM <hidden_size = 3> (x, w, r, g, n, {a}, {b})"
    body = f"i = Identity(before) {layer} y = Squeeze(s, d)"
    held += ", int32[1] n = {5}, int64[1] d = {1}, float[1,1,3] h0 = {0, 0, 0}, float[1,1,3] c0 = {0, 0, 0}"
    inputs = "float[5,1,4] x, float[1,1,3] before, float[1,1,3] other"
    outputs = "float[5,1,3] y, float[1,1,3] one, float[1,1,3] two"
    return graph(body, inputs, outputs, held)


def notes(tmp_path: Path, old: str, new: str) -> list[str]:
    for name, text in (("old", old), ("new", new)):
        (tmp_path / f"{name}.onnx").write_bytes(model(text).SerializeToString())
    report = validate(tmp_path / "new.onnx", tmp_path / "old.onnx", contract=Contract())
    assert report.facts["verdict"] == "hot"
    return [finding.message for finding in report.findings if finding.rule == "ONX-STATE"]


def test_state_that_goes_around_is_told_whatever_its_names(tmp_path: Path) -> None:
    carried = notes(tmp_path, stateful(kept="i, other"), stateful(kept="i, other", seed=1))
    assert len(carried) == 1
    assert "before → one, other → two" in carried[0]


def test_a_layer_that_starts_at_zero_carries_nothing(tmp_path: Path) -> None:
    assert notes(tmp_path, stateful(), stateful(seed=1)) == []


def through(given: str, taken: str, kind: str = "float", seed: int = 0) -> str:
    """A tensor that goes in and comes out in one shape."""
    if kind == "string":
        return graph(
            f"{taken} = Identity({given})", f"string[3] {given}", f"string[3] {taken}", weight("w", 1, seed=seed)
        )
    return graph(
        f"{taken} = MatMul({given}, w)", f"float[3,3] {given}", f"float[3,3] {taken}", weight("w", 3, 3, seed=seed)
    )


@pytest.mark.parametrize(
    ("given", "taken", "kind", "told"),
    [
        ("state", "state_out", "float", True),
        ("prev_h", "next_h", "float", True),
        ("input_state", "output_state", "float", True),
        ("state", "state_out", "string", False),
        ("INPUT0", "OUTPUT0", "float", False),
        ("input_1", "output_1", "float", False),
    ],
)
def test_texts_and_numbered_inputs_are_no_state(given: str, taken: str, kind: str, told: bool, tmp_path: Path) -> None:
    said = notes(tmp_path, through(given, taken, kind), through(given, taken, kind, 1))
    assert len(said) == told


def boxes(decoded: bool, seed: int = 0) -> str:
    """Boxes by their corners, which the graph works out; or the two rows of numbers that it would do so from."""
    held = f"{weight('w', 4, 2, seed=seed)}, {weight('u', 4, 2, seed=seed)}, float half = {{0.5}}"
    shape = "int64[3] r = {0, 1, 2}"
    body = "c = MatMul(x, w) d = MatMul(x, u) "
    if decoded:
        body += "h = Mul(d, half) a = Sub(c, h) b = Add(c, h) p = Reshape(a, r) q = Reshape(b, r) "
        body += "y = Concat <axis=2> (p, q)"
    else:
        body += "p = Reshape(c, r) q = Reshape(d, r) y = Concat <axis=1> (p, q)"
    return graph(body, "float[N,4] x", "float[A,B,C] y", f"{held}, {shape}")


def turned(seed: int) -> str:
    """A layer whose matrices an exporter turns in the graph, so that its bias is the only constant."""
    held = f"{weight('w', 1, 4, 8, seed=seed)}, {weight('r', 1, 2, 8, seed=seed)}, {weight('v', 1, 16, seed=seed)}"
    body = "a = Transpose <perm = [0, 2, 1]> (w) b = Transpose <perm = [0, 2, 1]> (r)"
    return graph(f"{body} y = LSTM <hidden_size = 2> (x, a, b, v)", "float[S,N,4] x", "float[S,1,N,2] y", held)


def test_a_bias_beside_turned_matrices_is_trained(tmp_path: Path) -> None:
    assert judge(tmp_path, *(model(turned(seed)).SerializeToString() for seed in (10, 0))) == {}


def test_boxes_that_are_no_longer_worked_out_are_told_as_such(tmp_path: Path) -> None:
    old, new = (model(boxes(each)).SerializeToString() for each in (True, False))
    level, message = judge(tmp_path, new, old)[HEAD]
    assert level == "breaks"
    assert "joined parts: Sub, Add → MatMul" in message
    assert HEAD not in judge(tmp_path, model(boxes(True, 1)).SerializeToString(), old)
