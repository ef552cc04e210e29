"""`interlock lint`, `rules` and `explain` as people run them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BAD = Path(__file__).resolve().parent.parent / "corpus" / "lint" / "HU102" / "bad" / "triton-live.yaml"


def interlock(*arguments: str, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "interlock", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=cwd, check=False)


def test_human_output_shows_place_line_and_next_step() -> None:
    done = interlock("lint", str(BAD), "--select", "HU102")
    assert done.returncode == 1
    assert f"{BAD}:19:21: error[HU102]" in done.stdout
    assert "path: /v2/health/live" in done.stdout
    assert "hint: use /v2/health/ready" in done.stdout
    assert done.stdout.rstrip().endswith("lint: 1 error: 1 object in 1 file")
    assert done.stderr == ""


def test_standard_input_and_json() -> None:
    done = interlock("lint", "-", "--output-format", "json", "--select", "HU102", stdin=BAD.read_text())
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert document["summary"]["inputs"] == 1
    (finding,) = document["findings"]
    assert (finding["path"], finding["line"], finding["column"]) == ("<stdin>", 19, 21)
    assert finding["fixable"] is True


def test_fix_of_standard_input_is_refused() -> None:
    done = interlock("lint", "-", "--fix", stdin=BAD.read_text())
    assert done.returncode == 2
    assert "standard input" in done.stderr


def test_diff_is_all_that_goes_to_stdout() -> None:
    done = interlock("lint", str(BAD), "--diff", "--select", "HU102")
    assert done.returncode == 1
    assert done.stdout.startswith("--- ")
    assert "lint: 1 error" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["lint", "absent.yaml"], 2),
        (["lint", "--select", "HU9"], 2),
        (["lint", "--since", "HEAD"], 2),
        (["lint", "--baseline", "absent.json"], 2),
        (["lint", "."], 3),
        (["lint", "--fail-on", "sometimes"], 2),
        (["explain", "HU999"], 2),
        (["rules", "XX"], 2),
        (["explain", "HU103", "liveness-kills-load", "HU7"], 0),
        (["rules"], 0),
    ],
)
def test_exit_codes_without_traceback(tmp_path: Path, arguments: list[str], code: int) -> None:
    done = interlock(*arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    if code == 2:
        assert done.stderr.startswith("error: ")
        assert "hint: " in done.stderr


def test_settings_of_the_project_count(tmp_path: Path) -> None:
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "a.yaml").write_text(BAD.read_text())
    (tmp_path / "interlock.yaml").write_text("lint:\n  paths: [deploy]\n  severity: {HU102: info}\n")
    done = interlock("lint", "--output-format", "concise", cwd=tmp_path)
    assert done.returncode == 0
    assert "info HU102" in done.stdout
    (tmp_path / "interlock.yaml").write_text("lint:\n  severity: {HU999: info}\n")
    assert interlock("lint", cwd=tmp_path).returncode == 2


def test_rules_and_explain_say_everything_as_json() -> None:
    document = json.loads(interlock("rules", "HU1", "--output-format", "json").stdout)
    rules = {rule["id"]: rule for rule in document["facts"]["rules"]}
    assert rules["HU102"]["fix"] == "safe"
    text = interlock("explain", "HU102").stdout
    for part in (
        "process-level-readiness",
        "Why it bites",
        "readinessProbe:",
        "Not reported",
        "interlock: ignore[HU102]",
    ):
        assert part in text


def test_one_yaml_file_loads_no_other_source() -> None:
    code = (
        "import sys; from interlock.checks.lint.run import lint; lint([sys.argv[1]]);"
        "print('\\n'.join(m.removeprefix('interlock.checks.lint.') for m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(BAD)], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "sources.kubernetes" in loaded
    for absent in ("sources.promql", "promql_parser", "hu1_fake_ready.hu108_constant_health"):
        assert absent not in loaded
