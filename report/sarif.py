"""SARIF 2.1.0 (OASIS), within what GitHub code scanning accepts.

GitHub's limits, from "SARIF support for code scanning": 25,000 results and rules a run, 10 tags shown a rule, 1,024
characters in a rule's descriptions; every result needs a location with a start line, every rule both descriptions
and help.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..version import __version__
from . import exits
from .finding import Finding, Fix, Location, Severity
from .identity import fingerprints, relative
from .json import dumps
from .report import Report
from .rule import Rule
from .rulepage import brief, documentation, link, sentence
from .style import whole
from .summary import verdict_line, worst_first

if TYPE_CHECKING:
    from .formats import View

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_MAX_RESULTS = 25_000
_MAX_DESCRIPTION = 1024
_ROOT = "SRCROOT"


def render(report: Report, view: View) -> str:
    """One SARIF log with one run."""
    del view
    return dumps(document(report), 6)


def document(report: Report) -> dict[str, Any]:
    """The log as Python data. Suppressed findings are present with their reason, as SARIF has it."""
    marked = dict(zip(map(id, report.findings), fingerprints(report.findings), strict=True))
    kept = report.findings
    if len(kept) > _MAX_RESULTS:
        kept = worst_first(kept)[:_MAX_RESULTS]
    rules = [_rule(rule) for rule in report.rules]
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    for finding in kept:
        if finding.rule not in index:
            index[finding.rule] = len(rules)
            rules.append(_undocumented(finding))
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "interlock",
                "semanticVersion": __version__,
                **({"informationUri": documentation()} if documentation() else {}),
                "rules": rules,
            }
        },
        "automationDetails": {"id": f"interlock/{report.command}/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "the folder interlock ran in"}}},
        "invocations": [_invocation(report, len(report.findings) - len(kept))],
        "results": [_result(finding, index[finding.rule], marked[id(finding)]) for finding in kept],
    }
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _cut(text: str) -> str:
    text = whole(text)
    return text if len(text) <= _MAX_DESCRIPTION else text[: _MAX_DESCRIPTION - 1] + "…"


def _rule(rule: Rule) -> dict[str, Any]:
    tags = dict.fromkeys(filter(None, ("model-serving", rule.family, "pedantic" if rule.pedantic else "")))
    return {
        "id": rule.id,
        "name": _pascal(rule.name),
        "shortDescription": {"text": _cut(sentence(rule.summary))},
        "fullDescription": {"text": _cut(sentence(f"{rule.what}\n\n{rule.why}" if rule.why else rule.what))},
        "help": {"text": whole(_help_text(rule)), "markdown": whole(brief(rule))},
        **({"helpUri": link(rule)} if link(rule) else {}),
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": list(tags)[:10], "precision": "high", "problem.severity": _problem(rule.severity)},
    }


def _undocumented(finding: Finding) -> dict[str, Any]:
    """A rule that the command did not document, from the first finding that names it."""
    text = _cut(sentence(finding.name.replace("-", " ") or finding.rule) or "-")
    why = "\n".join(filter(None, (finding.why, finding.hint))) or finding.name or finding.rule
    return {
        "id": finding.rule,
        "name": _pascal(finding.name or finding.rule),
        "shortDescription": {"text": text},
        "fullDescription": {"text": _cut(sentence(finding.why or finding.name or finding.rule))},
        "help": {"text": whole(why)},
        "defaultConfiguration": {"level": _LEVELS[finding.severity]},
        "properties": {"tags": ["model-serving"], "problem.severity": _problem(finding.severity)},
    }


def _problem(severity: Severity) -> str:
    return "recommendation" if severity is Severity.INFO else severity.value


def _pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.replace("_", "-").split("-")) or "Rule"


def _help_text(rule: Rule) -> str:
    """A rule's help in plain text."""
    return "\n\n".join(filter(None, (rule.what, rule.why, rule.hint and f"hint: {rule.hint}"))) or rule.summary


