"""Graphs of the same contract that mean something else, and graphs that look different and mean the same.

Every pair is loaded and run by ONNX Runtime on the same input.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.graph_cases import (
    HEAD,
    LABEL,
    MEANING,
    ML,
    VALUES,
    Case,
    graph,
    head,
    image,
    model,
    numbers,
    tabular,
    weight,
)

# --- heads: what stands between the last weights and an output ---------------------------------------------------


def function(body: str, call: str = "y = local.F(z)") -> str:
    return head(call, more=f'<domain: "local", opset_import: ["": 17]> F (a) => (b) {{ {body} }}')


def branch(body: str) -> str:
    bodies = (
        f"then_branch = t () => (float[N,3] k) {{ {body} }}, else_branch = e () => (float[N,3] j) {{ j = Identity(z) }}"
    )
    return head(f"c = Constant <value = bool {{1}}> () y = If (c) <{bodies}>")


def loop(body: str, rounds: int = 1) -> str:
    inner = f"body = b (int64 i, bool c, float[N,3] a) => (bool d, float[N,3] r) {{ d = Identity(c) {body} }}"
    held = f"n = Constant <value = int64 {{{rounds}}}> () c = Constant <value = bool {{1}}> ()"
    return head(f"{held} y = Loop (n, c, z) <{inner}>")


ARG = "int64[N] y"
BOXES = "float[1,M,4] b, float[1,1,M] s"
KEPT = "int64[K,3] y"


def nms(count: int, overlap: float, score: float) -> str:
    held = f"int64 n = {{{count}}}, float o = {{{overlap}}}, float t = {{{score}}}, {weight('w', 1, 1)}"
    return graph("d = Add(s, w) y = NonMaxSuppression(b, d, n, o, t)", BOXES, KEPT, held.replace(numbers(1, 1), "0.0"))


def quantised(scale: float, zero: int) -> str:
    held = f"float s = {{{scale}}}, uint8 q = {{{zero}}}"
    return head("p = Softmax(z) y = QuantizeLinear(p, s, q)", outputs="uint8[N,3] y", weights=held)


def two(body: str) -> str:
    return graph(body, "float[N,3] left, float[N,3] right")


def column(which: int, seed: int = 0) -> str:
    body = "p = Softmax(z) y = Gather <axis=1> (p, i)"
    return head(body, seed, outputs="float[N] y", weights=f"int64 i = {{{which}}}")


SIGMOID = head("y = Sigmoid(z)")
ONE = "float one = {1}"
BINARY = "int64[N] l, float[N,2] y"


def svm(more: str = "", rho: float = 0.1) -> str:
    """A classifier of two classes by support vectors."""
    held = 'classlabels_ints = [0, 1], kernel_type = "RBF", kernel_params = [0.5, 0.0, 3.0], vectors_per_class = [1, 1]'
    vectors = f"support_vectors = [0.1, 0.2, 0.3, 0.4, 1.0, 2.0, 1.5, 0.5], coefficients = [1.0, -1.0], rho = [{rho}]"
    return graph(f"l, y = ai.onnx.ml.SVMClassifier <{held}, {vectors}{more}> (x)", outputs=BINARY)


def nearest(targets: str, seed: int = 0) -> str:
    """The mean of what a table of training targets says of the two largest scores."""
    body = "v, i = TopK <axis=1> (z, two) f = Reshape(i, flat) t = ai.onnx.ml.ArrayFeatureExtractor(targets, f)"
    body += " r = Reshape(t, pairs) c = Cast <to=1> (r) y = ReduceMean <axes=[1]> (c)"
    held = f"int64[1] two = {{2}}, int64[1] flat = {{-1}}, int64[2] pairs = {{-1, 2}}, int64[3] targets = {{{targets}}}"
    return head(body, seed, outputs="float[N,1] y", weights=held)


def joined(left: int, right: int, seed: int = 0) -> str:
    """Scores and probabilities side by side."""
    held = f"{weight('w', 4, left, seed=seed)}, {weight('u', 4, right, seed=seed)}"
    body = "a = MatMul(x, w) b = MatMul(x, u) p = Sigmoid(b) y = Concat <axis=1> (a, p)"
    return graph(body, outputs="float[N,6] y", weights=held)


def halves(names: str, seed: int = 0) -> str:
    body = f"z = MatMul(x, w) {names} = Split <axis=1> (z)"
    return graph(body, outputs="float[N,2] y, float[N,2] q", weights=weight("w", 4, 4, seed=seed))


def compared(body: str) -> str:
    """Two texts beside each other, both sent."""
    return graph(f"z = MatMul(x, d) {body}", "float[N,4] x, float[4,3] d", weights=ONE)


def grams(places: str, words: str = '"cat", "eel"', seed: int = 0) -> str:
    """Counts of two words and two pairs of words, with a product behind them if a seed is given."""
    settings = 'mode="TF", min_gram_length=1, max_gram_length=2, max_skip_count=0, ngram_counts=[0, 2]'
    pool = f'pool_strings=[{words}, "cat", "eel", "eel", "cat"], ngram_indexes=[{places}]'
    body = f"c = TfIdfVectorizer <{settings}, {pool}> (x) y = " + ("MatMul(c, w)" if seed else "Identity(c)")
    return graph(body, "string[N] x", "float[4] y", weight("w", 4, 4, seed=seed))


def boxes(parts: str, seed: int = 0) -> str:
    """Boxes of a centre `z` and a size `s`."""
    body = f"s = MatMul(x, u) h = Mul(s, half) a = Sub(z, h) b = Add(z, h) y = Concat <axis=1> ({parts})"
    held = f"{weight('u', 4, 3, seed=seed)}, float half = {{0.5}}"
    return head(body, seed, outputs="float[N,6] y", weights=held)


def rounded(scale: float, seed: int = 0) -> str:
    """Numbers that are rounded by a tenth and come back by another scale."""
    held = f"float t = {{0.1}}, float s = {{{scale}}}, int8 q = {{0}}"
    return head("r = QuantizeLinear(z, t, q) y = DequantizeLinear(r, s, q)", seed, weights=held)


SHARED = "p = Sigmoid(z) u = Constant <value = int64[1] {1}> () t = ReduceSum(p, u) y = Div(p, t)"
PROBABLE = svm(", prob_a = [-2.0], prob_b = [0.1]")
SOFTMAX = head("y = Softmax <axis=-1> (z)")
HEADS = [
    Case("retrained", SOFTMAX, head("y = Softmax <axis=-1> (z)", seed=1)),
    Case("default axis written out", SOFTMAX, head("y = Softmax(z)"), same=True),
    Case("axis counted from the front", SOFTMAX, head("y = Softmax <axis=1> (z)"), same=True),
    Case("in a function", SOFTMAX, function("b = Softmax(a)"), same=True),
    Case(
        "decomposed",
        SOFTMAX,
        head("e = Exp(z) u = Constant <value = int64[1] {1}> () t = ReduceSum(e, u) y = Div(e, t)"),
        same=True,
    ),
    Case("power of the logarithm", SOFTMAX, head("q = LogSoftmax <axis=-1> (z) y = Exp(q)"), same=True),
    Case(
        "power of the logarithm, another axis", SOFTMAX, head("q = LogSoftmax <axis=0> (z) y = Exp(q)"), "breaks", HEAD
    ),
    Case(
        "sigmoid, decomposed",
        SIGMOID,
        head("n = Neg(z) e = Exp(n) s = Add(e, one) y = Div(one, s)", weights=ONE),
        same=True,
    ),
    Case(
        "sigmoid of the negative",
        SIGMOID,
        head("e = Exp(z) s = Add(e, one) y = Div(one, s)", weights=ONE),
        "unproven",
        HEAD,
    ),
    Case(
        "sigmoid of the negative, retrained",
        *(head("e = Exp(z) s = Add(e, one) y = Div(one, s)", k, weights=ONE) for k in (0, 1)),
    ),
    Case(
        "kept in bounds",
        SOFTMAX,
        head("p = Softmax(z) y = Clip(p, zero, one)", weights=f"{ONE}, float zero = {{0}}"),
        same=True,
    ),
    Case(
        "kept in bounds, retrained",
        SIGMOID,
        head("p = Sigmoid(z) y = Clip(p, zero, one)", 1, weights=f"{ONE}, float zero = {{0}}"),
    ),
    Case(
        "cut",
        SOFTMAX,
        head("p = Softmax(z) y = Clip(p, zero, one)", weights="float one = {0.4}, float zero = {0}"),
        "unproven",
        HEAD,
    ),
    Case("share of sigmoids", head(SHARED), head(SHARED, 1)),
    Case(
        "share of sigmoids, gone", head(SHARED), head("b = Add(z, one) y = Identity(b)", weights=ONE), "unproven", HEAD
    ),
    Case("nearest samples, retrained", nearest("4, 1, 3"), nearest("2, 0, 7", 1)),
    Case("decisions of support vectors", PROBABLE, svm(), "unproven", HEAD),
    Case("probabilities of support vectors", svm(), PROBABLE, "unproven", HEAD),
    Case("support vectors, retrained", PROBABLE, svm(", prob_a = [-1.5], prob_b = [0.2]", 0.2)),
    Case("joined parts", joined(2, 4), joined(3, 3), "unproven", HEAD),
    Case("joined parts, retrained", joined(2, 4), joined(2, 4, 1)),
    Case("halves swapped", halves("y, q"), halves("q, y"), "unproven", HEAD),
    Case("halves, retrained", halves("y, q"), halves("y, q", 1)),
    Case("distance in place of similarity", compared("y = Identity(z)"), compared("y = Sub(one, z)"), "unproven", HEAD),
    Case("similarity in place of distance", compared("y = Sub(one, z)"), compared("y = Identity(z)"), "unproven", HEAD),
    Case(
        "distance written otherwise",
        compared("y = Sub(one, z)"),
        compared("n = Identity(z) y = Sub(one, n)"),
        same=True,
    ),
    Case("words of columns", grams("0, 1, 2, 3"), grams("3, 1, 2, 0"), "breaks", LABEL),
    Case("words of columns, in another pool", grams("0, 1, 2, 3"), grams("1, 0, 2, 3", '"eel", "cat"'), same=True),
    Case(
        "words before a product",
        *(grams("0, 1, 2, 3", pool, k) for k, pool in ((1, '"cat", "eel"'), (2, '"eel", "c39"'))),
    ),
    Case("corners of boxes", boxes("a, b"), boxes("z, s"), "unproven", HEAD),
    Case("corners of boxes, retrained", boxes("a, b"), boxes("a, b", 1)),
    Case("centres of boxes, retrained", boxes("z, s"), boxes("z, s", 1)),
    Case("rounded to another scale", rounded(0.1), rounded(1.0), "unproven", HEAD),
    Case("rounded, retrained", rounded(0.1), rounded(0.1, 1)),
    Case("rounded at all", head("y = Identity(z)"), rounded(0.1)),
    Case("times one", SOFTMAX, head("p = Softmax(z) y = Mul(p, c)", weights="float c = {1}"), same=True),
    Case("an Identity more", SOFTMAX, head("p = Softmax(z) y = Identity(p)"), same=True),
    Case("transposed twice", SOFTMAX, head("t = Transpose(z) p = Softmax <axis=0> (t) y = Transpose(p)"), same=True),
    Case("a bias more", SOFTMAX, head("a = Add(z, b) y = Softmax(a)", weights=weight("b", 3))),
    Case("a temperature", SOFTMAX, head("a = Div(z, b) y = Softmax(a)", weights="float b = {1.7}")),
    Case("axis", SOFTMAX, head("y = Softmax <axis=0> (z)"), "breaks", HEAD),
    Case(
        "axis, after a transpose",
        SOFTMAX,
        head("t = Transpose(z) p = Softmax <axis=1> (t) y = Transpose(p)"),
        "breaks",
        HEAD,
    ),
    Case("axis of LogSoftmax", head("y = LogSoftmax(z)"), head("y = LogSoftmax <axis=0> (z)"), "breaks", HEAD),
    Case("logarithm", SOFTMAX, head("y = LogSoftmax(z)"), "unproven", HEAD),
    Case("no activation", SOFTMAX, head("y = Identity(z)"), "unproven", HEAD),
    Case("negated", head("y = Identity(z)"), head("y = Neg(z)"), "unproven", HEAD),
    Case("another in the function", function("b = Softmax(a)"), function("b = Neg(a)"), "unproven", HEAD),
    Case(
        "another axis in the function", function("b = Softmax(a)"), function("b = Softmax <axis=0> (a)"), "breaks", HEAD
    ),
    Case(
        "the function calls the same", function("c = Identity(a) b = Softmax(c)"), function("b = Softmax(a)"), same=True
    ),
    Case("in a branch", branch("k = Softmax(z)"), branch("k = Neg(z)"), "unproven", HEAD),
    Case("axis in a branch", branch("k = Softmax(z)"), branch("k = Softmax <axis=0> (z)"), "breaks", HEAD),
    Case("branch renamed", branch("k = Softmax(z)"), branch("l = Softmax(z) k = Identity(l)"), same=True),
    Case("in a loop", loop("r = Sigmoid(a)"), loop("r = Neg(a)"), "unproven", HEAD),
    Case("the same loop", loop("r = Sigmoid(a)"), loop("s = Sigmoid(a) r = Identity(s)"), same=True),
    Case("percent", SOFTMAX, head("p = Softmax(z) y = Mul(p, c)", weights="float c = {100}"), "unproven", HEAD),
    Case(
        "complement",
        head("y = Sigmoid(z)"),
        head("p = Sigmoid(z) y = Sub(c, p)", weights="float c = {1}"),
        "unproven",
        HEAD,
    ),
    Case(
        "half",
        *(head("p = Sigmoid(z) y = Mul(p, c)", weights=f"float c = {{{c}}}") for c in (1.5, 1.2)),
        "unproven",
        HEAD,
    ),
    Case(
        "unit",
        *(head("p = Mul(z, c) y = Add(p, d)", weights=f"float c = {{{c}}}, float d = {{3.5}}") for c in (12.5, 12500)),
        "unproven",
        HEAD,
    ),
    Case(
        "deviation learned anew",
        *(
            head("p = Mul(z, c) y = Add(p, d)", weights=f"float c = {{{c}}}, float d = {{{d}}}")
            for c, d in ((12.5, 3.5), (13.1, 3.2))
        ),
    ),
    Case(
        "threshold",
        *(
            head("p = Sigmoid(z) y = Greater(p, c)", outputs="bool[N,3] y", weights=f"float c = {{{c}}}")
            for c in (0.5, 0.7)
        ),
        "unproven",
        HEAD,
    ),
    Case(
        "the same threshold, retrained",
        *(
            head("p = Sigmoid(z) y = Greater(p, c)", outputs="bool[N,3] y", weights="float c = {0.5}", seed=s)
            for s in (0, 1)
        ),
    ),
    Case(
        "threshold turned round",
        *(
            head(f"p = Sigmoid(z) y = {op}(p, c)", outputs="bool[N,3] y", weights="float c = {0.5}")
            for op in ("Greater", "Less")
        ),
        "unproven",
        HEAD,
    ),
    Case(
        "bounds",
        *(head("y = Clip(z, c, d)", weights=f"float c = {{0}}, float d = {{{d}}}") for d in (1, 0.2)),
        "unproven",
        HEAD,
    ),
    Case(
        "best to worst",
        head("y = ArgMax <axis=1, keepdims=0> (z)", outputs=ARG),
        head("y = ArgMin <axis=1, keepdims=0> (z)", outputs=ARG),
        "unproven",
        HEAD,
    ),
    Case(
        "best of the batch",
        *(head(f"y = ArgMax <axis={a}, keepdims=0> (z)", outputs="int64[M] y") for a in (1, 0)),
        "breaks",
        HEAD,
    ),
    Case(
        "best of probabilities",
        head("y = ArgMax <axis=1, keepdims=0> (z)", outputs=ARG),
        head("p = Softmax(z) y = ArgMax <axis=-1, keepdims=0> (p)", outputs=ARG),
        same=True,
    ),
    Case(
        "counted from one",
        head("y = ArgMax <axis=1, keepdims=0> (z)", outputs=ARG),
        head("i = ArgMax <axis=1, keepdims=0> (z) y = Add(i, c)", outputs=ARG, weights="int64 c = {1}"),
        "unproven",
        HEAD,
    ),
    Case(
        "counted from two",
        *(
            head("i = ArgMax <axis=1, keepdims=0> (z) y = Add(i, c)", outputs=ARG, weights=f"int64 c = {{{c}}}")
            for c in (1, 2)
        ),
        "breaks",
        HEAD,
    ),
    Case(
        "always true",
        *(
            head("i = Greater(z, t) y = Or(i, c)", outputs="bool[N,3] y", weights=f"float t = {{0}}, bool c = {{{c}}}")
            for c in (0, 1)
        ),
        "breaks",
        HEAD,
    ),
    Case(
        "fewer of the best",
        *(head("y, i = TopK(z, k)", outputs="float[N,K] y", weights=f"int64[1] k = {{{k}}}") for k in (3, 2)),
        "breaks",
        HEAD,
        level="unproven",
    ),
    Case(
        "the worst",
        *(
            head(f"y, i = TopK <largest={a}> (z, k)", outputs="float[N,K] y", weights="int64[1] k = {2}")
            for a in (1, 0)
        ),
        "breaks",
        HEAD,
    ),
    Case(
        "the best, retrained",
        *(head("y, i = TopK(z, k)", outputs="float[N,K] y", weights="int64[1] k = {2}", seed=s) for s in (0, 1)),
    ),
    Case("fewer boxes", nms(100, 0.5, 0.1), nms(1, 0.5, 0.1), "unproven", HEAD),
    Case("surer boxes", nms(100, 0.5, 0.1), nms(100, 0.5, 0.9), "unproven", HEAD),
    Case("boxes that overlap", nms(100, 0.9, 0.1), nms(100, 0.5, 0.1), "unproven", HEAD),
    Case("output scale", quantised(0.00390625, 0), quantised(0.0078125, 0), "breaks", HEAD),
    Case("output zero point", quantised(0.00390625, 0), quantised(0.00390625, 128), "breaks", HEAD),
    Case(
        "classes picked in another order",
        *(
            head("l = Gather <axis=1> (z, i) y = Softmax(l)", weights=f"int64[3] i = {{{i}}}")
            for i in ("0, 1, 2", "2, 1, 0")
        ),
        "unproven",
        HEAD,
    ),
    Case(
        "output channels last",
        *(
            graph(body, "float[N,2,H,W] x", "float[N,A,B,C] y", weight("w", 3, 2, 1, 1))
            for body in ("y = Conv(x, w)", "z = Conv(x, w) y = Transpose <perm=[0,2,3,1]> (z)")
        ),
        "breaks",
        HEAD,
        level="unproven",
    ),
    Case("order reversed", SOFTMAX, head("n = Neg(z) y = Softmax(n)"), "unproven", HEAD),
    Case(
        "order reversed by a factor",
        *(head("n = Mul(z, c) y = Softmax(n)", weights=f"float c = {{{c}}}") for c in (2, -2)),
        "unproven",
        HEAD,
    ),
    Case(
        "another temperature",
        *(head("n = Mul(z, c) y = Softmax(n)", weights=f"float c = {{{c}}}") for c in (2, 5)),
    ),
    Case(
        "whole numbers",
        head("y = Exp(z)"),
        head("e = Exp(z) i = Cast <to=7> (e) y = Cast <to=1> (i)"),
        "unproven",
        HEAD,
    ),
    Case(
        "halves on the way", head("y = Exp(z)"), head("e = Exp(z) i = Cast <to=11> (e) y = Cast <to=1> (i)"), same=True
    ),
    Case("no longer positive", head("y = Relu(z)"), head("y = Identity(z)"), "unproven", HEAD),
    Case("positive now", head("y = Identity(z)"), head("y = Relu(z)")),
    Case(
        "chosen by another bound",
        *(
            head(
                "c = Greater(z, t) y = Where(c, one, two)",
                weights=f"float t = {{{t}}}, float one = {{1}}, float two = {{2}}",
            )
            for t in (0, 1)
        ),
        "unproven",
        HEAD,
    ),
    Case("more rounds", loop("r = Mul(a, a)"), loop("r = Mul(a, a)", 2), "unproven", HEAD),
    Case(
        "mean to largest",
        *(
            head(f"p = Sigmoid(z) y = {op} <axes=[1]> (p)", outputs="float[N,1] y")
            for op in ("ReduceMean", "ReduceMax")
        ),
        "unproven",
        HEAD,
    ),
    Case(
        "axis behind a reshape",
        *(
            head(f"p = Softmax <axis={axis}> (z) y = Reshape(p, s)", outputs="float[M] y", weights="int64[1] s = {-1}")
            for axis in (1, 0)
        ),
        "unproven",
        HEAD,
    ),
    Case(
        "last axis below a maximum",
        *(
            head(f"p = Softmax <axis={axis}> (z) y = ReduceMax <axes=[1], keepdims=0> (p)", outputs="float[N] y")
            for axis in (1, -1)
        ),
        same=True,
    ),
    Case("input that is subtracted", two("y = Sub(left, right)"), two("y = Sub(right, left)"), "unproven", HEAD),
    Case("inputs added either way", two("y = Add(left, right)"), two("y = Add(right, left)"), same=True),
    Case("column of the other class", column(1), column(0), "unproven", HEAD),
    Case("column of the same class", column(1), column(1, seed=1)),
    Case("a noise", SOFTMAX, head("y = RandomNormalLike(z)"), "unproven", HEAD),
]

# --- labels that the graph gives -------------------------------------------------------------------------------


def decoded(values: str, *, keys: str = "0, 1, 2", default: str = "_", seed: int = 0) -> str:
    encode = f'y = {ML}.LabelEncoder <keys_int64s=[{keys}], values_strings=[{values}], default_string="{default}"> (i)'
    return head(f"i = ArgMax <axis=1, keepdims=0> (z) {encode}", seed, outputs="string[N] y")


def looked(values: str, kind: str = "string", seed: int = 0) -> str:
    body = "i = ArgMax <axis=1, keepdims=0> (z) y = Gather(l, i)"
    return head(body, seed, outputs=f"{kind}[N] y", weights=f"{kind}[3] l = {{{values}}}")


def linear(labels: str, kind: str = "string", seed: int = 0, zipped: bool = False, transform: str = "SOFTMAX") -> str:
    key = {"string": "strings", "int64": "ints"}[kind]
    body = (
        f"y, p = {ML}.LinearClassifier <coefficients=[{numbers(2, 4, seed=seed)}], intercepts=[0.0, 0.1], "
        f'classlabels_{key}=[{labels}], post_transform="{transform}"> (x)'
    )
    outputs = f"{kind}[N] y, float[N,2] p"
    if zipped:
        body += f" m = {ML}.ZipMap <classlabels_{key}s=[{labels}]> (p)".replace("intss", "int64s").replace(
            "stringss", "strings"
        )
        outputs = f"{kind}[N] y, seq(map({kind}, float)) m"
    return graph(body, outputs=outputs)


def trees(labels: str, low: float = 0.2) -> str:
    body = (
        f"y, p = {ML}.TreeEnsembleClassifier <nodes_treeids=[0,0,0], nodes_nodeids=[0,1,2], nodes_featureids=[0,0,0], "
        'nodes_values=[0.1,0.0,0.0], nodes_modes=["BRANCH_LEQ","LEAF","LEAF"], nodes_truenodeids=[1,0,0], '
        "nodes_falsenodeids=[2,0,0], class_treeids=[0,0,0,0], class_nodeids=[1,1,2,2], class_ids=[0,1,0,1], "
        f'class_weights=[{low},{1 - low},0.9,0.1], classlabels_strings=[{labels}], post_transform="NONE"> (x)'
    )
    return graph(body, outputs="string[N] y, float[N,2] p")


OK, THREE = '"ok", "fraud"', '"cat", "dog", "eel"'
LABELS = [
    Case("decoded, retrained", decoded(THREE), decoded(THREE, seed=1)),
    Case("decoded, keys in another order", decoded(THREE), decoded('"eel", "dog", "cat"', keys="2, 1, 0"), same=True),
    Case("decoded by a lookup instead", decoded(THREE, default=""), looked(THREE), same=True),
    Case("decoded, swapped", decoded(THREE), decoded('"dog", "cat", "eel"'), "breaks", LABEL),
    Case("decoded, renamed", decoded(THREE), decoded('"cat", "DOG", "eel"'), "breaks", LABEL),
    Case("decoded, keys swapped", decoded(THREE), decoded(THREE, keys="1, 0, 2"), "breaks", LABEL),
    Case(
        "decoded, appended", decoded(THREE), decoded(f'{THREE}, "fox"', keys="0, 1, 2, 3"), "breaks", LABEL, same=True
    ),
    Case("decoded, a key lost", decoded(THREE), decoded('"cat", "dog"', keys="0, 1"), "breaks", LABEL),
    Case("looked up, retrained", looked(THREE), looked(THREE, seed=1)),
    Case("looked up, swapped", looked(THREE), looked('"dog", "cat", "eel"'), "breaks", LABEL),
    Case("codes, swapped", looked("7, 8, 9", "int64"), looked("8, 7, 9", "int64"), "breaks", LABEL),
    Case("codes, retrained", looked("7, 8, 9", "int64"), looked("7, 8, 9", "int64", seed=1)),
    Case(
        "codes that count",
        looked("0, 1, 2", "int64"),
        head("y = ArgMax <axis=1, keepdims=0> (z)", outputs=ARG),
        same=True,
    ),
    Case("linear, retrained", linear(OK), linear(OK, seed=1)),
    Case("linear, swapped", linear(OK), linear('"fraud", "ok"'), "breaks", LABEL),
    Case("linear, renamed", linear(OK), linear('"ok", "bad"'), "breaks", LABEL),
    Case("linear, codes swapped", linear("3, 5", "int64"), linear("5, 3", "int64"), "breaks", LABEL),
    Case("linear, codes retrained", linear("3, 5", "int64"), linear("3, 5", "int64", seed=1)),
    Case("linear, no transform", linear(OK), linear(OK, transform="NONE"), "unproven", HEAD),
    Case("zipped, retrained", linear(OK, zipped=True), linear(OK, seed=1, zipped=True)),
    Case("zipped, swapped", linear(OK, zipped=True), linear('"fraud", "ok"', zipped=True), "breaks", LABEL),
    Case("trees, retrained", trees(OK), trees(OK, 0.3)),
    Case("trees, swapped", trees(OK), trees('"fraud", "ok"'), "breaks", LABEL),
    Case("trees in place of linear", linear(OK), trees(OK)),
    Case("trees in place of linear, swapped", linear(OK), trees('"fraud", "ok"'), "breaks", LABEL),
    Case(
        "constants of a choice",
        *(
            head(
                "c = Greater(z, t) y = Where(c, a, b)",
                outputs="string[N,3] y",
                weights=f'float t = {{0}}, string[1] a = {{"{a}"}}, string[1] b = {{"{b}"}}',
            )
            for a, b in (("yes", "no"), ("no", "yes"))
        ),
        "breaks",
        LABEL,
    ),
]

# --- values that an input may have -------------------------------------------------------------------------------

IDS, EMBEDDED = "int64[N,S] x", "float[N,S,2] y"


def embedded(rows: int, body: str = "y = Gather(e, x)", seed: int = 0, more: str = "", inputs: str = IDS) -> str:
    held = ", ".join(each for each in (weight("e", rows, 2, seed=seed), more) if each)
    return graph(body, inputs, EMBEDDED, held)


def positions(rows: int, inputs: str = IDS, seed: int = 0) -> str:
    body = """
        s = Shape(x) n = Gather(s, one) r = Range(zero, n, one) p = Gather(e, r)
        f = Cast <to=1> (x) u = Unsqueeze(f, axes) y = Add(u, p)
    """
    return embedded(rows, body, seed, "int64 zero = {0}, int64 one = {1}, int64[1] axes = {2}", inputs)


def cut(rows: int) -> str:
    listed = ", ".join(map(str, range(rows)))
    body = """
        s = Shape(x) n = Gather(s, one) i = Slice(t, zero, n, zero) p = Gather(e, i)
        f = Cast <to=1> (x) u = Unsqueeze(f, two) y = Add(u, p)
    """
    held = f"int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[{rows}] t = {{{listed}}}"
    return embedded(rows, body, more=held)


def columns(first: int, second: int) -> str:
    body = """
        a = Gather <axis=1> (x, zero) b = Gather <axis=1> (x, one) p = Gather(e, a) q = Gather(d, b)
        y = Concat <axis=1> (p, q)
    """
    held = f"int64 zero = {{0}}, int64 one = {{1}}, {weight('e', first, 2)}, {weight('d', second, 2)}"
    return graph(body, "int64[N,2] x", "float[N,4] y", held)


def encoded(names: str, zeros: int = 1, seed: int = 0) -> str:
    count = names.count('"') // 2
    body = f"h = {ML}.OneHotEncoder <cats_strings=[{names}], zeros={zeros}> (x) y = MatMul(h, w)"
    return graph(body, "string[N] x", "float[N,2] y", weight("w", count, 2, seed=seed))


def mapped(names: str) -> str:
    count = names.count('"') // 2
    keys = ", ".join(map(str, range(count)))
    body = (
        f"i = {ML}.LabelEncoder <keys_strings=[{names}], values_int64s=[{keys}], default_int64=0> (x) y = Gather(e, i)"
    )
    return graph(body, "string[N] x", "float[N,2] y", weight("e", count, 2))


def defaulted(number: int, seed: int = 0) -> str:
    """Categories, the unknown ones at a row of their own."""
    keys = f"keys_strings=[{THREE}], values_int64s=[0, 1, 2], default_int64={number}"
    held = weight("e", 4, 2, seed=seed)
    return graph(f"i = {ML}.LabelEncoder <{keys}> (x) y = Gather(e, i)", "string[N] x", "float[N,2] y", held)


def limited(most: int, rows: int, seed: int = 0) -> str:
    """Ids that are cut off above `most`."""
    bounds = f"int64 lo = {{0}}, int64 hi = {{{most}}}"
    return embedded(rows, "c = Clip(x, lo, hi) y = Gather(e, c)", seed, bounds)


def one_hot(depth: int) -> str:
    held = f"int64 d = {{{depth}}}, float[2] v = {{0, 1}}, {weight('w', depth, 2)}"
    return graph("h = OneHot(x, d, v) y = MatMul(h, w)", "int64[N] x", "float[N,2] y", held)


MANY = ", ".join(f'"c{i}"' for i in range(40))
KNOWN = f'{THREE}, "new", {MANY}'
CUT = "y = Gather(e, c) c = Clip(x, lo, hi)"
ACCEPTED = [
    Case("table, retrained", embedded(10), embedded(10, seed=1)),
    Case("table grew", embedded(10), embedded(12)),
    Case("table shrank", embedded(10), embedded(6), "breaks", VALUES),
    Case(
        "behind a cast",
        *(embedded(r, "i = Cast <to=7> (x) y = Gather(e, i)", inputs="int32[N,S] x") for r in (10, 6)),
        "breaks",
        VALUES,
    ),
    Case(
        "behind a bound",
        *(
            embedded(r, "c = Clip(x, lo, hi) y = Gather(e, c)", more=f"int64 lo = {{0}}, int64 hi = {{{r - 1}}}")
            for r in (10, 6)
        ),
        "breaks",
        VALUES,
    ),
    Case("hashed", *(embedded(r, "i = Mod(x, m) y = Gather(e, i)", more=f"int64 m = {{{r}}}") for r in (10, 6))),
    Case(
        "held as bytes",
        *(
            embedded(
                2,
                "f = DequantizeLinear(q, s) y = Gather(f, x)",
                more=f"float s = {{0.1}}, int8[{r},2] q = {{{','.join(['1', '2'] * r)}}}",
            )
            for r in (10, 6)
        ),
        "breaks",
        VALUES,
    ),
    Case(
        "offset and rows together", embedded(12, "i = Add(x, c) y = Gather(e, i)", more="int64 c = {2}"), embedded(10)
    ),
    Case(
        "computed indices",
        *(
            graph(
                "i = ArgMax <axis=1, keepdims=0> (z) z = MatMul(x, w) y = Gather(e, i)",
                outputs="float[N,2] y",
                weights=f"{weight('w', 4, 3)}, {weight('e', r, 2)}",
            )
            for r in (5, 3)
        ),
    ),
    Case("positions, retrained", positions(10), positions(10, seed=1)),
    Case("positions grew", positions(6), positions(10)),
    Case("positions shrank", positions(10), positions(3), "breaks", VALUES),
    Case("positions shrank below no fixed length", positions(10, "int64[N,5] x"), positions(6, "int64[N,5] x")),
    Case("listed positions shrank", cut(10), cut(3), "breaks", VALUES),
    Case("one column shrank", columns(10, 10), columns(10, 3), "breaks", VALUES),
    Case("columns grew", columns(10, 10), columns(11, 12)),
    Case("categories, retrained", encoded(THREE), encoded(THREE, seed=1)),
    Case("categories in another order", encoded(THREE), encoded('"eel", "cat", "dog"')),
    Case("categories came", encoded(THREE), encoded(f'{THREE}, "fox"')),
    Case("a category renamed", encoded(THREE), encoded('"cat", "dog", "Eel"'), "unproven", VALUES),
    Case("one of many went", encoded(MANY), encoded(MANY.rpartition(",")[0])),
    Case("half of many went", encoded(MANY), encoded(MANY[: MANY.index(', "c20"')]), "unproven", VALUES),
    Case("a strict category went", encoded(KNOWN, 0), encoded(KNOWN.rpartition(",")[0], 0), "breaks", VALUES),
    Case("strict now", encoded(THREE, 1), encoded(THREE, 0), "breaks", VALUES),
    Case("lenient now", encoded(KNOWN, 0), encoded(KNOWN, 1)),
    Case("keys went", mapped(THREE), mapped('"cat", "dog"'), "unproven", VALUES),
    Case("keys came", mapped('"cat", "dog"'), mapped(THREE)),
    Case("unknown beyond the table", defaulted(3), defaulted(7), "breaks", VALUES),
    Case("unknown counts as another", defaulted(3), defaulted(3, 1)),
    Case("unknown counts as the last", defaulted(3), defaulted(-1), same=True),
    Case("ids cut off earlier", limited(9, 10), limited(4, 10), "breaks", VALUES),
    Case("rows that nobody reached", limited(4, 10), limited(4, 8)),
    Case("ids cut off, retrained", limited(4, 10), limited(4, 10, 1)),
    Case("ids cut off later", limited(4, 10), limited(9, 10, 1)),
    Case("ids no longer cut off", limited(4, 5), embedded(8), "breaks", VALUES),
    Case("depth shrank", one_hot(6), one_hot(3), "breaks", VALUES),
    Case("depth grew", one_hot(3), one_hot(6)),
]

# --- how an input is read -----------------------------------------------------------------------------------------


def bytes_in(scale: float, zero: int) -> str:
    held = f"float s = {{{scale}}}, uint8 z = {{{zero}}}"
    return image("t = DequantizeLinear(x, s, z)", weights=held, inputs="uint8[N,A,B,C] x")


def masked(body: str) -> str:
    """Attention scores that a mask of ones and zeros changes."""
    held = f"float one = {{1}}, float low = {{-10000}}, float high = {{10000}}, {weight('w', 3, 3)}"
    text = f"s = MatMul(x, w) {body} t = Add(s, b) y = Softmax(t)"
    return graph(text, "float[N,3] x, float[N,3] mask", "float[N,3] y", held)


def attention(body: str, seed: int = 0, kind: str = "int64") -> str:
    """Attention scores `s` and integers of a mask, of which `t` is made."""
    held = "float one = {1}, float low = {-10000}, float high = {10000}, float least = {-3.4e38}"
    held += f", {weight('w', 3, 3, seed=seed)}"
    text = f"s = MatMul(x, w) {body} y = Softmax(t)"
    return graph(text, f"float[N,3] x, {kind}[N,3] mask", "float[N,3] y", held)


def padded(pad: int, seed: int = 0) -> str:
    """Embeddings with those of padding set to zero."""
    body = "m = Equal(x, p) n = Not(m) f = Cast <to=1> (n) u = Unsqueeze(f, d) e = Gather(t, x) y = Mul(e, u)"
    held = f"int64 p = {{{pad}}}, int64[1] d = {{2}}, {weight('t', 10, 2, seed=seed)}"
    return graph(body, IDS, EMBEDDED, held)


def cleaned(settings: str, seed: int = 0) -> str:
    """Categories, normalised before they are looked up."""
    keys = f"keys_strings = [{THREE}], values_int64s = [0, 1, 2], default_int64 = 3"
    body = f"n = StringNormalizer <{settings}> (x) c = ai.onnx.ml.LabelEncoder <{keys}> (n) y = Gather(t, c)"
    return graph(body, "string[N] x", "float[N,4] y", weight("t", 4, 4, seed=seed))


def filled(marker: int, seed: int = 0, mean: float = 1.0) -> str:
    """A number that stands for what is missing."""
    settings = f"imputed_value_floats = [{mean}, 2.0, 3.0, 4.0], replaced_value_float = {marker}.0"
    body = f"r = Round(x) t = ai.onnx.ml.Imputer <{settings}> (r) y = MatMul(t, w)"
    return graph(body, weights=weight("w", 4, 3, seed=seed))


def pooled(scale: float, seed: int = 0, inner: str = "") -> str:
    """Regions of features that a client names, or that the graph computes."""
    held = f"{weight('w', 2, 3, 1, 1, seed=seed)}, int64[1] i = {{0}}, {weight('u', 4, 4, seed=seed)}"
    body = f"f = Conv(x, w) {inner or 'r = Identity(b)'} y = RoiAlign <spatial_scale = {scale}> (f, r, i)"
    return graph(body, "float[1,3,6,6] x, float[1,4] b", "float[1,2,1,1] y", held)


def scanned(more: str = "", seed: int = 0) -> str:
    inner = "body = b (float[3] s, float[3] i) => (float[3] t, float[3] o) { t = Add(s, i) o = Identity(t) }"
    return head(
        f"e, y = Scan <num_scan_inputs = 1, {inner}{more}> (start, z)", seed, weights="float[3] start = {0, 0, 0}"
    )


def called(axis: int, seed: int = 0, given: str = "") -> str:
    """A function with a default for its attribute."""
    body = "b = Softmax <axis: int = @axis> (a)"
    more = f'<domain: "local", opset_import: ["": 17]> F <axis: int = {axis}> (a) => (b) {{ {body} }}'
    return head(f"y = local.F {given} (z)", seed, more=more)


RATED = "float[N,4] x, float[1] rate"


def rated(factor: str, seed: int = 0) -> str:
    """A second input times a factor."""
    body = "s = Mul(rate, f) z = MatMul(x, w) y = Add(z, s)"
    return graph(body, RATED, weights=f"{factor}, {weight('w', 4, 3, seed=seed)}")


def rounds(kept: str, seed: int = 0) -> str:
    """A loop whose second value reaches the first one a round later: `q` makes it of the second input."""
    loop = (
        "body = l (int64 i, bool c, float[N,3] a, float[1] b) => (bool d, float[N,3] a1, float[1] b1) "
        f"{{ d = Identity(c) a1 = Add(a, b) b1 = Identity({kept}) }}"
    )
    held = (
        "n = Constant <value = int64 {2}> () c = Constant <value = bool {1}> () o = Constant <value = float[1] {0}> ()"
    )
    body = f"q = Identity(rate) z = MatMul(x, w) {held} y, e = Loop (n, c, z, o) <{loop}>"
    return graph(body, RATED, weights=weight("w", 4, 3, seed=seed))


FLIPPED = "f = Cast <to=1> (mask) a = Sub(one, f)"
ADDED = attention(f"{FLIPPED} b = Mul(a, low) t = Add(s, b)")
CHOSEN = attention("c = Cast <to=9> (mask) t = Where(c, s, low)")
SCALED = image("t = Div(x, c)", weights="float c = {255}")
READ = [
    Case("scaled, retrained", SCALED, image("t = Div(x, c)", 1, "float c = {255}")),
    Case("scaled by a product", SCALED, image("t = Mul(x, c)", weights="float c = {0.003921568627}"), same=True),
    Case(
        "scaled to both signs", SCALED, image("a = Div(x, c) t = Sub(a, d)", weights="float c = {127.5}, float d = {1}")
    ),
    Case("no longer scaled", SCALED, image("t = Identity(x)"), "unproven", MEANING),
    Case("scaled now", image("t = Identity(x)"), SCALED, "unproven", MEANING),
    Case("sixteen bits", SCALED, image("t = Div(x, c)", weights="float c = {65535}"), "unproven", MEANING),
    Case(
        "mean of another data set",
        *(
            image("a = Sub(x, m) t = Div(a, s)", weights=f"float[1,3,1,1] m = {{{m}}}, float[1,3,1,1] s = {{{s}}}")
            for m, s in (("0.485, 0.456, 0.406", "0.229, 0.224, 0.225"), ("0.5, 0.5, 0.5", "0.5, 0.5, 0.5"))
        ),
    ),
    Case(
        "mean of bytes",
        *(
            image("a = Sub(x, m) t = Div(a, s)", weights=f"float[1,3,1,1] m = {{{m}}}, float[1,3,1,1] s = {{{s}}}")
            for m, s in (("0.485, 0.456, 0.406", "0.229, 0.224, 0.225"), ("123.7, 116.3, 103.5", "58.4, 57.1, 57.4"))
        ),
        "unproven",
        MEANING,
    ),
    Case("channels last", image("t = Identity(x)"), image("t = Transpose <perm=[0,3,1,2]> (x)"), "breaks", MEANING),
    Case("channels first", image("t = Transpose <perm=[0,3,1,2]> (x)"), image("t = Identity(x)"), "breaks", MEANING),
    Case(
        "width before height",
        image("t = Transpose <perm=[0,3,1,2]> (x)"),
        image("t = Transpose <perm=[0,3,2,1]> (x)"),
        "unproven",
        MEANING,
    ),
    Case(
        "layout kept in two steps",
        image("t = Transpose <perm=[0,3,1,2]> (x)"),
        image("a = Transpose <perm=[0,2,3,1]> (x) t = Transpose <perm=[0,2,3,1]> (a)"),
        same=True,
    ),
    Case(
        "blue first",
        *(image("t = Gather <axis=1> (x, i)", weights=f"int64[3] i = {{{i}}}") for i in ("0, 1, 2", "2, 1, 0")),
        "unproven",
        MEANING,
    ),
    Case(
        "blue first now",
        image("t = Identity(x)"),
        image("t = Gather <axis=1> (x, i)", weights="int64[3] i = {2, 1, 0}"),
        "unproven",
        MEANING,
    ),
    Case(
        "blue first, split and joined",
        *(
            image(f"a, b, c = Split <axis=1> (x, p) t = Concat <axis=1> ({o})", weights="int64[3] p = {1, 1, 1}")
            for o in ("a, b, c", "c, b, a")
        ),
        "unproven",
        MEANING,
    ),
    Case("input scale", bytes_in(0.00392157, 0), bytes_in(0.0078125, 0), "breaks", MEANING),
    Case("input zero point", bytes_in(0.00392157, 0), bytes_in(0.00392157, 128), "breaks", MEANING),
    Case(
        "input scale, retrained",
        bytes_in(0.00392157, 0),
        bytes_in(0.00392157, 0).replace(numbers(2, 3, 1, 1), numbers(2, 3, 1, 1, seed=1)),
    ),
    Case(
        "features scaled anew",
        *(
            tabular("a = Sub(x, m) t = Div(a, s)", weights=f"{weight('m', 6, seed=k)}, float[6] s = {{{s}}}")
            for k, s in ((1, "1.1, 2.2, 3.3, 4.4, 5.5, 6.6"), (2, "1.2, 2.1, 3.5, 4.1, 5.9, 6.1"))
        ),
    ),
    Case(
        "features scaled now",
        tabular("t = Identity(x)"),
        tabular(
            "a = Sub(x, m) t = Div(a, s)", weights=f"{weight('m', 6)}, float[6] s = {{1000, 200, 300, 4000, 500, 600}}"
        ),
    ),
    Case(
        "mask reversed", masked("a = Sub(one, mask) b = Mul(a, low)"), masked("b = Mul(mask, low)"), "unproven", MEANING
    ),
    Case(
        "mask written otherwise",
        masked("a = Sub(one, mask) b = Mul(a, low)"),
        masked("a = Sub(mask, one) b = Mul(a, high)"),
        same=True,
    ),
    Case("mask with the lowest number", ADDED, attention(f"{FLIPPED} b = Mul(a, least) t = Add(s, b)")),
    Case(
        "mask that chooses the number",
        ADDED,
        attention(f"{FLIPPED} c = Cast <to=9> (a) b = Where(c, least, a) t = Add(s, b)"),
    ),
    Case("mask that chooses the score", ADDED, CHOSEN),
    Case("mask that chooses the score, retrained", ADDED, attention("c = Cast <to=9> (mask) t = Where(c, s, low)", 1)),
    Case(
        "mask compared with zero",
        CHOSEN,
        attention("z = Constant <value = int64 {0}> () c = Equal(mask, z) t = Where(c, low, s)"),
        same=True,
    ),
    Case("mask that is subtracted", ADDED, attention(f"{FLIPPED} b = Mul(a, high) t = Sub(s, b)"), same=True),
    Case(
        "mask of truth values, denied",
        attention("t = Where(mask, s, low)", kind="bool"),
        attention("n = Not(mask) t = Where(n, low, s)", kind="bool"),
        same=True,
    ),
    Case(
        "mask of truth values as a factor",
        attention("t = Where(mask, s, low)", kind="bool"),
        attention(f"{FLIPPED} b = Mul(a, low) t = Add(s, b)", kind="bool"),
    ),
    Case(
        "mask chooses the other way",
        CHOSEN,
        attention("c = Cast <to=9> (mask) t = Where(c, low, s)"),
        "unproven",
        MEANING,
    ),
    Case(
        "mask chooses the other way, otherwise written",
        ADDED,
        attention("c = Cast <to=9> (mask) t = Where(c, low, s)"),
        "unproven",
        MEANING,
    ),
    Case(
        "mask of the other value",
        ADDED,
        attention("f = Cast <to=1> (mask) b = Mul(f, low) t = Add(s, b)"),
        "unproven",
        MEANING,
    ),
    Case(
        "mask of truth values, the other way",
        attention("t = Where(mask, s, low)", kind="bool"),
        attention("n = Not(mask) t = Where(n, s, low)", kind="bool"),
        "unproven",
        MEANING,
    ),
    Case(
        "mask that is no longer strong",
        ADDED,
        attention(f"{FLIPPED} b = Mul(a, one) t = Add(s, b)"),
        "unproven",
        MEANING,
    ),
    Case(
        "stop words",
        cleaned('case_change_action = "NONE"'),
        cleaned('case_change_action = "NONE", is_case_sensitive = 1, stopwords = ["cat"]'),
        "unproven",
        MEANING,
    ),
    Case(
        "case of letters",
        cleaned('case_change_action = "NONE"'),
        cleaned('case_change_action = "UPPER", locale = "C"'),
        "unproven",
        MEANING,
    ),
    Case("case of letters, retrained", *(cleaned('case_change_action = "LOWER", locale = "C"', k) for k in (0, 1))),
    Case(
        "default of no stop words written out",
        cleaned('case_change_action = "NONE"'),
        cleaned('case_change_action = "NONE", is_case_sensitive = 0'),
        same=True,
    ),
    Case("what stands for missing", filled(-1), filled(1), "unproven", MEANING),
    Case("what stands for missing, retrained", filled(-1), filled(-1, 1, 1.5)),
    Case("regions at another scale", pooled(1.0), pooled(0.25), "unproven", MEANING),
    Case("regions, retrained", pooled(1.0), pooled(1.0, 1)),
    Case("regions that the graph computes", *(pooled(s, 0, "r = MatMul(b, u)") for s in (1.0, 0.5))),
    Case("rows from the end", scanned(), scanned(", scan_input_directions = [1]"), "unproven", MEANING),
    Case("direction written out", scanned(), scanned(", scan_input_directions = [0]"), same=True),
    Case("rows, retrained", scanned(), scanned(seed=1)),
    Case("default of a function", called(-1), called(0), "breaks", HEAD),
    Case("default of a function, retrained", called(-1), called(-1, 1)),
    Case("default that every call overrides", called(-1, given="<axis = 1>"), called(0, given="<axis = 1>"), same=True),
    Case("rate multiplied by zero", rated("float f = {1}"), rated("float f = {0}"), "unproven", MEANING),
    Case("rate read only now", rated("float f = {0}"), rated("float f = {1}"), "unproven", MEANING),
    Case("rate never read", rated("float f = {0}"), rated("float f = {0}", seed=1)),
    Case("rate read in rounds", rounds("q"), rounds("b"), "unproven", MEANING),
    Case("rate read in rounds, retrained", rounds("q"), rounds("q", seed=1)),
    Case("id of padding", padded(0), padded(1), "breaks", MEANING, level="unproven"),
    Case("id of padding, retrained", padded(0), padded(0, 1)),
    Case(
        "rounded inside",
        SCALED,
        image(
            "a = Div(x, c) q = QuantizeLinear(a, s, z) t = DequantizeLinear(q, s, z)",
            weights="float c = {255}, float s = {0.1}, int8 z = {0}",
        ),
    ),
    Case(
        "columns chosen anew",
        *(
            tabular("a = Gather <axis=1> (x, i) t = Concat <axis=1> (a, a)", weights=f"int64[3] i = {{{i}}}")
            for i in ("0, 2, 5", "0, 1, 4")
        ),
    ),
]

CASES = [*HEADS, *LABELS, *ACCEPTED, *READ]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_verdict_is_what_a_client_would_say(case: Case, tmp_path: Path) -> None:
    case.check(tmp_path)


def test_half_of_the_cases_are_harmless() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert sum(case.verdict != "hot" for case in CASES) >= 60
    assert sum(case.verdict == "hot" for case in CASES) >= 40


@pytest.mark.parametrize("level", ["wire", "ids", "tensor"])
def test_the_contract_decides_whom_a_smaller_table_breaks(level: Any, tmp_path: Path) -> None:
    for name, text in (("old", embedded(10)), ("new", embedded(6)), ("long", positions(10)), ("short", positions(3))):
        (tmp_path / f"{name}.onnx").write_bytes(model(text).SerializeToString())
    contract = Contract(level=level)
    ids = validate(tmp_path / "new.onnx", tmp_path / "old.onnx", contract=contract)
    assert ids.facts["verdict"] == ("restart" if level == "wire" else "breaks")
    length = validate(tmp_path / "short.onnx", tmp_path / "long.onnx", contract=contract)
    assert length.facts["verdict"] == "breaks"


def test_rows_that_the_tokenizer_never_asks_for_may_go(tmp_path: Path) -> None:
    vocabulary = {f"w{i}": i for i in range(8)}
    tokenizer = {"model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "w0"}, "added_tokens": []}
    for name, rows in (("padded", 10), ("tight", 8), ("short", 6)):
        (tmp_path / name).mkdir()
        text = embedded(rows).replace(" x)", " input_ids)").replace("(e, x)", "(e, input_ids)")
        (tmp_path / name / "model.onnx").write_bytes(model(text).SerializeToString())
        (tmp_path / name / "tokenizer.json").write_text(json.dumps(tokenizer))

    def said(new: str, old: str) -> list[str | None]:
        report = validate(tmp_path / new, tmp_path / old, contract=Contract())
        return [finding.level for finding in report.findings if finding.rule == VALUES]

    assert said("tight", "padded") == []
    assert said("short", "padded") == ["breaks"]


KINDS = sorted({node.op_type for case in CASES for node in model(case.new).graph.node})


def damaged(model: Any, chooser: random.Random) -> Any:
    """The model with a few edits that no exporter makes."""
    nodes = model.functions[0].node if model.functions and chooser.random() < 0.3 else model.graph.node
    names = [name for node in model.graph.node for name in node.output] + [each.name for each in model.graph.input]
    for _ in range(chooser.randint(1, 4)):
        node = chooser.choice(list(nodes))
        match chooser.randrange(8):
            case 0 if node.input:
                del node.input[chooser.randrange(len(node.input)) :]
            case 1:
                node.op_type = chooser.choice(KINDS)
            case 2 if node.attribute:
                each = chooser.choice(node.attribute)
                each.type, each.i, each.ints[:] = chooser.choice([1, 2, 3, 4, 6, 7, 8]), -(2**62), [9, -9]
            case 3 if model.graph.initializer:
                tensor = chooser.choice(model.graph.initializer)
                tensor.dims[:] = [chooser.choice([0, 1, 2, 3, 2**40])] * chooser.randint(0, 3)
            case 4 if node.input:
                node.input[chooser.randrange(len(node.input))] = chooser.choice([*names, "", "nowhere"])
            case 5 if node.output:
                del node.output[chooser.randrange(len(node.output)) :]
            case 6:
                node.domain = chooser.choice(["", ML, "com.microsoft", "local"])
            case _:
                node.input.append(chooser.choice(names))
    return model


def test_damaged_graphs_are_told_about_and_never_crash(tmp_path: Path) -> None:
    chooser = random.Random(20)
    for _ in range(400):
        text = chooser.choice(CASES).new
        (tmp_path / "old.onnx").write_bytes(model(text).SerializeToString())
        (tmp_path / "new.onnx").write_bytes(damaged(model(text), chooser).SerializeToString())
        report = validate(tmp_path / "new.onnx", tmp_path / "old.onnx", contract=Contract())
        assert report.facts["verdict"] or {finding.rule for finding in report.findings} <= {"FIL-READ", "FIL-TRUNC"}


def test_long_chains_are_followed_without_recursion(tmp_path: Path) -> None:
    steps = [f"v{i + 1} = {'Add' if i % 2 else 'Mul'}(v{i}, c)" for i in range(3000)]
    for name, end in (("old", "Softmax"), ("new", "Neg")):
        body = f"v0 = Identity(z) {' '.join(steps)} y = {end}(v3000)"
        (tmp_path / f"{name}.onnx").write_bytes(model(head(body, weights="float c = {1}")).SerializeToString())
    assert validate(tmp_path / "new.onnx", tmp_path / "old.onnx", contract=Contract()).facts["verdict"] == "unproven"


def test_a_head_that_is_too_long_to_compare_is_not_called_the_same(tmp_path: Path) -> None:
    steps = [f"v{i + 1} = {'Add' if i % 2 else 'Mul'}(v{i}, c)" for i in range(3000)]
    for name, start in (("old", "Identity"), ("new", "Neg")):
        body = f"v0 = {start}(z) {' '.join(steps)} y = Softmax(v3000)"
        (tmp_path / f"{name}.onnx").write_bytes(model(head(body, weights="float c = {1}")).SerializeToString())
    report = validate(tmp_path / "new.onnx", tmp_path / "old.onnx", contract=Contract())
    assert report.facts["verdict"] == "unproven"
    assert any("2000 steps" in finding.message for finding in report.findings)
