"""SARIF as GitHub takes it: exact regions, fingerprints that survive moved lines, limits, the official validator."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from interlock.report import formats, sarif
from interlock.report.finding import Finding, Location, Severity
from interlock.report.identity import fingerprints, relative
from interlock.report.report import Report
from services import sarif_multitool


@pytest.fixture(scope="session")
def validator(root: Path, require: Callable[[str, str], NoReturn]) -> Path:
    return sarif_multitool.install(root, require)


def _finding(**changes: Any) -> Finding:
    base = Finding(rule="HU1", name="a-rule", severity=Severity.ERROR, message="m", where=Location("a.yaml", 3, 5))
    return replace(base, **changes)


def _results(*findings: Finding) -> list[dict[str, Any]]:
    return sarif.document(Report(command="lint", findings=list(findings), inputs=1))["runs"][0]["results"]


def test_official_validator_has_no_error(
    samples: dict[str, Report], validator: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nasty = _finding(rule="x\ny", name="", message="", where=Location("a b/#?%\udcff.yaml", 2, 9, 1, 1), why="\x00")
    reports = {**samples, "nasty": Report(command="lint", findings=[nasty])}
    logs: list[Path] = []
    for number, docs in enumerate(("", "https://docs.example/interlock")):
        monkeypatch.setenv("INTERLOCK_DOCS_URL", docs)
        for name, report in reports.items():
            logs.append(tmp_path / f"{name}-{number}.sarif")
            logs[-1].write_text(formats.render("sarif", report), encoding="utf-8")
    assert sarif_multitool.errors(validator, *logs) == []


def test_official_validator_sees_a_broken_log(validator: Path, tmp_path: Path) -> None:
    document = sarif.document(Report(command="lint", findings=[_finding()], inputs=1))
    del document["runs"][0]["results"][0]["locations"]
    log = tmp_path / "broken.sarif"
    log.write_text(json.dumps(document), encoding="utf-8")
    assert sarif_multitool.errors(validator, log)


def test_region_is_exact_and_end_is_exclusive() -> None:
    (result,) = _results(_finding(where=Location("a.yaml", 3, 5, 4, 2)))
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a.yaml", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 3, "startColumn": 5, "endLine": 4, "endColumn": 2},
    }


@pytest.mark.parametrize(
    "where",
    [Location("a", 3, 5, 2, 9), Location("a", 3, 5, 3, 5), Location("a", 0, 0, 0, 0), Location("a", 3, 5, None, 4)],
)
def test_a_region_that_ends_before_it_starts_is_cut(where: Location) -> None:
    region = _results(_finding(where=where))[0]["locations"][0]["physicalLocation"]["region"]
    assert "endColumn" not in region and "endLine" not in region and region["startLine"] >= 1


def test_results_are_always_there() -> None:
    assert sarif.document(Report(command="lint"))["runs"][0]["results"] == []


def test_fingerprint_survives_moved_lines_but_not_another_object() -> None:
    here = _finding(where=Location("a.yaml", 3, 5, object="Deployment/x", pointer="/spec"))
    moved = _finding(where=Location("a.yaml", 30, 9, object="Deployment/x", pointer="/spec"), message="other words")
    other = _finding(where=Location("a.yaml", 3, 5, object="Deployment/y", pointer="/spec"))
    assert fingerprints([here]) == fingerprints([moved]) != fingerprints([other])
    assert len(set(fingerprints([here, moved, here]))) == 3


def test_paths_are_relative_to_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert relative(f"{tmp_path}/a b.yaml") == relative("./a b.yaml") == "a b.yaml"
    assert sarif.uri(f"{tmp_path}/a b:c.yaml") == {"uri": "a%20b%3Ac.yaml", "uriBaseId": "SRCROOT"}
    assert sarif.uri("a\udcff.yaml")["uri"] == "a%FF.yaml"
    assert sarif.uri("/elsewhere/é") == {"uri": "file:///elsewhere/%C3%A9"}


def test_limit_of_results_keeps_the_worst_and_says_so() -> None:
    notes = [_finding(severity=Severity.INFO, where=Location("a", n + 1)) for n in range(25_000)]
    run = sarif.document(Report(command="lint", findings=[*notes, _finding()], inputs=1))["runs"][0]
    assert len(run["results"]) == 25_000 and run["results"][0]["level"] == "error"
    assert "1 results over the limit" in json.dumps(run["invocations"])


def test_unread_inputs_and_errors_are_notified(sample: tuple[str, Report]) -> None:
    name, report = sample
    (invocation,) = sarif.document(report)["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is (name != "stopped")
    levels = [notice["level"] for notice in invocation["toolExecutionNotifications"]]
    assert levels == {"lint": ["warning"], "stopped": ["error"], "refused": ["error"]}.get(name, [])


def test_suppressed_findings_carry_the_reason(sample: tuple[str, Report]) -> None:
    _, report = sample
    results = sarif.document(report)["runs"][0]["results"]
    reasons = [r["suppressions"][0]["justification"] for r in results if "suppressions" in r]
    assert reasons == [f.suppressed for f in report.findings if f.suppressed is not None]


def test_findings_of_real_manifests_pass_the_official_validator(validator: Path, shared: Path, tmp_path: Path) -> None:
    import interlock

    folder = shared / "corpus" / "lint" / "files"
    log = tmp_path / "corpus.sarif"
    report = interlock.lint([str(folder)], pedantic=True)
    assert len(report.findings) > 100
    log.write_text(formats.render("sarif", report), encoding="utf-8")
    assert sarif_multitool.errors(validator, log) == []
