"""GitLab code quality report: a JSON array of issues, as GitLab's subset of the Code Climate format has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .finding import Location, Severity
from .identity import fingerprints, relative
from .json import dumps
from .report import Report
from .style import whole
from .summary import standing

if TYPE_CHECKING:
    from .formats import View

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def render(report: Report, view: View) -> str:
    """The array; suppressed findings are left out, and what stopped or refused the run is an issue of its own."""
    del view
    return dumps(issues(report), 1)


def issues(report: Report) -> list[dict[str, Any]]:
    """The issues as Python data: path relative to the run, line 1 where none is known, unique fingerprints."""
    found = standing(report)
    result = [
        _issue(
            f"{finding.message}; {finding.hint}" if finding.hint else finding.message,
            finding.rule,
            mark,
            _SEVERITIES[finding.severity],
            finding.where or Location("."),
        )
        for finding, mark in zip(found, fingerprints(found), strict=True)
    ]
    name = f"interlock-{report.command}"
    if report.error is not None:
        where = Location(report.error.what, report.error.line)
        result.append(_issue(str(report.error), name, f"{name}-error", "blocker", where))
    elif report.refused:
        result.append(_issue(report.refused, name, f"{name}-refused", "blocker", Location(".")))
    return result


def _issue(text: str, check: str, fingerprint: str, severity: str, where: Location) -> dict[str, Any]:
    line = max(1, where.line or 1)
    return {
        "description": whole(text),
        "check_name": whole(check),
        "fingerprint": fingerprint,
        "severity": severity,
        "location": {
            "path": whole(relative(where.path)) or ".",
            "lines": {"begin": line, "end": max(line, where.end_line or line)},
        },
    }
