"""Operators that only their own library knows: each setting counts, and nothing that training moves does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from validate.graphs import helper, judge, node, np, onnx, proto, value

RULE = "ONX-CUSTOM"
TEXTS, PIXELS = ("n",), ("h", "w", 3)
VOCABULARY = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhello\nworld\n"


def made(nodes: Any, inputs: Any, outputs: Any, weights: Any = ()) -> bytes:
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
    domains = {each.domain for each in nodes} | {""}
    sets = [helper.make_opsetid(domain, 1 if domain else 17) for domain in sorted(domains)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8).SerializeToString()


def one(op: str, domain: str = "ai.onnx.contrib", name: str = "", constants: Any = (), **settings: Any) -> bytes:
    """One operator on texts, which also takes some constants."""
    held = [onnx.numpy_helper.from_array(each, f"c{i}") for i, each in enumerate(constants)]
    step = node(op, ["x", *(each.name for each in held)], ["y"], domain=domain, name=name, **settings)
    return made([step], [value("x", TEXTS, proto.STRING)], [value("y", TEXTS, proto.STRING)], held)


def texts(*said: str) -> Any:
    return np.array(said, object)


def detector(seed: int, domain: str = "TRT", name: str = "nms", **settings: Any) -> bytes:
    """A trained product, and what chooses its boxes."""
    weights = np.random.RandomState(seed).randn(8, 4).astype(np.float32)
    steps = [
        node("MatMul", ["x", "w"], ["b"]),
        node("EfficientNMS_TRT", ["b", "s"], ["n", "boxes"], domain=domain, name=name, **settings),
    ]
    inputs = [value("x", (1, 100, 8)), value("s", (1, 100, 80))]
    outputs = [value("n", (1, 1), proto.INT32), value("boxes", (1, "k", 4))]
    return made(steps, inputs, outputs, [onnx.numpy_helper.from_array(weights, "w")])


def layer(seed: int, groups: int = 1, **settings: Any) -> bytes:
    """An operator that takes weights, their scale and a bias."""
    random = np.random.RandomState(seed)
    held = [
        onnx.numpy_helper.from_array(random.randint(-9, 9, (8, 4)).astype(np.int8), "w"),
        onnx.numpy_helper.from_array(random.rand(1).astype(np.float32), "scale"),
        onnx.numpy_helper.from_array(random.rand(4).astype(np.float32), "bias"),
    ]
    step = node("Deformed", ["x", "w", "scale", "bias"], ["y"], domain="mmdeploy", groups=groups, **settings)
    return made([step], [value("x", ("n", 8))], [value("y", ("n", 4))], held)


def chain(*ops: str, second: int = 0) -> bytes:
    """Operators one after the other; the last output, or the other one of the first."""
    steps = [
        node(op, [f"v{i}"], [f"v{i + 1}", *(["other"] if not i else [])], domain="ai.onnx.contrib")
        for i, op in enumerate(ops)
    ]
    out = "other" if second else f"v{len(ops)}"
    steps.append(node("Identity", [out], ["y"]))
    return made(steps, [value("v0", TEXTS, proto.STRING)], [value("y", TEXTS, proto.STRING)])


REPLACE = "StringECMARegexReplace"
PIECES = bytes(range(256)) * 500
HARMFUL = {
    "a flag came": (one(REPLACE), one(REPLACE, ignore_case=1)),
    "a flag went": (one("BertTokenizerDecoder", use_indices=1), one("BertTokenizerDecoder")),
    "a flag changed": (one("BertTokenizer", do_lower_case=0), one("BertTokenizer", do_lower_case=1)),
    "order of a vocabulary": (
        one("BertTokenizer", vocab_file=VOCABULARY),
        one("BertTokenizer", vocab_file=VOCABULARY.replace("hello\nworld", "world\nhello")),
    ),
    "a file of bytes": (
        one("SentencepieceTokenizer", model=PIECES),
        one("SentencepieceTokenizer", model=PIECES[:-1] + b"\xfe"),
    ),
    "a file of bytes as a tensor": (
        one("SentencepieceTokenizer", constants=[np.frombuffer(PIECES, np.uint8)]),
        one("SentencepieceTokenizer", constants=[np.frombuffer(PIECES[::-1], np.uint8)]),
    ),
    "a pattern": (one(REPLACE, constants=[texts("a"), texts("b")]), one(REPLACE, constants=[texts("a"), texts("c")])),
    "an integer": (one("Cut", constants=[np.array([5])]), one("Cut", constants=[np.array([9])])),
    "a threshold": (
        one("Score", constants=[np.array(0.3, np.float32)]),
        one("Score", constants=[np.array(0.7, np.float32)]),
    ),
    "another operator": (one("StringLower"), one("StringUpper")),
    "labels": (one("Post", "my.domain", labels="cat,dog"), one("Post", "my.domain", labels="dog,cat")),
    "a threshold of a plugin": (detector(0, score_threshold=0.25), detector(1, score_threshold=0.9)),
    "a plugin in the default domain": (detector(0, "", box_coding=0), detector(0, "", box_coding=1)),
    "colours": (
        one("DecodeImage", "com.microsoft.extensions", color_space="BGR"),
        one("DecodeImage", "com.microsoft.extensions", color_space="RGB"),
    ),
    "groups of a trained one": (layer(0), layer(1, 2)),
    "operators in another order": (chain("StringLower", "Stem"), chain("Stem", "StringLower")),
    "another of its outputs": (chain("Split"), chain("Split", second=1)),
    "one of them gone": (chain("StringLower", "Stem"), chain("StringLower")),
}
HARMLESS = {
    "a name": (one(REPLACE, name="a", ignore_case=1), one(REPLACE, name="b", ignore_case=1)),
    "notes of a runtime": (one("Post", a=1), one("Post", a=1, __note="here")),
    "trained again": (detector(0, score_threshold=0.25), detector(1, name="other", score_threshold=0.25)),
    "weights, scale and bias trained again": (layer(0), layer(1)),
    "weights as an attribute": (
        one("Layer", w=onnx.numpy_helper.from_array(np.ones((8, 16), np.float32))),
        one("Layer", w=onnx.numpy_helper.from_array(np.zeros((8, 16), np.float32))),
    ),
    "the same file": (
        one("SentencepieceTokenizer", model=PIECES),
        one("SentencepieceTokenizer", "ai.onnx.contrib", "b", model=PIECES),
    ),
}


@pytest.mark.parametrize("name", HARMFUL)
def test_what_an_operator_is_told_otherwise_is_not_shown(name: str, tmp_path: Path) -> None:
    old, new = HARMFUL[name]
    for before, after in ((old, new), (new, old)):
        assert judge(tmp_path, after, before)[RULE][0] == "unproven"


@pytest.mark.parametrize("name", HARMLESS)
def test_what_training_and_exporters_change_says_nothing(name: str, tmp_path: Path) -> None:
    old, new = HARMLESS[name]
    assert old != new
    for before, after in ((old, new), (new, old)):
        assert judge(tmp_path, after, before) == {}


def test_the_setting_is_shown(tmp_path: Path) -> None:
    said = judge(tmp_path, detector(1, score_threshold=0.9), detector(0, score_threshold=0.25))[RULE][1]
    assert "EfficientNMS_TRT" in said
    assert "score_threshold" in said


def test_functions_in_the_file_are_no_custom_operators(tmp_path: Path) -> None:
    def local(slope: float) -> bytes:
        body = [node("LeakyRelu", ["a"], ["b"], alpha=slope)]
        function = helper.make_function("mine", "Act", ["a"], ["b"], body, [helper.make_opsetid("", 17)])
        graph = helper.make_graph([node("Act", ["x"], ["y"], domain="mine")], "g", [value("x")], [value("y")])
        sets = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
        return helper.make_model(graph, opset_imports=sets, functions=[function], ir_version=8).SerializeToString()

    assert RULE not in judge(tmp_path, local(0.1), local(0.2))


def test_a_graph_that_was_only_saved_again(tmp_path: Path) -> None:
    old = detector(0, score_threshold=0.25, iou_threshold=0.65)
    model = onnx.load_from_string(old)
    for each in model.graph.node:
        each.name = f"n_{each.name}"
    reverse = sorted(model.graph.node[1].attribute, key=lambda each: each.name, reverse=True)
    del model.graph.node[1].attribute[:]
    model.graph.node[1].attribute.extend(reverse)
    assert judge(tmp_path, model.SerializeToString(), old) == {}


def test_a_list_of_integers_counts_however_long_it_is(tmp_path: Path) -> None:
    same, other = ([1] * 4999 + [last] for last in (5, 7))
    assert judge(tmp_path, one("F", "local", k=other), one("F", "local", k=same))[RULE][0] == "unproven"
    assert RULE not in judge(tmp_path, one("F", "local", name="b", k=same), one("F", "local", name="a", k=same))