def _result(finding: Finding, index: int, fingerprint: str) -> dict[str, Any]:
    text = finding.message
    for label, extra in (("why", finding.why), ("hint", finding.hint)):
        text += f"\n{label}: {extra}" if extra else ""
    properties = {
        "pointer": finding.where.pointer if finding.where else "",
        "verdictLevel": finding.level,
        "witness": finding.witness,
        "proof": finding.proof,
        "plan": list(finding.plan),
    }
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": whole(text) or finding.rule},
        "locations": [_location(finding.where or Location("."))],
        "partialFingerprints": {"interlockFinding/v1": fingerprint},
    }
    if finding.related:
        result["relatedLocations"] = [{"id": i, **_location(place)} for i, place in enumerate(finding.related[:1000])]
    if finding.suppressed is not None:
        result["suppressions"] = [{"kind": "inSource", "justification": whole(finding.suppressed)}]
    if finding.fix is not None and finding.where is not None and finding.fix.edits:
        result["fixes"] = [_fix(finding.fix, finding.where.path)]
    if kept := {key: value for key, value in properties.items() if value}:
        result["properties"] = kept
    return result


def uri(path: str) -> dict[str, str]:
    """An artifactLocation: relative to the working directory where it lies below it, absolute elsewhere."""
    quoted = _quoted(relative(path))
    if quoted.startswith("/"):
        return {"uri": f"file://{quoted}"}
    return {"uri": quoted or ".", "uriBaseId": _ROOT}


@lru_cache(maxsize=1024)
def _quoted(path: str) -> str:
    try:
        return quote(path.encode("utf-8", "surrogateescape"))  # the bytes that the file system has
    except UnicodeEncodeError:
        return quote(path.encode("utf-8", "surrogatepass"))


def _location(where: Location) -> dict[str, Any]:
    region: dict[str, int] = {"startLine": max(1, where.line or 1)}
    if where.line is not None:
        region |= _region(where)
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": uri(where.path), "region": region}}
    if where.object:
        location["logicalLocations"] = [{"fullyQualifiedName": whole(where.object), "kind": "object"}]
    return location


def _region(where: Location) -> dict[str, int]:
    """Columns and end, as far as they are known and make sense: an end before the start is left out."""
    start, column = max(1, where.line or 1), where.column
    region: dict[str, int] = {}
    if column is not None and column >= 1:
        region["startColumn"] = column
    end = where.end_line if where.end_line is not None else start
    if end > start:
        region["endLine"] = end
    if where.end_column is not None and where.end_column >= 1:
        after = end > start or (end == start and where.end_column > (column or 1))
        region |= {"endLine": end, "endColumn": where.end_column} if after else {}
    return region


def _fix(fix: Fix, path: str) -> dict[str, Any]:
    replacements = [
        {
            "deletedRegion": {
                "startLine": edit.line,
                "startColumn": edit.column,
                "endLine": edit.end_line,
                "endColumn": edit.end_column,
            },
            "insertedContent": {"text": whole(edit.text)},
        }
        for edit in fix.edits
    ]
    return {
        "description": {"text": whole(fix.title) or "remove the finding"},
        "artifactChanges": [{"artifactLocation": uri(path), "replacements": replacements}],
    }


def _invocation(report: Report, dropped: int) -> dict[str, Any]:
    notices: list[dict[str, Any]] = []
    if report.error is not None:
        text = str(report.error) + (f"\nhint: {report.error.hint}" if report.error.hint else "")
        notices.append({"level": "error", "message": {"text": whole(text)}})
    if report.unread:
        text = f"{report.unread} of {report.inputs + report.unread} inputs could not be read and were not checked"
        notices.append({"level": "warning", "message": {"text": text}})
    if report.refused:
        notices.append({"level": "error", "message": {"text": whole(report.refused)}})
    if dropped:
        notices.append({"level": "warning", "message": {"text": f"{dropped} results over the limit were left out"}})
    return {
        "executionSuccessful": report.verdict != "error",
        "exitCode": report.exit_code,
        "exitCodeDescription": exits.MEANING[report.exit_code],
        "toolExecutionNotifications": notices,
        "properties": {"verdict": report.verdict, "summary": whole(verdict_line(report))},
    }
