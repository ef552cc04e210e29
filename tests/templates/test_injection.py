"""No value changes the shape of what is printed, and every value reads back as it was given."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interlock.report.errors import BadInput
from interlock.templates import scalars
from interlock.templates.context import literal
from interlock.templates.engine import FOLDER, environment, flaws
from interlock.templates.profiles import PROFILES
from interlock.templates.run import documents, render
from interlock.templates.values import Server, Values

NASTY = [
    "a\n    evil: true",
    "x: y",
    "- a",
    "{{ 7 * 7 }}",
    "{% raw %}",
    '"',
    "'",
    "\\",
    "# not a comment",
    "&a",
    "*a",
    "!!python/object:os.system",
    "---\nkind: Secret",
    "y",
    "No",
    "null",
    "~",
    "1e3",
    "0o10",
    "08",
    "1_000",
    "12:30:45",
    "2026-01-01",
    ".inf",
    "0x1f",
    "=",
    "<<",
    "",
    " ",
    "\t",
    "\x85\u2028\u2029\ufeff\x7f\x00",
    "é名😀",
    "%YAML 1.2",
    "|",
    ">-",
    "[a, b]",
    "{a: b}",
    "1234e56",
    "a: |\n  b",
    "$(B)",
    "$$(B)",
    "$$$(B)",
    "$",
    "a$$b$",
    "$(B",
    "$é",
]
texts = st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"]), max_size=30))


def _slots(values: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of every string in nested values."""
    if isinstance(values, str):
        return [path]
    items = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else []
    return [slot for key, item in items for slot in _slots(item, (*path, key))]


def _shape(value: Any) -> Any:
    """Structure and types without the strings themselves."""
    if isinstance(value, dict):
        return {key: _shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shape(item) for item in value]
    return type(value).__name__


def _build(profile: str, tree: dict[str, Any]) -> list[dict[str, Any]]:
    """Objects from values that no rule has checked: the encoding alone must hold."""
    from interlock.config.load import build

    values = build(Values, tree, "values", {})
    if profile == "onnxruntime":
        values.server = Server(command=["serve"], ready="/ready")
    return documents(profile, values, "1.31")


def expand(text: str) -> str:
    """What a container sees of an env value, a command or an argument: the kubelet's expansion, byte for byte.

    The rule is that of expansion.go in Kubernetes; every reference is taken to be to a variable that exists.
    """
    data, seen, at = text.encode(), bytearray(), 0
    while at < len(data):
        rest = data[at + 1 :]
        if data[at] != ord("$") or not rest:
            seen.append(data[at])
            at += 1
        elif rest[:1] == b"(" and b")" in rest:
            seen += b"REPLACED"
            at += 2 + rest.index(b")")
        elif rest[:1] == b"$":
            seen += b"$"
            at += 2
        else:
            seen += b"$" + chr(rest[0]).encode()  # a byte as a character: text that is not ASCII is damaged here
            at += 2
    return seen.decode("utf-8", "replace")


def expanded(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The objects with their containers' fields as the containers see them."""
    objects = copy.deepcopy(objects)
    for pod in (o["spec"]["template"]["spec"] for o in objects if o["kind"] == "Deployment"):
        for container in (*pod["initContainers"], *pod["containers"]):
            for variable in container["env"]:
                variable["value"] = expand(variable["value"])
            for key in ("command", "args"):
                container[key] = [expand(text) for text in container.get(key, [])]
    return objects


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for item in items for text in _strings(item)]


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts.filter(bool), data=st.data())
def test_a_hostile_string_in_any_slot_keeps_the_shape(
    profile: str, values: dict[str, Any], text: str, data: st.DataObject
) -> None:
    # These keep the form that digests are read from; rules check it before.
    fixed = (("model", "reference"), ("image",), ("interlock_image",))
    slot = data.draw(st.sampled_from([slot for slot in _slots(values) if slot not in fixed]))
    tree = copy.deepcopy(values)
    place: Any = tree
    for part in slot[:-1]:
        place = place[part]
    place[slot[-1]] = "harmless"
    plain = _build(profile, tree)
    place[slot[-1]] = text
    hostile = _build(profile, tree)
    assert [_shape(o) for o in hostile] == [_shape(o) for o in plain]
    if slot[0] != "trust":
        assert any(text == given or text in given for given in _strings(expanded(hostile)))
    for o in hostile:
        printed = scalars.dump(o)
        assert yaml.load(printed, yaml.CSafeLoader) == o
        assert len(list(yaml.compose_all(printed, yaml.CSafeLoader))) == 1


@settings(max_examples=400, deadline=None)
@given(
    st.recursive(
        texts | st.integers() | st.booleans() | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    )
)
def test_every_document_reads_back(value: Any) -> None:
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        assert yaml.load(scalars.dump(value), loader) == value
        assert yaml.load(f"a: {scalars.encode(value)}\n", loader) == {"a": value}


