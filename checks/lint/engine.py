"""Runs rules over what was read. Pure: the same inputs and rules give the same findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...config.settings import Lint
from ...report.finding import Finding, Severity
from ...report.rule import Rule
from .collect import Inputs
from .index import Index
from .registry import Check
from .rulebase import KINDS, Context
from .selection import Selection
from .sources.gotemplate import unmarked
from .sources.text import Unreadable


def analyse(
    inputs: Inputs, selection: Selection, settings: Lint, severities: dict[str, Severity]
) -> tuple[list[Finding], list[Rule], Index]:
    """All findings in no particular order, the rules that ran, and the index they used."""
    index = Index(inputs.resources, inputs.subjects)
    context = Context(index, settings, severities, selection.pedantic)
    findings: list[Finding] = []
    ran: dict[str, Rule] = {}
    for kind in KINDS:
        subjects = _subjects(kind, inputs, index)
        if not subjects:
            continue
        checks = _checks(kind, selection, ran)
        for subject in subjects:
            try:
                findings.extend(_found(subject, checks, context))
            except (Unreadable, RecursionError) as error:
                deep = Unreadable("nested too deeply to judge")
                inputs.unread.append((subject.path, error if isinstance(error, Unreadable) else deep))
                inputs.others -= 1 if kind in inputs.subjects else 0
            finally:
                if kind == "python":
                    subject.release()
    return _judged(findings, inputs), list(ran.values()), index


# What these rules look for is written down even in a template that is not rendered; the others look for what is absent
# or follow values that only rendering gives.
_ON_TEMPLATES = frozenset(
    ("HU101", "HU102", "HU103", "HU109", "HU202", "HU303", "HU401", "HU403", "HU602", "HU603", "HU604", "HU701")
)


def _judged(findings: list[Finding], inputs: Inputs) -> list[Finding]:
    """Findings that stand in templates too; a fix cannot be made in text that is not the file's own."""
    templates, derived = set[str](), set[str]()
    for resource in inputs.resources:
        file = resource.document.file
        if file.template:
            templates.add(file.path)
        elif file.origin is not None:
            derived.add(resource.at_map(resource.root).path)
    if not templates and not derived:
        return findings
    result: list[Finding] = []
    for finding in findings:
        path = finding.where.path if finding.where else ""
        if path in templates and finding.rule not in _ON_TEMPLATES:
            continue
        if path in templates or path in derived:
            finding = replace(finding, fix=None, message=unmarked(finding.message))  # noqa: PLW2901
        result.append(finding)
    return result


def _found(subject: Any, checks: list[Check], context: Context) -> list[Finding]:
    """What the rules say about one subject. Raises Unreadable where it turns out not to be what its name says."""
    findings: list[Finding] = []
    for check in checks:
        findings.extend(check(subject, context) or ())
    return findings


def _subjects(kind: str, inputs: Inputs, index: Index) -> Iterable[Any]:
    if kind == "pod":
        return [pod for pod in index.pods if index.servers(pod)]
    if kind == "kubernetes":
        return inputs.resources
    if kind == "document":
        return inputs.documents
    if kind == "index":
        return [index] if inputs.count else []
    return inputs.subjects.get(kind, [])


def _checks(kind: str, selection: Selection, ran: dict[str, Rule]) -> list[Check]:
    checks: list[Check] = []
    for entry in selection.entries:
        if kind not in entry.reads:
            continue
        rule = entry.load()
        if rule.pedantic and not selection.pedantic and rule.id not in selection.explicit:
            continue
        ran[rule.id] = rule
        checks.append(entry.check(kind))
    return checks
