"""`lint`: the verb. Reads, judges, and hands back a report."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence

from ...config.load import Config, load
from ...report.finding import Finding, Severity
from ...report.report import Report, ordered
from .collect import Inputs, collect
from .engine import analyse
from .hu0_run.hu000_notice import RULE as NOTICE
from .selection import choose, severities
from .sources.table import Options
from .sources.text import Unreadable


def lint(
    paths: Sequence[str] = (),
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    pedantic: bool = False,
    strict: bool = False,
    fail_on: Severity | None = Severity.WARNING,
    settings: Config | None = None,
    options: Options | None = None,
) -> Report:
    """Find the seven anti-patterns below `paths` (`-` is standard input), or below `lint.paths` of the settings.

    Raises BadInput on a path that does not exist or an unknown rule. What cannot be read is a notice in the report.
    """
    settings = settings or load()
    rules = settings.settings.lint
    selection = choose(select or rules.select, [*ignore, *rules.ignore], pedantic=pedantic or rules.pedantic)
    levels = severities(rules.severity)
    collecting = gc.isenabled()
    gc.disable()  # a run only allocates; the collector would walk all of it again and again
    try:
        inputs = collect(_paths(paths, settings), rules.exclude, options)
        findings, ran, _ = analyse(inputs, selection, rules, levels)
    finally:
        if collecting:
            gc.enable()
    findings.extend(_notice(path, reason) for path, reason in [*inputs.unread, *inputs.notices])
    report = Report(
        command="lint",
        findings=ordered(findings),
        inputs=inputs.count,
        unread=len(inputs.unread),
        strict=strict,
        fail_on=fail_on,
        rules=tuple(ran),
    )
    report.facts = {"files": len(inputs.files), "objects": len(inputs.resources), "rules": len(ran)}
    report.headline = _headline(report, inputs)
    return report


def _paths(paths: Sequence[str], config: Config) -> list[str]:
    if paths:
        return list(paths)
    configured = [str(config.resolve(path)) for path in config.settings.lint.paths]
    return configured or ["."]


def _notice(path: str, reason: Unreadable) -> Finding:
    from ...report.finding import Location

    where = Location(path, reason.line, reason.column)
    return Finding(
        rule=NOTICE.id, name=NOTICE.name, severity=NOTICE.severity, message=reason.reason, where=where,
        hint=reason.hint, url=NOTICE.url,
    )  # fmt: skip


def _headline(report: Report, inputs: Inputs) -> str:
    if not inputs.count and not inputs.unread:
        return "lint: nothing to check: no Kubernetes object, model repository or serving code found"
    counts = [
        _count(report.count(severity), severity.value)
        for severity in (Severity.ERROR, Severity.WARNING)
        if report.count(severity)
    ]
    seen = f"{_count(inputs.count, 'object')} in {_count(len(inputs.files), 'file')}"
    unread = f", {report.unread} unread" if report.unread else ""
    return f"lint: {', '.join(counts) or 'clean'}: {seen}{unread}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
