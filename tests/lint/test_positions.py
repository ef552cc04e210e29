"""Positions: what a location names is what stands there, for every layout of YAML and for Python."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from interlock.checks.lint.sources import python as source
from interlock.checks.lint.sources.kubernetes import Resource
from interlock.checks.lint.sources.text import TextFile
from interlock.checks.lint.sources.yamlnodes import Map, Seq, dig, pointer, walk
from interlock.checks.lint.sources.yamlreader import documents

KEYS = st.from_regex(r"[a-z][a-z0-9-]{0,6}", fullmatch=True)
TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_categories=["Cc"]), max_size=12)
VALUES = TEXTS | st.integers() | st.booleans() | st.none()
TREES = st.dictionaries(
    KEYS, st.recursive(VALUES, lambda t: st.lists(t, max_size=3) | st.dictionaries(KEYS, t, max_size=3), max_leaves=12),
    min_size=1, max_size=4,
)  # fmt: skip


def plain(value: object) -> object:
    if isinstance(value, Map):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, Seq) else value


@settings(deadline=None)
@given(TREES, st.booleans(), st.integers(2, 6))
def test_values_equal_the_library_and_spans_hold_them(tree: dict[str, object], flow: bool, indent: int) -> None:
    text = yaml.safe_dump(tree, default_flow_style=flow, indent=indent, allow_unicode=True, width=30)
    (document,) = documents(TextFile("a.yaml", text))
    assert plain(document.root) == yaml.safe_load(text)
    lines = text.split("\n")
    for holder, key in walk(document.root):
        span = holder.span(key)
        written = lines[span.key_line - 1][span.key_column - 1 : span.key_end_column - 1]
        assert written.strip("'\"? ") == key
        assert (span.line, span.column) >= (span.key_line, span.key_column)
        assert dig(document.root, *_steps(pointer(holder, key), document.root)) is holder[key]


def test_lines_are_those_of_editors() -> None:
    text = 'a: "x\u2028y\x85z"\r\nb: 1\nc: 2\n'
    (document,) = documents(TextFile("a.yaml", text))
    assert document.root["a"] == "x y z"
    assert document.root.span("b").key_line == 2
    assert document.root.span("c").key_line == 3


def _steps(where: str, root: object) -> list[str | int]:
    steps: list[str | int] = []
    for part in where.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        value = dig(root, *steps)
        steps.append(int(name) if isinstance(value, Seq) else name)
    return steps


SCRIPT = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: a
      image: x
      command: [sh, -c]
      args:
        - |
          set -e
          exec vllm serve org/model \\
            --port 8000
    - name: b
      image: x
      args: ["--model", "org/model", '--dir=/a b']
    - name: c
      image: x
      command: ["bash", "-c", "a && vllm serve org/model --port 8000"]
    - name: d
      image: x
      command: [sh, -c]
      args:
        - >-
          vllm serve
          org/model
"""


@pytest.mark.parametrize(
    ("container", "word", "place"),
    [
        (0, "org/model", (12, 27)),
        (0, "8000", (13, 20)),
        (1, "org/model", (16, 25)),
        (2, "org/model", (19, 48)),
        (3, "org/model", (26, 11)),
    ],
)
def test_word_of_a_command_line(container: int, word: str, place: tuple[int, int]) -> None:
    (document,) = documents(TextFile("a.yaml", SCRIPT))
    resource = Resource(document, document.root)
    words = [w for line in resource.pods[0].containers[container].lines for w in line if w.text == word]
    where = resource.at_word(words[0])
    assert (where.line, where.column) == place


PYTHON = """\
import numpy as np
from torch import load as read, nn
BASE = 'org'
NAME = BASE + '/' + f'{BASE}x'
MANY = 1
MANY = 2
class A:
    def f(self):
        return read(NAME, np.x.y, é='ü', b=1)
"""


def test_python_names_constants_and_places() -> None:
    text = PYTHON
    (file,) = source.from_file(TextFile("a.py", text))
    ((name, call),) = file.calls
    assert name == "torch.load"
    assert file.text(call.args[0]) == "org/orgx"
    assert file.name(call.args[1]) == "numpy.x.y"
    assert set(file.constants) == {"BASE", "NAME"}
    where = file.location(call.keywords[1].value)
    assert (where.line, where.column, where.object) == (9, 44, "A.f")
    assert source.argument(call, 0, "f") is call.args[0]
    assert source.argument(call, 5, "b") is call.keywords[1].value
    assert source.argument(call, 5, "none") is None
    assert list(source.from_file(TextFile("b.py", "print 'nothing of ours'"))) == []
