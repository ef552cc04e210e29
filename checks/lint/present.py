"""What a lint report says besides its findings: the verdict line, statistics, and the files it read."""

from __future__ import annotations

from collections import Counter

from ...report.blocks import Block, Table
from ...report.finding import Severity
from ...report.report import Report
from .collect import Inputs


def headline(report: Report, inputs: Inputs) -> str:
    """The one-line verdict."""
    if not inputs.count and not inputs.unread:
        return "lint: nothing to check: no Kubernetes object, model repository or serving code found"
    levels = (Severity.ERROR, Severity.WARNING)
    counts = [plural(report.count(level), level.value) for level in levels if report.count(level)]
    made = "fixes to make" if report.payload else "fixes made"
    extras = [f"{report.facts['fixed']} {made}"] if report.facts["fixed"] else []
    extras += [f"{report.suppressed} suppressed"] if report.suppressed else []
    extras += [f"{report.unread} unread"] if report.unread else []
    seen = f"{plural(inputs.count, 'object')} in {plural(len(inputs.files), 'file')}"
    verdict = ", ".join(counts) or "clean"
    if report.unread and not counts:
        verdict = "nothing found in what could be read" if inputs.count else "nothing could be read"
    return f"lint: {verdict}: {', '.join([seen, *extras])}"


def plural(number: int, what: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def sections(report: Report, inputs: Inputs, *, statistics: bool, files: bool) -> list[Block]:
    """The tables asked for."""
    blocks: list[Block] = []
    if statistics:
        counts = Counter((f.rule, f.name, f.severity.value) for f in report.findings if f.suppressed is None)
        rows = [(str(number), *key) for key, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
        blocks.append(Table(("count", "rule", "name", "severity"), rows, "Statistics", frozenset({"count"})))
    if files:
        objects = Counter(resource.path for resource in inputs.resources)
        for subjects in inputs.subjects.values():
            objects.update(subject.path for subject in subjects)
        unread = {path for path, _ in inputs.unread}
        listed = sorted({file.path for file in inputs.files} | unread)
        rows = [(path, str(objects[path]), "unread" if path in unread else "") for path in listed]
        blocks.append(Table(("file", "objects", ""), rows, "Files", frozenset({"objects"})))
    return blocks
