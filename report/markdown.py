"""GitHub-flavoured markdown: for job summaries, pull request comments and release notes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .blocks import Block, Histogram, Table
from .concise import place
from .finding import Finding
from .human import histogram_lines
from .report import Report
from .rulepage import link
from .style import printable, whole
from .summary import standing, tally, verdict_line, worst_first

if TYPE_CHECKING:
    from .formats import View

_MARKS = {"pass": "✅", "fail": "❌", "error": "⚠️"}
# A job summary holds 1,024 KiB in all, and a table of more rows is not read.
_MAX_BYTES = 500_000
_MAX_ROWS = 500


def render(report: Report, view: View) -> str:
    """Verdict as heading, then the findings as a table, then the body."""
    line = verdict_line(report)
    command = "" if line.startswith(f"{report.command}:") else f"{report.command}: "
    # A pass of what could be read is not the tick of a whole one.
    mark = _MARKS["error" if report.unread and report.verdict == "pass" else report.verdict]
    parts = [f"### {mark} interlock {escape(command + line)}"]
    if report.error is not None and report.error.hint:
        parts.append(f"**hint:** {escape(report.error.hint)}")
    if report.refused:
        parts.append(f"**refused:** {escape(report.refused)}")
    shown = worst_first(standing(report, view.show_suppressed))
    if shown:
        parts.append(_findings(shown, {rule.id: link(rule) for rule in report.rules}))
    if len(shown) > _MAX_ROWS:
        parts.append(f"{len(shown) - _MAX_ROWS} more findings are not shown here")
    parts.extend(_block(block) for block in report.body)
    if report.payload:
        parts.append(fence(report.payload, "yaml"))
    if report.error is None and report.headline and shown:
        parts.append(escape(tally(report)))
    return _within("\n\n".join(parts))


def _findings(findings: list[Finding], pages: dict[str, str]) -> str:
    rows: list[list[str]] = []
    for finding in findings[:_MAX_ROWS]:
        text = escape(finding.message)
        for label, extra in (("why", finding.why), ("hint", finding.hint)):
            text += f"<br>{label}: {escape(extra)}" if extra else ""
        if finding.suppressed is not None:
            text += f"<br>suppressed: {escape(finding.suppressed)}"
        level = f" ({escape(finding.level)})" if finding.level else ""
        url = finding.url if _linkable(finding.url) else pages.get(finding.rule, "")
        rule = f"[{escape(finding.rule)}](<{url}>)" if _linkable(url) else escape(finding.rule)
        where = code(place(finding.where)) if finding.where else ""
        if finding.where and finding.where.object:
            where += f"<br>{code(finding.where.object)}"
        rows.append([f"{finding.severity}{level}", rule, where, text])
    return "\n".join(table(["severity", "rule", "where", "what"], rows, frozenset()))


def _linkable(url: str) -> bool:
    return url.startswith("https://") and not re.search(r"[\s<>|\\]", url)


def _block(block: Block) -> str:
    title = [f"**{escape(block.title)}**", ""] if block.title else []
    if isinstance(block, Table):
        rows = [[escape(cell) for cell in row] for row in block.rows]
        heads = [escape(head) for head in block.columns]
        return "\n".join(title + table(heads, rows, frozenset(escape(head) for head in block.right)))
    if isinstance(block, Histogram):
        return "\n".join([*title, fence("\n".join(histogram_lines(block)))])
    return "\n".join([*title, fence(block.text)])


def table(columns: list[str], rows: list[list[str]], right: frozenset[str]) -> list[str]:
    """A GFM table of cells that are escaped already."""
    rule = ["---:" if head in right else "---" for head in columns]
    return [f"| {' | '.join(cells)} |" for cells in (columns, rule, *rows)]


def escape(text: str) -> str:
    """Text that renders as itself, on one line: no markup, no HTML, no table break, nobody mentioned."""
    text = printable(whole(text)).replace("\t", " ")
    text = re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # An empty comment keeps GitHub from linking `@team` and notifying its members.
    return re.sub(r"(?<!\w)@(?=\w)", "@<!-- -->", text)


def code(text: str) -> str:
    """A code span in a table cell, whatever the text holds."""
    text = printable(whole(text)).replace("\t", " ").replace("|", "\\|")
    ticks = "`" * (_longest(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") or (text and not text.strip()) else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text else ""


def fence(text: str, language: str = "text") -> str:
    """A fenced block that the text cannot close."""
    lines = "\n".join(printable(line) for line in whole(text).rstrip("\n").split("\n"))
    ticks = "`" * max(3, _longest(lines) + 1)
    return f"{ticks}{language}\n{lines}\n{ticks}"


def _longest(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _within(text: str) -> str:
    """The text cut at a line end below the size limit."""
    data = text.encode("utf-8")
    if len(data) <= _MAX_BYTES:
        return text
    kept = data[:_MAX_BYTES].decode("utf-8", "ignore").rpartition("\n")[0]
    # Said under the heading: the cut may lie inside a fenced block.
    heading, _, rest = kept.partition("\n")
    return f"{heading}\n\ncut at {_MAX_BYTES // 1000} kB; the json format has everything\n{rest}"
