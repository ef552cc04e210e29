"""What stands between the last trained operator and an output: scales by column, comparisons and differences that
exporters write in more than one way."""

from __future__ import annotations

from pathlib import Path

import pytest
from validate.graph_cases import HEAD, ML, Case, graph, head, weight

TEN = "float[3] c = {10, 20, 30}"
HALF, ONE = "float c = {0.5}", "float c = {1}"
PLAIN = head("y = Identity(z)")
BIASED = "g = Gemm(x, u, b)"


def gemm(body: str, more: str = "", seed: int = 0) -> str:
    held = f"{weight('u', 4, 3, seed=seed)}, {weight('b', 3, seed=seed)}"
    return graph(f"{BIASED} {body}", weights=", ".join(each for each in (held, more) if each))


def scaler(seed: int = 0) -> str:
    return gemm(f"y = {ML}.Scaler <offset = [1.0, 2.0, 3.0], scale = [2.0, 3.0, 4.0]> (g)", seed=seed)


SCALES = [
    Case("factors by column came", PLAIN, head("y = Mul(z, c)", weights=TEN), "unproven", HEAD),
    Case("factors by column gone", head("y = Mul(z, c)", weights=TEN), PLAIN, "unproven", HEAD),
    Case("divisors by column came", PLAIN, head("y = Div(z, c)", weights=TEN), "unproven", HEAD),
    Case("one factor came", gemm("y = Identity(g)"), gemm("y = Mul(g, c)", "float c = {1000}"), "unproven", HEAD),
    Case(
        "factors and shifts by column came",
        gemm("y = Identity(g)"),
        gemm("a = Mul(g, c) y = Add(a, d)", f"{TEN}, float[3] d = {{1, 2, 3}}"),
        "unproven",
        HEAD,
    ),
    Case("shifts by column came", gemm("y = Identity(g)"), gemm("y = Add(g, c)", TEN), "unproven", HEAD),
    Case(
        "another factor over shifts",
        gemm("y = Add(g, c)", TEN),
        gemm("a = Add(g, c) y = Mul(a, c)", TEN),
        "unproven",
        HEAD,
    ),
    Case(
        "factors of probabilities came",
        head("y = Sigmoid(z)"),
        head("p = Sigmoid(z) y = Mul(p, c)", weights=TEN),
        "unproven",
        HEAD,
    ),
    Case(
        "divided in place of multiplied",
        head("y = Mul(z, c)", weights=TEN),
        head("y = Div(z, c)", weights=TEN),
        "unproven",
        HEAD,
    ),
    Case("scaler came", gemm("y = Identity(g)"), scaler(), "unproven", HEAD),
    Case("scaler, retrained", scaler(), scaler(1)),
    Case("factors by column, retrained", head("y = Mul(z, c)", weights=TEN), head("y = Mul(z, c)", 1, weights=TEN)),
    Case(
        "factors by column, learned anew",
        head("y = Mul(z, c)", weights=TEN),
        head("y = Mul(z, c)", 1, weights="float[3] c = {11, 19, 33}"),
    ),
    Case(
        "factors by column as divisors",
        head("y = Mul(z, c)", weights=TEN),
        head("y = Div(z, c)", weights="float[3] c = {0.1, 0.05, 0.0333333}"),
        same=True,
    ),
    Case("a bias by column", PLAIN, head("y = Add(z, c)", weights=TEN)),
    Case(
        "temperatures by column",
        head("y = Softmax(z)"),
        head("t = Mul(z, c) y = Softmax(t)", weights="float[3] c = {1, 2, 3}"),
    ),
    Case(
        "factor as divisor",
        head("y = Mul(z, c)", weights=HALF),
        head("y = Div(z, c)", weights="float c = {2}"),
        same=True,
    ),
    Case(
        "factor in place of its divisor",
        *(head(f"y = {op}(z, c)", weights="float c = {4}") for op in ("Mul", "Div")),
        "unproven",
        HEAD,
    ),
    Case("shift as difference", gemm("y = Add(g, c)", HALF), gemm("y = Sub(g, c)", "float c = {-0.5}"), same=True),
]


def truth(body: str, bound: float = 0.5, seed: int = 0) -> str:
    return head(f"p = Sigmoid(z) {body}", seed, outputs="bool[N,3] y", weights=f"float c = {{{bound}}}")


OVER = truth("y = Greater(p, c)")
COMPARISONS = [
    Case("the bound first", OVER, truth("y = Less(c, p)"), same=True),
    Case("the value first", truth("y = Less(c, p)"), OVER, same=True),
    Case("the bound first, or equal", truth("y = GreaterOrEqual(p, c)"), truth("y = LessOrEqual(c, p)"), same=True),
    Case("not less", truth("y = GreaterOrEqual(p, c)"), truth("n = Less(p, c) y = Not(n)"), same=True),
    Case("not more, the bound first", truth("y = LessOrEqual(p, c)"), truth("n = Less(c, p) y = Not(n)"), same=True),
    Case("the bound first, retrained", OVER, truth("y = Less(c, p)", seed=1)),
    Case("below in place of above", OVER, truth("y = Greater(c, p)"), "unproven", HEAD),
    Case("denied", OVER, truth("n = Greater(p, c) y = Not(n)"), "unproven", HEAD),
    Case("the bound first, another bound", OVER, truth("y = Less(c, p)", 0.7), "unproven", HEAD),
]

REST = head("p = Sigmoid(z) y = Sub(c, p)", weights=ONE)
MINUS = "float m = {-1}"
DIFFERENCES = [
    Case(
        "what is left, by the negative", REST, head("p = Sigmoid(z) n = Neg(p) y = Add(n, c)", weights=ONE), same=True
    ),
    Case(
        "what is left, the constant first",
        REST,
        head("p = Sigmoid(z) n = Neg(p) y = Add(c, n)", weights=ONE),
        same=True,
    ),
    Case(
        "what is left, by a factor",
        REST,
        head("p = Sigmoid(z) n = Mul(p, m) y = Add(n, c)", weights=f"{ONE}, {MINUS}"),
        same=True,
    ),
    Case("negative by a factor", head("y = Neg(z)"), head("y = Mul(z, m)", weights=MINUS), same=True),
    Case("negative by a divisor", head("y = Div(z, m)", weights=MINUS), head("y = Neg(z)"), same=True),
    Case("negative no more", head("y = Mul(z, m)", weights=MINUS), PLAIN, "unproven", HEAD),
    Case(
        "what is left of two",
        REST,
        head("p = Sigmoid(z) n = Neg(p) y = Add(n, c)", weights="float c = {2}"),
        "unproven",
        HEAD,
    ),
    Case("one more in place of the rest", REST, head("p = Sigmoid(z) y = Add(p, c)", weights=ONE), "unproven", HEAD),
    Case(
        "two inputs subtracted by the negative",
        *(
            graph(body, "float[N,3] left, float[N,3] right")
            for body in ("y = Sub(left, right)", "n = Neg(right) y = Add(left, n)")
        ),
        same=True,
    ),
    Case(
        "two inputs subtracted the other way",
        *(
            graph(body, "float[N,3] left, float[N,3] right")
            for body in ("y = Sub(left, right)", "n = Neg(left) y = Add(right, n)")
        ),
        "unproven",
        HEAD,
    ),
]
CASES = [*SCALES, *COMPARISONS, *DIFFERENCES]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_verdict_is_what_a_client_would_say(case: Case, tmp_path: Path) -> None:
    case.check(tmp_path)


def test_a_third_of_the_cases_is_harmless() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert sum(case.verdict == "hot" for case in CASES) > len(CASES) / 3
