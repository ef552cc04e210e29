"""`lint`: the verb. Reads, judges, and hands back a report."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from ...config.load import Config, load
from ...report.finding import Finding, Location, Severity
from ...report.report import Report, ordered
from ...report.rule import Rule
from . import baseline as baselines
from . import fixer, suppress
from .collect import Inputs, collect
from .engine import analyse
from .hu0_run.hu000_notice import RULE as NOTICE
from .present import headline, sections
from .selection import Selection, choose, ignored, severities
from .sources.table import Options
from .sources.text import Unreadable

_PASSES = 6
"""Fixes that overlap are done one after the other; a rule whose fix does not remove its finding stops here."""


@dataclass(frozen=True)
class _Setup:
    chosen: Selection
    settings: Config
    options: Options


@dataclass
class _Result:
    findings: list[Finding]
    inputs: Inputs
    rules: list[Rule]


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
    baseline: str = "",
    update_baseline: bool = False,
    since: str = "",
    fix: bool = False,
    unsafe_fixes: bool = False,
    diff: bool = False,
    statistics: bool = False,
    show_files: bool = False,
) -> Report:
    """Find the seven anti-patterns below `paths` (`-` is standard input), or below `lint.paths` of the settings.

    `fix` rewrites files; `diff` shows in the report's payload what that would write, with the findings as they are now.
    `baseline` names a file of accepted findings and `since` a Git revision whose findings do not count. What cannot be
    read is a notice.
    Raises BadInput on a path that does not exist, an unknown rule, a broken baseline or an unknown revision.
    """
    settings = settings or load()
    rules = settings.settings.lint
    selection = choose(select or rules.select, [*ignore, *rules.ignore], pedantic=pedantic or rules.pedantic)
    setup = _Setup(selection, settings, options or Options())
    targets = _paths(paths, settings)
    drafts = fixer.Drafts()
    result = last = _pass(targets, setup, drafts)
    fixed = 0
    for _ in range(_PASSES if fix or diff else 0):
        done = drafts.fix(last.findings, unsafe=unsafe_fixes)
        fixed += done
        if not done:
            break
        last = _pass(targets, setup, drafts)
    if fix and not diff:
        drafts.write()
        result = last
    findings, facts = result.findings, {"files": len(result.inputs.files), "objects": len(result.inputs.resources)}
    if since:
        findings = _since(since, targets, findings, setup)
    file = baseline or (str(settings.resolve(rules.baseline)) if rules.baseline else "")
    if update_baseline:
        facts["baseline"] = baselines.write(file or ".interlock-baseline.json", findings)
        file = file or ".interlock-baseline.json"
    if file:
        findings, facts["baseline_unused"] = baselines.apply(findings, baselines.read(file), baselines.root_of(file))
    report = Report(
        command="lint",
        findings=ordered(findings),
        inputs=result.inputs.count,
        unread=len(result.inputs.unread),
        strict=strict,
        fail_on=fail_on,
        rules=tuple(result.rules),
        facts={**facts, "rules": len(result.rules), "fixed": fixed},
        payload=drafts.diff() if diff else "",
    )
    report.body = sections(report, result.inputs, statistics=statistics, files=show_files)
    report.headline = headline(report, result.inputs)
    return report


def _pass(paths: list[str], setup: _Setup, drafts: fixer.Drafts) -> _Result:
    """Read and judge once, suppressions applied; of files with drafts, the drafts."""
    rules = setup.settings.settings.lint
    collecting = gc.isenabled()
    gc.disable()  # a run only allocates; the collector would walk all of it again and again
    try:
        inputs = collect(paths, rules.exclude, setup.options, drafts.read)
        findings, ran, _ = analyse(inputs, setup.chosen, rules, severities(rules.severity))
    finally:
        if collecting:
            gc.enable()
    findings, complaints = suppress.apply(
        findings, inputs, ignored(rules.per_path), [rule.id for rule in ran], date.today()
    )
    if any(entry.id == NOTICE.id for entry in setup.chosen.entries):
        findings.extend(_notice(path, note) for path, note in [*inputs.unread, *inputs.notices, *complaints])
    return _Result(findings, inputs, ran)


def _paths(paths: Sequence[str], config: Config) -> list[str]:
    if paths:
        return list(paths)
    configured = [str(config.resolve(path)) for path in config.settings.lint.paths]
    return configured or ["."]


def _notice(path: str, note: Unreadable) -> Finding:
    return Finding(
        rule=NOTICE.id,
        name=NOTICE.name,
        severity=NOTICE.severity,
        message=note.reason,
        where=Location(path, note.line, note.column),
        hint=note.hint,
        url=NOTICE.url,
    )


def _since(revision: str, paths: list[str], findings: list[Finding], setup: _Setup) -> list[Finding]:
    """The findings that the tree at `revision` does not have."""
    from .since import checkout

    with checkout(revision, paths) as earlier:
        found = _pass(earlier.paths, setup, fixer.Drafts()).findings if earlier.paths else []
        return baselines.subtract(findings, earlier.count(found), earlier.root)
