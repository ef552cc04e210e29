"""Text edits: whatever the layout, they change what they say and nothing else."""

from __future__ import annotations

from textwrap import dedent

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from interlock.checks.lint import fixer, fixes
from interlock.checks.lint.sources.kubernetes import Resource
from interlock.checks.lint.sources.text import TextFile
from interlock.checks.lint.sources.yamlnodes import Map
from interlock.checks.lint.sources.yamlreader import documents
from interlock.report.finding import Edit, Finding, Fix, Severity


def resource(text: str) -> Resource:
    (document,) = documents(TextFile("a.yaml", text))
    return Resource(document, document.root)


def done(text: str, *edits: Edit | None) -> str:
    finding = Finding(
        rule="X", name="x", severity=Severity.INFO, message="m", fix=Fix(tuple(edit for edit in edits if edit))
    )
    new, count = fixer.applied(text, [finding])
    assert count == 1
    return new


LAYOUTS = {
    "last": "spec:\n  a: 1\n  b:\n    c: 2\n",
    "comment below": "spec:\n  a: 1\n  b:\n    c: 2  # two\n\n# the end\nother: 3\n",
    "list": "spec:\n  a: 1\n  b:\n  - c: 2\n  - d: 3\nother: 4\n",
    "block text": "spec:\n  a: 1\n  b: |\n    one\n    two\n\nother: 3\n",
    "no newline": "spec:\n  a: 1\n  b: 2",
    "flow value": "spec:\n  a: 1\n  b: {c: [1,\n    2]}\nother: 3\n",
    "deep": "- x\n",
}


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "deep"])
def test_entry_is_added_below(layout: str) -> None:
    text = LAYOUTS[layout]
    found = resource(text)
    new = done(text, fixes.add_entry(found, found.root["spec"], "b", ["new:", "  x: 1"]))
    before, after = yaml.safe_load(text), yaml.safe_load(new)
    assert after["spec"].pop("new") == {"x": 1}
    assert after == before
    assert all(line in new for line in text.splitlines())


@pytest.mark.parametrize("text", ["spec: {a: 1, b: 2}\n", "spec: {}\n", "spec:\n  {a: 1,\n   b: 2}\n"])
def test_nothing_is_added_to_braces(text: str) -> None:
    found = resource(text)
    assert fixes.add_entry(found, found.root["spec"], "b", ["new: 1"]) is None


def test_block_writes_what_reads_back_the_same() -> None:
    text = dedent(
        """\
        a: {b: /health, c: "true", d: 8000, e: [x, "- y", 1], f: null, g: "a: b", h: {}, i: [], j: yes, k: "", l: 1.5}
        """
    )
    value = resource(text).root["a"]
    assert isinstance(value, Map)
    assert yaml.safe_load("\n".join(fixes.block(value))) == yaml.safe_load(text)["a"]


TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20)
SCALARS = TEXTS | st.integers() | st.booleans()


@settings(deadline=None)
@given(st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), SCALARS))
def test_block_reads_back_for_any_scalars(values: dict[str, object]) -> None:
    text = yaml.safe_dump({"a": values or {"k": 1}}, allow_unicode=True)
    value = resource(text).root["a"]
    assert yaml.safe_load("\n".join(fixes.block(value))) == yaml.safe_load(text)["a"]


def test_first_of_overlapping_fixes_wins_and_shared_edits_are_made_once() -> None:
    one, two = Edit(1, 1, 1, 4, "x"), Edit(1, 2, 1, 5, "y")
    findings = [
        Finding(rule="X", name="x", severity=Severity.INFO, message="m", fix=Fix((edit,))) for edit in (one, two, one)
    ]
    assert fixer.applied("abcdef\n", findings) == ("xdef\n", 2)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5), st.text("xy", max_size=3)), max_size=6))
def test_edits_that_do_not_overlap_all_land(edits: list[tuple[int, int, str]]) -> None:
    text = "".join(chr(0x100 + n) for n in range(40))
    findings = [
        Finding(rule="X", name="x", severity=Severity.INFO, message="m", fix=Fix((Edit(1, a + 1, 1, a + n + 1, new),)))
        for a, n, new in edits
    ]
    new, count = fixer.applied(text, findings)
    kept = [c for c in new if c >= "\u0100"]
    assert kept == sorted(kept)
    assert count <= len(edits)
