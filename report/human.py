"""The default output: each finding with its place, a code frame, why and hint; then the body; the verdict last."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from .blocks import Block, Histogram, Table
from .concise import place
from .finding import Finding, Location
from .report import Report
from .style import Style, printable

if TYPE_CHECKING:
    from .formats import View

_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan"}
_MAX_LINE = 160


def render(report: Report, view: View) -> str:
    """The report as a person at a terminal wants it."""
    style = Style(view.colour)
    frames = Frames()
    shown = [f for f in report.findings if f.suppressed is None or view.show_suppressed]
    parts = [_finding(finding, frames, style) for finding in shown]
    parts.extend(_block(block, style) for block in report.body)
    if report.error is not None:
        parts.append(_error(report, style))
    else:
        colour = {"pass": "green", "fail": "red", "error": "red"}[report.verdict]
        if report.headline:
            parts.append(style(report.headline, "bold", colour))
        if report.refused:
            parts.append(f"refused: {printable(report.refused)}")
    return "\n\n".join(part for part in parts if part)


def _error(report: Report, style: Style) -> str:
    error = report.error
    assert error is not None  # noqa: S101
    text = f"{style('error', 'bold', 'red')}: {printable(str(error))}"
    return text + (f"\n{style('hint', 'bold')}: {printable(error.hint)}" if error.hint else "")


def _finding(finding: Finding, frames: Frames, style: Style) -> str:
    head = f"{style(place(finding.where), 'bold')}: " if finding.where else ""
    severity = style(f"{finding.severity}[{finding.rule}]", "bold", _COLOURS[finding.severity])
    level = f" ({finding.level})" if finding.level else ""
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
    if finding.fix is not None:
        how = "--fix" if finding.fix.safe else "--fix --unsafe-fixes"
        lines.append(f"   {style('fixable', 'dim')}: {finding.fix.title or 'see --diff'} ({how})")
    if finding.suppressed is not None:
        lines.append(style(f"   suppressed: {printable(finding.suppressed)}", "dim"))
    return "\n".join(lines)


class Frames:
    """Source lines for code frames; keeps the file read last, since findings come sorted by file."""

    def __init__(self) -> None:
        self._path = ""
        self._lines: list[str] = []

    def frame(self, where: Location, style: Style) -> list[str]:
        """The line a finding points at with a caret run under it; nothing where the source is not a text file."""
        if where.line is None:
            return []
        source = self._source(where.path, where.line)
        if source is None:
            return []
        number = str(where.line)
        lines = [f" {style(number, 'blue')} {style('|', 'blue')} {printable(source[:_MAX_LINE])}"]
        if where.column is not None and where.column <= len(source[:_MAX_LINE]):
            same = where.end_line in (None, where.line)
            end = where.end_column if where.end_column is not None and same else len(source) + 1
            width = max(1, min(end, _MAX_LINE + 1) - where.column)
            pad = "".join("\t" if c == "\t" else " " for c in source[: where.column - 1])
            lines.append(f" {' ' * len(number)} {style('|', 'blue')} {pad}{style('^' * width, 'yellow')}")
        return lines

    def _source(self, path: str, line: int) -> str | None:
        if path != self._path:
            self._path, self._lines = path, []
        if len(self._lines) < line:
            try:
                with open(path, encoding="utf-8-sig", errors="replace") as stream:  # noqa: PTH123
                    self._lines = [text.rstrip("\r\n") for text in islice(stream, line + 500)]
            except OSError:
                # The frame is an extra: the finding itself was made from a read that worked (stdin, an archive).
                return None
        return self._lines[line - 1] if line <= len(self._lines) else None


def _block(block: Block, style: Style) -> str:
    title = [style(block.title, "bold")] if block.title else []
    if isinstance(block, Table):
        return "\n".join(title + table_lines(block, style))
    if isinstance(block, Histogram):
        return "\n".join(title + histogram_lines(block))
    return "\n".join([*title, block.text])


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
            lines.append(name)
        for low, high, count in zip(histogram.edges, histogram.edges[1:], counts, strict=False):
            bar = "█" * round(width * count / top) or ("▏" if count else "")
            lines.append(f"{low:10.3f} to {high:10.3f} {histogram.unit:<3} {bar} {count or ''}".rstrip())
    return lines
