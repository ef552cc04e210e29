"""GitHub annotations within the platform's limits: ten of a kind, the worst first, nothing lost from the log."""

from __future__ import annotations

import pytest
from interlock.report import formats
from interlock.report.errors import BadInput
from interlock.report.finding import Finding, Location, Severity
from interlock.report.report import Report, failed


def _finding(n: int, severity: Severity = Severity.ERROR, **where: int) -> Finding:
    return Finding(rule="R1", name="r", severity=severity, message=f"m{n}", where=Location("a.yaml", **where))


def _lines(report: Report, kind: str) -> list[str]:
    return [line for line in formats.render("github", report).splitlines() if line.startswith(f"::{kind} ")]


def test_ten_of_a_kind_and_the_rest_in_the_log() -> None:
    findings = [_finding(n, severity) for severity in Severity for n in range(12)]
    report = Report(command="lint", findings=findings, inputs=1)
    assert [len(_lines(report, kind)) for kind in ("error", "warning", "notice")] == [10, 10, 10]
    text = formats.render("github", report)
    assert all(text.count(f"m{n}") == 3 for n in (10, 11)) and "over the limit" in text


def test_an_error_or_refusal_takes_one_of_the_ten() -> None:
    report = Report(command="gate", findings=[_finding(n) for n in range(12)], inputs=1, refused="no evidence")
    lines = _lines(report, "error")
    assert len(lines) == 10 and lines[0] == "::error title=interlock gate::no evidence"
    assert _lines(failed("lint", BadInput("x", "bad", hint="y")), "error") == [
        "::error title=interlock lint::x: bad%0Ahint: y"
    ]


def test_columns_only_where_the_range_is_on_one_line() -> None:
    one = Report(command="lint", findings=[_finding(1, line=3, column=5, end_line=3, end_column=9)], inputs=1)
    assert _lines(one, "error")[0].startswith("::error file=a.yaml,line=3,endLine=3,col=5,endColumn=9,title=R1 r::")
    two = Report(command="lint", findings=[_finding(1, line=3, column=5, end_line=4, end_column=9)], inputs=1)
    assert _lines(two, "error")[0].startswith("::error file=a.yaml,line=3,endLine=4,title=R1 r::")


def test_suppressed_findings_are_not_annotated() -> None:
    from dataclasses import replace

    report = Report(command="lint", findings=[replace(_finding(1), suppressed="known")], inputs=1)
    assert formats.render("github", report) == "lint: nothing found in 1 input (1 suppressed)\n"


@pytest.mark.parametrize("length", [10, 5000, 100_000])
def test_a_long_message_is_cut_with_a_sign(length: int) -> None:
    report = Report(
        command="lint", findings=[Finding(rule="R", name="r", severity=Severity.ERROR, message="x" * length)], inputs=1
    )
    (line,) = _lines(report, "error")
    assert len(line) < 4200 and line.endswith("…") == (length > 4096)
