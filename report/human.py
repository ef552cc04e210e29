"""The default output: each finding with its place, a code frame, why and hint; then the body; the verdict last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import exits
from .blocks import Block, Histogram, Table
from .concise import place
from .finding import Finding
from .frames import Frames
from .report import Report
from .style import Style, printable
from .summary import standing, verdict_line

if TYPE_CHECKING:
    from .formats import View

_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan"}


def render(report: Report, view: View) -> str:
    """The report as a person at a terminal wants it."""
    style = Style(view.colour)
    frames = Frames()
    shown = standing(report, view.show_suppressed)
    parts = [_finding(finding, frames, style) for finding in shown]
    parts.extend(_block(block, style) for block in report.body)
    if report.error is not None:
        parts.append(_error(report, style))
    else:
        parts.append("\n".join(_verdict(report, style)))
    return "\n\n".join(part for part in parts if part)


def _verdict(report: Report, style: Style) -> list[str]:
    """What can be fixed at once, why the gate says no where no finding says so, and last the verdict."""
    colour = {exits.PASS: "green", exits.NOTHING: "yellow"}.get(report.exit_code, "red")
    fixes = [f.fix for f in report.findings if f.fix is not None and f.suppressed is None]
    safe = sum(fix.safe for fix in fixes)
    offers = [f"{safe} fixable with --fix"] if safe else []
    offers += [f"{len(fixes) - safe} fixable with --fix --unsafe-fixes"] if len(fixes) > safe else []
    lines = [", ".join(offers)] if offers else []
    if report.refused:
        lines.append(f"{style('refused', 'bold', 'red')}: {printable(report.refused)}")
    lines.append(style(printable(verdict_line(report)), "bold", colour))
    return lines


def _error(report: Report, style: Style) -> str:
    error = report.error
    assert error is not None  # noqa: S101
    text = f"{style('error', 'bold', 'red')}: {printable(str(error))}"
    return text + (f"\n{style('hint', 'bold')}: {printable(error.hint)}" if error.hint else "")


def _finding(finding: Finding, frames: Frames, style: Style) -> str:
    head = f"{style(place(finding.where), 'bold')}: " if finding.where else ""
    severity = style(f"{finding.severity}[{printable(finding.rule)}]", "bold", _COLOURS[finding.severity])
    level = f" ({printable(finding.level)})" if finding.level else ""
    lines = [f"{head}{severity}{level} {printable(finding.message)}"]
    if finding.where:
        lines.extend(frames.frame(finding.where, style))
        if finding.where.object:
            lines.append(style(f"   in {printable(finding.where.object)}", "dim"))
    if finding.witness:
        shown = ", ".join(f"{key} = {value!r}" for key, value in finding.witness.items())
        lines.append(f"   witness: {printable(shown)}")
    if finding.proof:
        lines.append(f"   proof: {printable(finding.proof)}")
    if finding.why:
        lines.append(f"   why: {printable(finding.why)}")
    if finding.hint:
        lines.append(f"   {style('hint', 'bold')}: {printable(finding.hint)}")
    lines.extend(f"   plan: {printable(step)}" for step in finding.plan)
    lines.extend(f"   see {place(other)} {printable(other.object)}".rstrip() for other in finding.related)
    if finding.fix is not None:
        how = "--fix" if finding.fix.safe else "--fix --unsafe-fixes"
        lines.append(f"   {style('fixable', 'dim')}: {printable(finding.fix.title) or 'see --diff'} ({how})")
    if finding.suppressed is not None:
        lines.append(style(f"   suppressed: {printable(finding.suppressed)}", "dim"))
    return "\n".join(lines)


def _block(block: Block, style: Style) -> str:
    title = [style(printable(block.title), "bold")] if block.title else []
    if isinstance(block, Table):
        return "\n".join(title + table_lines(block, style))
    if isinstance(block, Histogram):
        return "\n".join(title + histogram_lines(block))
    return "\n".join([*title, *map(printable, block.text.split("\n"))])


def table_lines(table: Table, style: Style) -> list[str]:
    """A table in fixed-width columns."""
    rows = [[printable(cell) for cell in row] for row in table.rows]
    widths = [
        max(len(head), *(len(row[i]) for row in rows)) if rows else len(head) for i, head in enumerate(table.columns)
    ]

    def line(cells: list[str]) -> str:
        pairs = zip(cells, widths, table.columns, strict=True)
        return "  ".join(c.rjust(w) if h in table.right else c.ljust(w) for c, w, h in pairs).rstrip()

    return [style(line(list(table.columns)), "dim"), *map(line, rows)]


def histogram_lines(histogram: Histogram, width: int = 40) -> list[str]:
    """Horizontal bars, one block of bins per series."""
    lines: list[str] = []
    for name, counts in histogram.counts.items():
        top = max(counts, default=0) or 1
        if name:
            lines.append(printable(name))
        for low, high, count in zip(histogram.edges, histogram.edges[1:], counts, strict=False):
            bar = "█" * round(width * count / top) or ("▏" if count else "")
            lines.append(f"{low:10.3f} to {high:10.3f} {histogram.unit:<3} {bar} {count or ''}".rstrip())
    return lines