@settings(max_examples=300, deadline=None)
@given(texts)
def test_a_second_yaml_reader_agrees(text: str) -> None:
    # ruamel reads YAML 1.2, PyYAML 1.1: what they disagree on must be quoted.
    from ruamel.yaml import YAML

    assert YAML(typ="safe", pure=True).load(scalars.dump({"k": text})) == {"k": text}


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("$()aé"), max_size=8) | texts)
def test_a_container_sees_the_text_that_was_given(text: str) -> None:
    assert [expand(each) for each in literal([text])] == [text]


def test_the_expansion_of_these_tests_is_that_of_kubernetes() -> None:
    # Cases of its documentation: references, their escape, incomplete ones and a lone operator.
    cases = {"$(A)": "REPLACED", "$$(A)": "$(A)", "$$$(A)": "$REPLACED", "$$$$(A)": "$$(A)", "$$": "$", "$": "$"}
    cases |= {"$(A": "$(A", "f$oo": "f$oo", "a$": "a$", "$(A)$$(B)": "REPLACED$(B)", "--x=$(A)": "--x=REPLACED"}
    assert {text: expand(text) for text in cases} == cases


@pytest.mark.parametrize("profile", PROFILES)
def test_variables_and_arguments_arrive_as_given(profile: str, values: dict[str, Any]) -> None:
    values["env"] = {"A": "$(B)", "B": "$$(D)", "C": "pa$$word", "HOME": "/home"}
    values["args"] = ["--flag", "$(HOME)/$$"]
    if profile == "onnxruntime":
        values["server"] = {"command": ["sh", "-c", "exec serve $(HOME) $$ $1"]}
    objects = [yaml.load(text, yaml.CSafeLoader) for text in render(profile, values=values).payload.split("---\n")]
    (deployment,) = (o for o in expanded(objects) if o["kind"] == "Deployment")
    (server,) = deployment["spec"]["template"]["spec"]["containers"]
    assert values["env"].items() <= {each["name"]: each["value"] for each in server["env"]}.items()
    assert server["args"][-2:] == values["args"]
    assert profile != "onnxruntime" or server["command"] == values["server"]["command"]


def test_half_a_surrogate_pair_is_refused(values: dict[str, Any]) -> None:
    values["env"] = {"A": "\ud800"}
    with pytest.raises(BadInput, match="surrogate"):
        render("vllm", values=values)


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.j2")), ids=lambda p: f"{p.parent.name}/{p.name}")
def test_shipped_templates_pass_the_check(path: Any) -> None:
    assert flaws(path.read_text(encoding="utf-8"), environment()) == []


@pytest.mark.parametrize(
    "source",
    [
        "a: '{{ x }}'",
        'a: "p{{ x }}"',
        "a: {{ x }}-{{ y }}",
        "a: b{{ x }}",
        "a: {{ x }} b",
        "{{ x }}: 1",
        "# {{ x }}",
        "a: |\n  {{ x }}",
        'a: "{% if x %}{{ x }}{% endif %}"',
        'a: "b\n  {{ x }}"',
        "{% macro m() %}{{ x }}{% endmacro %}a: {{ m() }}",
        "{% set x %}y{% endset %}a: {{ x }}",
        "{% filter upper %}a: {{ x }}{% endfilter %}",
    ],
)
def test_a_template_with_another_way_in_is_refused(source: str) -> None:
    assert flaws(source, environment())


@pytest.mark.parametrize("source", ["a: {{ x }}", "- {{ x }}", "a: [{{ x }}, {{ y }}]", "a: {b: {{ x }}}", "  {{ x }}"])
def test_a_whole_value_is_accepted(source: str) -> None:
    assert flaws(source, environment()) == []


def test_output_has_the_same_bytes_whatever_the_hash_seed(values: dict[str, Any]) -> None:
    import json
    import os
    import subprocess
    import sys

    script = (
        "import json, sys; from interlock.templates.run import render;"
        "sys.stdout.write(render('vllm', values=json.loads(sys.argv[1])).payload)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script, json.dumps(values)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
    assert not re.search(rb"\x1b|\r", outputs.pop())


def test_kubectl_reads_what_was_meant(require: Any) -> None:
    # The reader that counts in the end: 3,000 strings in one object, so that kubectl starts once.
    import json
    import random
    import shutil
    import subprocess

    if shutil.which("kubectl") is None:
        require("kubectl, whose YAML reader is an extra oracle", "install it")
    source = random.Random(7)
    alphabet = "yYnNoOeE0123456789+-._:~#&*!|>'\"%@`{}[],? \t\n\\/=<xfinatrulsAZé\u2028\x85\ufeff😀"
    made = ["".join(source.choices(alphabet, k=source.randint(1, 8))) for _ in range(3000)]
    data = {f"k{i}": text for i, text in enumerate([*NASTY, *made])}
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": data}
    command = ["kubectl", "annotate", "--local", "-f", "-", "-o", "json", "a=b"]
    done = subprocess.run(command, input=scalars.dump(document).encode(), capture_output=True, check=True)
    assert json.loads(done.stdout)["data"] == data
