"""GitHub workflow commands: annotations on the changed lines.

The runner shows ten annotations of a kind for a step and drops the rest silently, so the worst come first, and what
is over the limit is printed as plain lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .concise import place
from .finding import Finding, Severity
from .identity import relative
from .report import Report
from .style import printable, whole
from .summary import standing, verdict_line, worst_first

if TYPE_CHECKING:
    from .formats import View

_KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_PER_KIND = 10
# A longer message is cut by GitHub without a sign.
_MAX_MESSAGE = 4096


def render(report: Report, view: View) -> str:
    """Annotations, then the findings that no longer fit, then the verdict."""
    del view
    lines: list[str] = []
    over: list[str] = []
    room = dict.fromkeys(_KINDS.values(), _PER_KIND)
    if report.error is not None or report.refused:
        hint = report.error.hint if report.error is not None else ""
        text = report.refused if report.error is None else str(report.error)
        lines.append(command("error", text + (f"\nhint: {hint}" if hint else ""), title=f"interlock {report.command}"))
        room["error"] -= 1
    for finding in worst_first(standing(report)):
        kind = _KINDS[finding.severity]
        if room[kind]:
            room[kind] -= 1
            lines.append(_annotation(kind, finding))
        else:
            over.append(plain(f"{place(finding.where)}: {finding.severity} {finding.rule} {finding.message}"))
    if over:
        lines += [f"over the limit of {_PER_KIND} annotations of a kind, listed here only:", *over]
    return "\n".join([*lines, plain(verdict_line(report))])


def _annotation(kind: str, finding: Finding) -> str:
    where = finding.where
    properties: dict[str, object] = {}
    if where is not None:
        properties["file"] = relative(where.path)
        properties |= {"line": where.line, "endLine": where.end_line}
        # The runner refuses columns of a range over several lines.
        if where.line is not None and where.end_line in (None, where.line):
            properties |= {"col": where.column, "endColumn": where.end_column}
    text = finding.message
    for label, extra in (("in", where.object if where else ""), ("why", finding.why), ("hint", finding.hint)):
        text += f"\n{label}: {extra}" if extra else ""
    return command(kind, text, **properties, title=f"{finding.rule} {finding.name}".strip())


def command(name: str, message: str, **properties: object) -> str:
    """One workflow command on one line; properties that are None or empty are left out."""
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value not in (None, ""))
    return f"::{name}{' ' if listed else ''}{listed}::{_data(message)}"


def _data(text: str) -> str:
    """Escaped as the runner's toolkit does for messages; other control characters become visible."""
    text = text if len(text) <= _MAX_MESSAGE else text[: _MAX_MESSAGE - 1] + "…"
    lines = (printable(line) for line in whole(text).replace("\r", "\n").split("\n"))
    return "%0A".join(line.replace("%", "%25") for line in lines)


def _property(text: str) -> str:
    return printable(whole(text)).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")


def plain(text: str) -> str:
    """A log line that the runner cannot take for a command of either syntax (`::name` first, `##[name]` anywhere)."""
    text = printable(whole(text)).replace("##[", "## [")
    return f"- {text}" if text.lstrip().startswith("::") else text
