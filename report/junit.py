"""JUnit XML as Jenkins, GitLab and Azure read it: a rule that ran is a test case, a finding that fails is a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from .concise import place
from .finding import Finding
from .report import Report
from .style import printable
from .summary import verdict_line

if TYPE_CHECKING:
    from .formats import View


def render(report: Report, view: View) -> str:
    """One suite. Findings below the failing severity pass with output, suppressed ones are skipped with the reason."""
    del view
    cases = [_case(finding, report) for finding in report.findings]
    seen = {finding.rule for finding in report.findings}
    cases += [_element("testcase", name=rule.name, classname=rule.id) for rule in report.rules if rule.id not in seen]
    if report.error is not None:
        detail = _element("error", _text(str(report.error), report.error.hint), message=report.error.reason)
        cases.append(_element("testcase", detail, name="run", classname=report.command))
    elif report.refused:
        detail = _element("failure", _text(report.refused), message=report.refused)
        cases.append(_element("testcase", detail, name="gate", classname=report.command))
    elif report.strict and report.unread:
        detail = _element("error", message=f"{report.unread} inputs could not be read")
        cases.append(_element("testcase", detail, name="inputs", classname=report.command))
    elif not cases:
        # A suite without cases counts as "no tests ran" and fails the job in most readers, as it should.
        cases = [_element("testcase", name="run", classname=report.command)] if report.inputs else []
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum("<failure" in case for case in cases)),
        "errors": str(sum("<error" in case for case in cases)),
        "skipped": str(sum("<skipped" in case for case in cases)),
    }
    verdict = _element("system-out", escape(printable(verdict_line(report))))
    suite = _element(
        "testsuite", "".join(f"\n{case}" for case in [*cases, verdict]) + "\n", name=report.command, **counts
    )
    suites = _element("testsuites", f"\n{suite}\n", name="interlock", **counts)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{suites}'


def _case(finding: Finding, report: Report) -> str:
    where = finding.where
    name = ": ".join(filter(None, (place(where), where.object if where else "", finding.message)))
    if finding.suppressed is not None:
        detail = _element("skipped", message=finding.suppressed)
    elif report.fails(finding):
        text = _text(finding.message, finding.why, finding.hint)
        detail = _element("failure", text, message=finding.message, type=finding.severity.value)
    else:
        detail = _element("system-out", _text(finding.severity.value, finding.message, finding.hint))
    extra = {}
    if where is not None and where.path:
        extra = {"file": where.path} | ({"line": str(where.line)} if where.line is not None else {})
    return _element("testcase", detail, name=name, classname=finding.rule, **extra)


def _element(tag: str, content: str = "", **attributes: str) -> str:
    listed = "".join(f" {key}={quoteattr(printable(value))}" for key, value in attributes.items())
    return f"<{tag}{listed}>{content}</{tag}>" if content else f"<{tag}{listed}/>"


def _text(*lines: str) -> str:
    """Lines as XML text; characters that XML forbids are shown as escapes."""
    return escape("\n".join(printable(line) for line in lines if line))
