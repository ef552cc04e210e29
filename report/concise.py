"""One finding a line: `path:line:col: severity RULE message`, as editors and grep like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .finding import Location
from .report import Report
from .style import Style, printable
from .summary import standing, verdict_line

if TYPE_CHECKING:
    from .formats import View


def place(where: Location | None) -> str:
    """`path:line:column`, as much of it as is known."""
    if where is None:
        return "-"
    return ":".join(str(part) for part in (printable(where.path), where.line, where.column) if part is not None)


def render(report: Report, view: View) -> str:
    """A line a finding and a last line with the verdict."""
    style = Style(view.colour)
    lines = [
        f"{place(f.where)}: {f.severity} {style(printable(f.rule), 'bold')} {printable(f.message)}"
        for f in standing(report, view.show_suppressed)
    ]
    lines.append(printable(f"error: {report.error}" if report.error is not None else verdict_line(report)))
    return "\n".join(lines)
