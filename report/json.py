"""The stable JSON report, schema `interlock.report/1`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..version import __version__
from .finding import Finding, Location, Severity
from .report import SCHEMA, Report

if TYPE_CHECKING:
    from .formats import View


def render(report: Report, view: View) -> str:
    """The report as indented JSON; keys are always present, empty ones as null or []."""
    del view
    return json.dumps(document(report), indent=2, ensure_ascii=False, default=str)


def document(report: Report) -> dict[str, Any]:
    """The JSON document as Python data."""
    error = report.error
    return {
        "schema": SCHEMA,
        "command": report.command,
        "tool": {"name": "interlock", "version": __version__},
        "verdict": report.verdict,
        "exit_code": report.exit_code,
        "summary": {
            **{severity.value: report.count(severity) for severity in Severity},
            "suppressed": report.suppressed,
            "inputs": report.inputs,
            "unread": report.unread,
        },
        "refused": report.refused or None,
        "error": None
        if error is None
        else {
            "what": error.what,
            "reason": error.reason,
            "code": error.code or None,
            "line": error.line,
            "column": error.column,
            "hint": error.hint or None,
        },
        "findings": [finding_document(finding) for finding in report.findings],
        "facts": report.facts,
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    """One finding, flat."""
    where = finding.where or Location("")
    document: dict[str, Any] = {
        "rule": finding.rule,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        "path": where.path or None,
        "line": where.line,
        "column": where.column,
        "end_line": where.end_line,
        "end_column": where.end_column,
        "object": where.object or None,
        "pointer": where.pointer or None,
        "why": finding.why or None,
        "hint": finding.hint or None,
        "url": finding.url or None,
        "fixable": finding.fix is not None,
        "suppressed": finding.suppressed,
        "witness": finding.witness,
        "proof": finding.proof or None,
        "plan": list(finding.plan),
    }
    if finding.level:
        document["level"] = finding.level
    return document
