"""The stable JSON report, schema `interlock.report/1`."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, cast

from ..version import __version__
from .finding import Finding, Location, Severity
from .report import SCHEMA, Report

if TYPE_CHECKING:
    from .formats import View


def render(report: Report, view: View) -> str:
    """The report as indented JSON; keys are always present, empty ones as null or []."""
    del view
    return dumps(document(report), 2)


def dumps(value: Any, depth: int) -> str:
    """JSON that every parser reads, indented down to `depth` levels and one line an item below.

    A finding a line keeps reports readable and fast: an indented dump of everything takes ten times as long. Numbers
    that JSON lacks (NaN, infinities) become null.
    """
    try:
        return _indented(value, depth, "")
    except (ValueError, TypeError):
        # Rare enough to be worth a second pass only now.
        return _indented(_finite(value), depth, "")


_encode = json.JSONEncoder(ensure_ascii=False, default=str, allow_nan=False).encode


def _indented(value: Any, depth: int, pad: str) -> str:
    inner = pad + "  "
    if depth and isinstance(value, dict) and value:
        items = cast("dict[Any, Any]", value).items()
        lines = [f"{inner}{_encode(str(key))}: {_indented(item, depth - 1, inner)}" for key, item in items]
        return "{\n" + ",\n".join(lines) + f"\n{pad}}}"
    if depth and isinstance(value, list | tuple) and value:
        lines = [inner + _indented(item, depth - 1, inner) for item in cast("list[Any]", value)]
        return "[\n" + ",\n".join(lines) + f"\n{pad}]"
    return _encode(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value)
        return {key if isinstance(key, str) else str(key): _finite(item) for key, item in items.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in cast("list[Any]", value)]
    return value


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
        "payload": report.payload or None,
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
        "related": [_place(location) for location in finding.related],
    }
    if finding.level:
        document["level"] = finding.level
    return document


def _place(where: Location) -> dict[str, Any]:
    return {"path": where.path, "line": where.line, "column": where.column, "object": where.object or None}
