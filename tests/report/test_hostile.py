"""Whatever a file name, a manifest or a tensor name holds, no format breaks and no text turns into markup."""

from __future__ import annotations

import html
import json
import re
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interlock.report import formats, github, markdown
from interlock.report.blocks import Table, Text
from interlock.report.errors import BadInput
from interlock.report.finding import Finding, Location, Severity
from interlock.report.report import Report, failed
from interlock.report.style import printable, whole
from markdown_it import MarkdownIt

NASTY = [
    "\n::error::owned",
    "::set-env name=X::y",
    "##[command]rm",
    "a|b|c",
    "``` `` `",
    "<script>alert(1)</script>",
    "<!-- x",
    "]]>",
    "&amp;",
    "\x1b[31mred\x1b[0m",
    "\x00\x07\x7f\x85\u2028",
    "\udcff",
    "\ufffe",
    "@team/all",
    "a\r\nb",
    "%0A::x",
    "[x](javascript:y)",
    "* _ ~ # 1. - +",
    "名前\t前",
]
texts = st.one_of(st.sampled_from(NASTY), st.text(max_size=30), st.text(st.sampled_from("`|<>&:%@[]#*\\\n\r\t\x1b-")))
paths = texts.filter(lambda text: "\0" not in text)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """A report with hostile text in every slot."""
    findings = [
        Finding(
            rule=draw(texts),
            name=draw(texts),
            severity=draw(st.sampled_from(Severity)),
            message=draw(texts),
            where=draw(
                st.none()
                | st.builds(
                    Location,
                    paths,
                    st.none() | st.integers(-1, 9),
                    st.none() | st.integers(-1, 9),
                    st.none() | st.integers(-1, 9),
                    st.none() | st.integers(-1, 9),
                    texts,
                    texts,
                )
            ),
            why=draw(texts),
            hint=draw(texts),
            url=draw(texts),
            level=draw(texts),
            witness=draw(st.none() | st.dictionaries(texts, texts | st.floats(), max_size=2)),
            plan=tuple(draw(st.lists(texts, max_size=2))),
            suppressed=draw(st.none() | texts),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    if draw(st.booleans()):
        return failed("lint", BadInput(draw(texts), draw(texts), hint=draw(texts)))
    body = [Text(draw(texts), draw(texts)), Table(("a", "b"), [[draw(texts), draw(texts)]], draw(texts))]
    return Report(command="lint", findings=findings, inputs=1, headline=draw(texts), refused=draw(texts), body=body)


def _all(report: Report) -> dict[str, str]:
    out = {name: formats.render(name, report) for name in formats.NAMES}
    for text in out.values():
        text.encode("utf-8", "backslashreplace")
    return out


@settings(max_examples=150, deadline=None)
@given(reports())
def test_every_format_stays_whole(report: Report) -> None:
    out = _all(report)
    for name in ("json", "sarif", "gitlab"):
        json.loads(out[name].encode("utf-8", "backslashreplace"))
    suite = ElementTree.fromstring(out["junit"])[0]
    assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
    for name in ("human", "concise", "github"):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", out[name]), name
    shown = [f for f in report.findings if f.suppressed is None]
    assert len(out["concise"].splitlines()) == len(shown) + 1
    commands = [line for line in out["github"].splitlines() if line.startswith("::")]
    assert len(commands) == len(shown) + bool(report.error or report.refused)
    assert all("##[" not in line for line in out["github"].splitlines() if not line.startswith("::"))


@settings(max_examples=200, deadline=None)
@given(texts, texts)
def test_github_command_reads_back(message: str, title: str) -> None:
    line = github.command("error", message, title=title)
    match = re.fullmatch(r"::error(?: title=([^:,\n]*))?::(.*)", line)
    assert match
    assert unquote(match[1] or "", errors="strict") == printable(whole(title))
    lines = whole(message).replace("\r", "\n").split("\n")
    assert unquote(match[2], errors="strict") == "\n".join(map(printable, lines))


def _cells(text: str) -> list[list[str]]:
    """The table cells of a markdown text as a reader sees them, by an independent GFM parser."""
    page = MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(text)
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    plain = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in rows]
    return [[html.unescape(re.sub(r"<!-- -->|</?code>", "", cell)) for cell in row] for row in plain]


@settings(max_examples=200, deadline=None)
@given(texts, texts)
def test_markdown_cell_shows_the_text_itself(left: str, right: str) -> None:
    table = "\n".join(markdown.table(["a", "b"], [[markdown.escape(left), markdown.escape(right)]], frozenset()))
    _, row = _cells(table)
    wanted = [printable(whole(text)).replace("\t", " ").strip() for text in (left, right)]
    assert [cell.strip() for cell in row] == wanted


@settings(max_examples=200, deadline=None)
@given(texts)
def test_markdown_code_and_fence_cannot_be_left(text: str) -> None:
    table = "\n".join(markdown.table(["a", "b"], [[markdown.code(text), "x"]], frozenset()))
    _, row = _cells(table)
    assert row[0].split() == printable(whole(text)).split() and row[1] == "x"
    tokens = MarkdownIt("commonmark").parse(markdown.fence(text) + "\n\nafter")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]


@pytest.mark.parametrize("text", NASTY)
def test_terminal_sees_no_control_character(text: str) -> None:
    finding = Finding(
        rule="R", name="r", severity=Severity.ERROR, message=text, where=Location(text, 1, 1, object=text)
    )
    for name in ("human", "concise"):
        rendered = formats.render(
            name, Report(command="lint", findings=[finding], inputs=1, headline=text, refused=text)
        )
        assert "\x1b" not in rendered and "\x07" not in rendered


def test_json_has_no_number_that_json_lacks() -> None:
    facts: dict[str, Any] = {"x": float("inf"), "y": [float("nan")], 3: (1,)}
    text = formats.render("json", Report(command="bench", facts=facts, inputs=1))
    assert json.loads(text, parse_constant=lambda name: pytest.fail(name))["facts"] == {
        "x": None,
        "y": [None],
        "3": [1],
    }
