"""The report in a line: used as the verdict where a command gives none, and as heading by the other formats."""

from __future__ import annotations

from .finding import Finding, Severity
from .report import Report


def plural(number: int, word: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def verdict_line(report: Report) -> str:
    """The command's own headline, else its counts."""
    if report.error is not None:
        return f"{report.command}: {report.error}"
    return report.headline or f"{report.command}: {tally(report)}"


def tally(report: Report) -> str:
    """Counts of what was found, where, and what was left out: `2 errors, 1 warning in 14 inputs (1 unread)`."""
    names = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
    found = ", ".join(plural(count, name) for severity, name in names.items() if (count := report.count(severity)))
    if not found and not report.inputs and not report.unread:
        return "nothing to check"
    aside = ", ".join(
        f"{count} {word}" for count, word in ((report.suppressed, "suppressed"), (report.unread, "unread")) if count
    )
    return f"{found or 'nothing found'} in {plural(report.inputs, 'input')}" + (f" ({aside})" if aside else "")


def standing(report: Report, show_suppressed: bool = False) -> list[Finding]:
    """The findings that the user has not silenced, or all of them."""
    return [f for f in report.findings if show_suppressed or f.suppressed is None]


def worst_first(findings: list[Finding]) -> list[Finding]:
    """Errors, then warnings, then notes; otherwise the given order. For formats that must cut the tail."""
    return sorted(findings, key=lambda finding: -finding.severity.rank)
