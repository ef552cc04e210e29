"""The protobuf text reader: every syntax of the format, exact positions, and never a crash."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interlock.checks.lint.sources import pbtxt
from interlock.checks.lint.sources.pbtxt import Enum, Message, PbtxtError, Span

CONFIG = """\
# a Triton ensemble
name: "ensemble"
platform: 'ensemble'
max_batch_size: 0x10
input [
  { name: "TEXT" data_type: TYPE_STRING dims: [ -1, 1 ] },
  {
    name: "N"; data_type: TYPE_INT32,
    dims: 1
    dims: 010
  }
]
version_policy < latest { num_versions: 1 } >
ensemble_scheduling {
  step: { model_name: "tok" "enizer" model_version: -1 }
  step { model_name: "b" }
}
parameters { key: "scale" value: { string_value: "1.5\\n\\x41\\101\\u00e9" } }
optimization { gather_kernel_buffer_threshold: 1.5e3f eager: true ratio: -inf }
[triton.ext/Thing]: { a: 1 }
"""


def test_values_of_every_syntax() -> None:
    config = pbtxt.parse(CONFIG)
    assert config.scalar("name") == "ensemble"
    assert config.scalar("platform") == "ensemble"
    assert config.scalar("max_batch_size") == 16
    first, second = config.messages("input")
    assert [item.value for item in first.all("dims")] == [-1, 1]
    assert [item.value for item in second.all("dims")] == [1, 8]
    kind = first.scalar("data_type")
    assert kind == "TYPE_STRING"
    assert isinstance(kind, Enum)
    assert config.messages("version_policy")[0].messages("latest")[0].scalar("num_versions") == 1
    step = config.messages("ensemble_scheduling")[0].messages("step")[0]
    assert step.scalar("model_name") == "tokenizer"
    assert step.scalar("model_version") == -1
    value = config.messages("parameters")[0].messages("value")[0]
    assert value.scalar("string_value") == "1.5\nAAé"
    optimization = config.messages("optimization")[0]
    assert [item.value for item in optimization.fields] == [1500.0, True, float("-inf")]
    assert config.messages("[triton.ext/Thing]")[0].scalar("a") == 1


def test_positions_are_those_of_the_text() -> None:
    config = pbtxt.parse(CONFIG)
    lines = CONFIG.splitlines()

    def text(span: Span) -> str:
        assert span.line == span.end_line
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]

    for path, item in config.walk():
        assert text(item.name_span) == item.name, path
        if not isinstance(item.value, Message) and "\\" not in text(item.value_span):
            assert str(item.value).casefold() in text(item.value_span).replace('" "', "").casefold() or isinstance(
                item.value, int | float
            )
    paths = dict(config.walk())
    version = paths["ensemble_scheduling.step[0].model_version"]
    assert version.name_span == Span(15, 38, 15, 51)
    assert version.value_span == Span(15, 53, 15, 55)
    assert paths["input[1].dims[1]"].value_span == Span(10, 11, 10, 14)
    assert paths["input[1]"].value_span == Span(7, 3, 11, 4)


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("name: ", 1, 7, "expected a value, found the end of the file"),
        ('a: 1\nb "x"', 2, 3, "expected ':' or '{'"),
        ("a {\n  b: 1", 2, 7, "expected '}'"),
        ("a: [1 2]", 1, 7, "expected ',' or ']'"),
        ('a: "x\n"', 1, 4, "does not end on its line"),
        ("a: 12ab", 1, 4, "letters after"),
        ("a: 089", 1, 4, "octal"),
        ("a: @", 1, 4, "unexpected character '@'"),
        ("a: - b", 1, 6, "expected a value"),
        ("a: " + "9" * 40, 1, 4, "64 bits"),
        ("[a b: 1", 1, 5, "expected an extension"),
        ("{{ .Values.x }}", 1, 1, "expected a field name"),
    ],
)
def test_bad_text_names_the_place(text: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(PbtxtError) as caught:
        pbtxt.parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert reason in caught.value.reason


def test_depth_and_size_are_bounded() -> None:
    with pytest.raises(PbtxtError, match="nested deeper"):
        pbtxt.parse("a{" * 100_000)
    with pytest.raises(PbtxtError, match="larger than"):
        pbtxt.parse("#" * (pbtxt.MAX_BYTES + 1))


def test_the_corpus_parses(shared: Path) -> None:
    files = sorted((shared / "corpus/lint/files").rglob("*.pbtxt"))
    assert files
    for file in files:
        assert pbtxt.parse(file.read_text()).fields, file


_pieces = st.sampled_from(
    [*"{}<>[]:;,.-/#\"'\\ \n", "a", "name", "1", "0x", "1.5f", "inf", "\x00", "é", '"s"', "a: 1", "m {"]
)


@given(st.one_of(st.text(max_size=200), st.lists(_pieces, max_size=60).map("".join)))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        message = pbtxt.parse(text)
    except PbtxtError as error:
        assert 1 <= error.line <= text.count("\n") + 1
        assert error.column >= 1
    else:
        for _, item in message.walk():
            assert item.name_span.line <= item.value_span.line


_scalars = st.one_of(
    st.integers(-(2**63), 2**64 - 1),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=12),
)


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\{byte:03o}" for byte in value.encode()) + '"'
    return repr(value)


@given(st.lists(st.tuples(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), _scalars), max_size=8))
def test_what_is_written_is_read_back(pairs: list[tuple[str, object]]) -> None:
    text = "\n".join(f"{name}: {_literal(value)}" for name, value in pairs)
    assert [(item.name, item.value) for item in pbtxt.parse(text).fields] == pairs
