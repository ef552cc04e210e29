"""Models that do not load: the gate and ONNX Runtime agree case by case, on defects and on harmless neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from interlock.checks.validate.graph.operators import NEWEST
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate import signatures
from validate.graphs import loads, node, value, weight

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
helper, proto = onnx.helper, onnx.TensorProto
BOTH = [("", 16), ("local", 1)]


class Case(NamedTuple):
    """A model, and the rule that says why it does not load; empty where it does."""

    name: str
    model: Any
    rule: str = ""


def whole(name: str, *numbers: int) -> Any:
    return helper.make_tensor(name, proto.INT64, [len(numbers)], numbers)


def model(
    nodes: Any,
    inputs: Any = "x",
    outputs: Any = "y",
    weights: Any = (),
    *,
    imports: Any = None,
    opset: int = 16,
    ir: int = 8,
    **more: Any,
) -> Any:
    sides = [[value(each) if isinstance(each, str) else each for each in side] for side in (inputs, outputs)]
    opsets = [helper.make_opsetid(*each) for each in (imports if imports is not None else [("", opset), ("local", 1)])]
    graph = helper.make_graph(nodes, "g", *sides, list(weights))
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir, **more)


def edited(source: Any, change: Any) -> Any:
    change(source)
    return source


def body(nodes: Any, output: Any = "k", weights: Any = (), inputs: Any = ()) -> Any:
    outputs = [value(each) if isinstance(each, str) else each for each in ([output] if output else [])]
    return helper.make_graph(nodes, "branch", list(inputs), outputs, list(weights))


def choice(then: Any, *more: Any, other: Any = None, first: Any = (), **rest: Any) -> Any:
    other = other or body([node("Relu", ["x"], ["k"])])
    made = node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    return model([*first, made, *more], [value("c", (), proto.BOOL), "x"], **rest)


def loop(inputs: int, outputs: int, gives: int, takes: int = 3) -> Any:
    given = [value("i", (), proto.INT64), value("d", (), proto.BOOL), value("v"), value("v2")][:inputs]
    made = [value("e", (), proto.BOOL), value("vo"), value("s")][:outputs]
    nodes = [node("Identity", ["d"], ["e"]), node("Add", ["v", "v"], ["vo"]), node("Neg", ["v"], ["s"])]
    inner = helper.make_graph(nodes, "body", given, made)
    return model(
        [node("Loop", ["n", "c", "x", "x"][:takes], ["y", "z"][:gives], body=inner)],
        [value("n", (), proto.INT64), value("c", (), proto.BOOL), "x"],
    )


def defined(nodes: Any, name: str = "F", inputs: Any = "a", outputs: Any = "b", imports: Any = (("", 16),)) -> Any:
    opsets = [helper.make_opsetid(*each) for each in imports]
    return helper.make_function("local", name, list(inputs), list(outputs), nodes, opsets)


def function(nodes: Any, *more: Any, call: Any = None, imports: Any = None, **how: Any) -> Any:
    call = call or node("F", ["x"], ["y"], domain="local")
    return model([call], functions=[defined(nodes, **how), *more], imports=imports)


def fed(inputs: Any, nodes: Any) -> Any:
    return model(nodes, inputs, [value("y", None)])


RELU = node("Relu", ["x"], ["y"])
INNER = node("Relu", ["a"], ["b"])


def headers() -> Iterator[Case]:
    rule = "ONX-GRAPH"
    yield Case("plain", model([RELU]))
    yield Case("no operator set", model([RELU], imports=[]), rule)
    yield Case("no IR version", edited(model([RELU]), lambda m: m.ClearField("ir_version")), rule)
    yield Case("the default set is not imported", model([RELU], imports=[("local", 1)]))
    scaler = node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=[0.0], scale=[1.0])
    yield Case("the ml set is not imported", model([scaler]))
    yield Case("a set that nothing uses", model([RELU], imports=[("", 16), ("foo", 1)]))
    yield Case("a set twice", model([RELU], imports=[("", 16), ("", 13)]))
    yield Case("an input without a type", edited(model([RELU]), lambda m: m.graph.input[0].ClearField("type")), rule)
    yield Case("an output without a type", edited(model([RELU]), lambda m: m.graph.output[0].ClearField("type")))
    yield Case(
        "a weight without a type",
        edited(model([RELU], weights=[weight("w", 2)]), lambda m: setattr(m.graph.initializer[0], "data_type", 0)),
        rule,
    )
    add = [node("Add", ["x", "w"], ["y"])]
    for name, shape, ok in (
        ("a default of another size", (3,), False),
        ("a default of another rank", ("k", 1), False),
        ("a default of no size", (0,), False),
        ("a default of an open size", ("k",), True),
        ("a default of size -1", (-1,), True),
        ("a default of an unknown shape", None, True),
    ):
        yield Case(name, model(add, ["x", value("w", shape)], weights=[weight("w", 2)]), "" if ok else rule)
    other = model([RELU], ["x", value("w", (2,), proto.INT64)], weights=[weight("w", 2)])
    yield Case("a default of another type", other, rule)


def names() -> Iterator[Case]:
    rule = "ONX-GRAPH"
    twice = [node("Relu", ["x"], ["a"], name="n"), node("Relu", ["a"], ["y"], name="n")]
    yield Case("two operators of one name", model(twice), rule)
    constants = [node("Constant", [], [each], name="n", value_float=1.0) for each in "pq"]
    yield Case("two constants of one name", model([*constants, RELU]))
    yield Case("… in a body", choice(body([twice[0], node("Relu", ["a"], ["k"], name="n")])), rule)
    yield Case(
        "… in a function", function([node("Neg", ["a"], ["t"], name="n"), node("Neg", ["t"], ["b"], name="n")]), rule
    )
    inside = body([node("Relu", ["x"], ["k"], name="n")])
    named = node("If", ["c"], ["z"], name="n", then_branch=inside, else_branch=inside)
    condition = value("c", (), proto.BOOL)
    yield Case("… in a graph and a body", model([named, node("Neg", ["z"], ["y"])], [condition, "x"]))
    backwards = [node("Relu", ["a"], ["y"]), node("Relu", ["x"], ["a"])]
    yield Case("a graph in any order", model(backwards))
    yield Case("a body out of order", choice(body([node("Relu", ["a"], ["k"]), node("Relu", ["x"], ["a"])])), rule)
    late = node("Relu", ["x"], ["late"])
    yield Case("a body reads what comes later around it", choice(body([node("Relu", ["late"], ["k"])]), late))
    yield Case("a function out of order", function([node("Relu", ["t"], ["b"]), node("Neg", ["a"], ["t"])]), rule)
    unused = [INNER, node("Relu", ["t"], ["u"]), node("Neg", ["a"], ["t"])]
    yield Case("… where nothing needs it", function(unused), rule)
    held = [weight("w", 2)]
    for word, name in (("a weight", "w"), ("an input", "c")):
        made = body([node("Relu", ["x"], [name])], name)
        yield Case(f"a body makes {word} of the graph around it", choice(made, weights=held), rule)
        middle = body([node("Relu", ["x"], [name]), node("Relu", [name], ["k"])])
        yield Case(f"… {word} in passing", choice(middle, weights=held), rule)
        nested = body([node("If", ["c"], ["k"], then_branch=made, else_branch=body([node("Relu", ["x"], ["k"])]))])
        yield Case(f"… {word} from deeper", choice(nested, weights=held), rule)
    constant = node("Constant", [], ["w"], value=weight("v", 2))
    yield Case("… a constant", choice(body([node("Relu", ["x"], ["w"])], "w"), first=[constant]), rule)
    before = [node("Relu", ["x"], ["p"]), node("Neg", ["p"], ["q"])]
    reads = body([node("Neg", ["q"], ["k"])])
    for word, name in (("what the other body reads", "q"), ("what that is made of", "p")):
        made = body([node("Relu", ["x"], [name]), node("Neg", [name], ["k"])])
        yield Case(f"a body makes {word}", choice(reads, other=made, first=before), rule)
    bound = body([node("Relu", ["x"], ["l"]), node("Neg", ["l"], ["k"])])
    yield Case("both bodies make one name", choice(bound, other=bound, first=before))
    yield Case("a body has a weight of that name", choice(body([], "w", held), weights=held))
    yield Case(
        "a body makes what comes later around it",
        choice(body([node("Relu", ["x"], ["l"])], "l"), node("Neg", ["x"], ["l"])),
    )
    yield Case("a body gives its operator's name", choice(body([node("Relu", ["x"], ["y"])], "y")))


def functions() -> Iterator[Case]:
    rule = "ONX-GRAPH"
    yield Case("a function", function([INNER]))
    yield Case("its domain is not imported", function([INNER], imports=[("", 16)]), rule)
    yield Case(
        "it does not import what it uses",
        model([node("F", ["x"], ["y"], domain="local")], functions=[defined([INNER], imports=())]),
        rule,
    )
    gelu = node("Gelu", ["a"], ["b"], domain="com.microsoft")
    asked = model([RELU], functions=[defined([gelu])])
    yield Case("… and nothing calls it", asked, rule)
    yield Case("it imports more", model([RELU], functions=[defined([gelu], imports=(("", 16), ("com.microsoft", 1)))]))
    yield Case("it gives its input", function([node("Relu", ["a"], ["c"])], outputs="a"), rule)
    yield Case(
        "it gives an output twice",
        function([INNER], outputs="bb", call=node("F", ["x"], ["y", "z"], domain="local")),
        rule,
    )
    yield Case("it gives what nothing makes, uncalled", model([RELU], functions=[defined([INNER], outputs="q")]), rule)
    yield Case(
        "it is out of order, uncalled",
        model([RELU], functions=[defined([node("Relu", ["t"], ["b"]), node("Neg", ["a"], ["t"])])]),
    )
    yield Case("it is given too much", function([INNER], call=node("F", ["x", "x"], ["y"], domain="local")), rule)
    yield Case("it is asked for too much", function([INNER], call=node("F", ["x"], ["y", "z"], domain="local")), rule)
    two = [INNER, node("Neg", ["a"], ["d"])]
    yield Case("it is asked for too little", function(two, outputs="bd"), rule)
    optional = function([node("Clip", ["a", "q"], ["b"])], inputs="aq")
    yield Case("it is given less", optional)
    itself = node("F", ["a"], ["b"], domain="local")
    yield Case(
        "it calls itself",
        model([node("F", ["x"], ["y"], domain="local")], functions=[defined([itself], imports=BOTH)]),
        rule,
    )
    other = defined([itself], "G", imports=BOTH)
    circle = defined([node("G", ["a"], ["b"], domain="local")], imports=BOTH)
    yield Case("two call each other", model([node("F", ["x"], ["y"], domain="local")], functions=[circle, other]), rule)
    yield Case(
        "one calls another", model([node("F", ["x"], ["y"], domain="local")], functions=[circle, defined([INNER], "G")])
    )
    yield Case("it is there twice", function([INNER], defined([node("Neg", ["a"], ["b"])])), rule)


def bodies() -> Iterator[Case]:
    rule = "ONX-GRAPH"
    same = [node("Relu", ["x"], ["k"])]
    yield Case("a body of If with an input", choice(body(same, inputs=[value("p")])), rule)
    yield Case(
        "bodies of different lengths",
        choice(body([*same, node("Neg", ["x"], ["l"])]), other=helper.make_graph(same, "e", [], [value("k")] * 2)),
        rule,
    )
    three = node("If", ["c"], ["y", "z"], then_branch=body(same), else_branch=body(same))
    yield Case("If gives more than its bodies", model([three], [value("c", (), proto.BOOL), "x"]), rule)
    cast = body([node("Cast", ["x"], ["k"], to=proto.INT64)], value("k", (2,), proto.INT64))
    yield Case("bodies of different types", choice(body(same), other=cast), "ONX-OP")
    yield Case("a loop", loop(3, 2, 1))
    yield Case("a loop's body takes too little", loop(3, 2, 1, 4), rule)
    yield Case("a loop's body takes too much", loop(4, 2, 1), rule)
    yield Case("a loop's body gives too little", loop(3, 1, 1), rule)
    yield Case("a loop's body gives too much", loop(3, 3, 1), rule)
    only = node("If", ["c"], ["y"], then_branch=body(same))
    yield Case("If without else", model([only], [value("c", (), proto.BOOL), "x"]), "ONX-OP")


def usage() -> Iterator[Case]:
    rule = "ONX-OP"
    for name, made in (
        ("an attribute of another type", node("Softmax", ["x"], ["y"], axis=1.0)),
        ("a list for a number", node("Softmax", ["x"], ["y"], axis=[0])),
        ("a text for a number", node("Softmax", ["x"], ["y"], axis="0")),
        ("an integer for a float", node("LeakyRelu", ["x"], ["y"], alpha=1)),
        ("a tensor for a float", node("LeakyRelu", ["x"], ["y"], alpha=weight("z", 1))),
        ("an unknown attribute", node("Relu", ["x"], ["y"], foo=1)),
        ("an attribute of an older version", node("Dropout", ["x"], ["y"], ratio=0.5)),
        ("a missing attribute", node("Cast", ["x"], ["y"])),
        ("too many inputs", node("Relu", ["x", "x"], ["y"])),
        ("an empty input too many", node("Relu", ["x", ""], ["y"])),
        ("too few inputs", node("Add", ["x"], ["y"])),
        ("an empty input", node("Add", ["x", ""], ["y"])),
        ("no inputs", node("Concat", [], ["y"], axis=0)),
        ("too many outputs", node("Relu", ["x"], ["y", "z"])),
        ("a constant without a value", node("Constant", [], ["y"])),
    ):
        yield Case(name, model([made]), rule)
    yield Case("no outputs", model([RELU, node("Relu", ["x"], [])]), rule)
    yield Case(
        "an attribute twice",
        edited(
            model([node("Softmax", ["x"], ["y"], axis=0)]),
            lambda m: m.graph.node[0].attribute.extend([helper.make_attribute("axis", 0)]),
        ),
        rule,
    )
    yield Case(
        "an attribute without a type",
        edited(
            model([node("Softmax", ["x"], ["y"], axis=0)]), lambda m: m.graph.node[0].attribute[0].ClearField("type")
        ),
        rule,
    )
    yield Case(
        "an attribute without a name",
        edited(
            model([node("Softmax", ["x"], ["y"], axis=0)]), lambda m: m.graph.node[0].attribute[0].ClearField("name")
        ),
        rule,
    )
    squeeze = node("Squeeze", ["x"], ["y"], axes=[0])
    yield Case("axes as an attribute at 13", model([squeeze], [value("x", (1, 2))]), rule)
    yield Case("axes as an attribute at 11", model([squeeze], [value("x", (1, 2))], opset=11))
    yield Case("a runtime's own note", model([node("Relu", ["x"], ["y"], __note=1)]))
    yield Case("an optional input left out", model([node("Clip", ["x", "", "h"], ["y"])], ["x", value("h", ())]))
    yield Case("any number of inputs", model([node("Max", ["x", "x", "x"], ["y"])]))
    yield Case(
        "types that do not meet", model([node("Add", ["x", "v"], ["y"])], ["x", value("v", (2,), proto.INT64)]), rule
    )
    chain = [node("ArgMax", ["x"], ["i"], axis=0, keepdims=1), node("Add", ["x", "i"], ["y"])]
    yield Case("… behind an operator", model(chain), rule)
    yield Case(
        "… with a cast between",
        model([chain[0], node("Cast", ["i"], ["f"], to=proto.FLOAT), node("Add", ["x", "f"], ["y"])]),
    )
    yield Case(
        "a type that is not allowed",
        model([node("Sqrt", ["x"], ["y"])], [value("x", (2,), proto.INT64)], [value("y", (2,), proto.INT64)]),
        rule,
    )
    yield Case(
        "a condition that is a number",
        model(
            [
                node(
                    "If",
                    ["x"],
                    ["y"],
                    then_branch=body([node("Relu", ["x"], ["k"])]),
                    else_branch=body([node("Relu", ["x"], ["k"])]),
                )
            ]
        ),
        rule,
    )
    yield Case("an output of another type", model([RELU], outputs=[value("y", (2,), proto.INT64)]), rule)
    yield Case(
        "positions declared as floats", model([node("ArgMax", ["x"], ["y"], axis=0)], outputs=[value("y", (1,))]), rule
    )
    yield Case(
        "half and single meet",
        model(
            [node("Mul", ["x", "w"], ["y"])],
            [value("x", (2,), proto.FLOAT16)],
            [value("y", (2,), proto.FLOAT16)],
            [weight("w", 2)],
        ),
        rule,
    )


def halved(note: int) -> Any:
    """A graph in half precision but for one operator, with what it notes about a tensor between them."""
    half = proto.FLOAT16
    nodes = [node("Relu", ["x"], ["a"]), node("Cast", ["a"], ["b"], to=proto.FLOAT), node("Sqrt", ["b"], ["y"])]
    made = model(nodes, [value("x", (2,), half)])
    made.graph.value_info.append(value("b", (2,), note))
    return made


def notes() -> Iterator[Case]:
    yield Case("a note that is no longer true", halved(proto.FLOAT16), "ONX-OP")
    yield Case("a note that is true", halved(proto.FLOAT))


CASES = [*headers(), *names(), *functions(), *bodies(), *usage(), *notes()]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_what_the_runtime_refuses_breaks_and_nothing_else_does(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(case.model.SerializeToString())
    found = {(f.rule, f.level): f.message for f in validate(path, contract=Contract()).findings}
    assert loads(case.model.SerializeToString()) == (not case.rule)
    if case.rule:
        assert (case.rule, "breaks") in found, found
    else:
        assert found == {}


def test_there_are_many_of_both_kinds() -> None:
    assert sum(bool(case.rule) for case in CASES) > 60
    assert sum(not case.rule for case in CASES) > 25


def test_what_the_live_graph_does_is_known_to_its_server(tmp_path: Path) -> None:
    old, new = tmp_path / "old.onnx", tmp_path / "new.onnx"
    old.write_bytes(model([node("Relu", ["x"], ["y"], foo=1)]).SerializeToString())
    new.write_bytes(model([node("Relu", ["x"], ["y"], foo=1)], weights=[weight("w", 2)]).SerializeToString())
    assert "ONX-OP" not in {finding.rule for finding in validate(new, old, contract=Contract()).findings}
    assert "ONX-OP" in {finding.rule for finding in validate(new, contract=Contract()).findings}


def test_types_of_an_operator_set_that_is_not_known_yet_are_not_judged(tmp_path: Path) -> None:
    path, found = tmp_path / "model.onnx", dict[int, set[str]]()
    for opset in (NEWEST[""], 40):
        mixed = model([node("Add", ["x", "v"], ["y"])], ["x", value("v", (2,), proto.INT64)], opset=opset)
        path.write_bytes(mixed.SerializeToString())
        found[opset] = {finding.rule for finding in validate(path, contract=Contract()).findings}
    assert "ONX-OP" in found[NEWEST[""]]
    assert "ONX-OP" not in found[40]


def test_the_table_of_signatures_is_that_of_the_runtime(root: Path) -> None:
    path = root / "checks" / "validate" / "graph" / "signatures.txt"
    assert path.read_text() == signatures.table(), "run python tests/validate/signatures.py"
