"""Doctor says what runs, what is missing and how to get it."""

from __future__ import annotations

import pytest
from interlock.bench import doctor, runtime
from interlock.report import formats
from interlock.report.errors import BadInput


def test_this_machine() -> None:
    found = doctor.doctor()
    assert "cpu" in found.facts["onnxruntime"]["runs"]
    extras = {package["extra"] for package in found.facts["packages"]}
    assert {"cpu", "gpu", "tokenizers", "helm", "pkcs11", ""} <= extras
    assert {tool["name"] for tool in found.facts["tools"]} >= {"helm", "kubectl", "docker-registry"}
    assert all(each["version"] or each["get"] for each in (*found.facts["packages"], *found.facts["tools"]))
    for name in formats.NAMES:
        formats.render(name, found)


def test_without_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise BadInput("onnxruntime", "not installed", hint=runtime.GET_CPU)

    monkeypatch.setattr(runtime, "onnxruntime", absent)
    monkeypatch.setattr(runtime, "distributions", dict)
    found = doctor.doctor()
    assert found.exit_code == 0  # absent is no failure
    assert "runs on nothing yet" in found.headline
    assert runtime.GET_CPU in formats.render("human", found)


def test_two_wheels_in_one_folder_are_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "distributions", lambda: {"onnxruntime": "1.32.0", "onnxruntime-gpu": "1.31.1"})
    found = doctor.doctor()
    assert "DOC-CONFLICT" in {finding.rule for finding in found.findings}
    assert found.exit_code == 1


def test_a_program_that_does_not_run(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "helm"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    tool = doctor._tool("helm", ("version",), "lint", "somewhere")
    assert "unknown" in tool["version"]
    assert doctor._tool("kubectl", (), "", "somewhere")["version"] == ""
