"""The GitLab job's script and the pre-commit hook, run for real on a folder with one bad manifest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree

import pytest
import yaml

MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:latest
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "deploy").mkdir(parents=True)
    (folder / "deploy" / "a.yaml").write_text(MANIFEST)
    return folder


def _run(command: list[str], cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    here = Path(sys.executable).parent
    keep = {key: os.environ[key] for key in ("HOME", "LANG") if key in os.environ}
    environment = {**keep, "PATH": f"{here}:{os.environ['PATH']}", **more}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_gitlab_job_writes_its_reports(root: Path, workspace: Path) -> None:
    (job,) = yaml.safe_load((root / ".github/gitlab/interlock.yml").read_text()).values()
    install, lint = job["script"]
    assert install.startswith("python -m pip install")
    variables = {**job["variables"], "INTERLOCK_PATHS": "deploy"}
    done = _run(["bash", "-euo", "pipefail", "-c", lint], workspace, **variables)
    assert done.returncode == 1, done.stdout + done.stderr
    for kind, read in (("codequality", json.loads), ("junit", ElementTree.fromstring)):
        file = workspace / job["artifacts"]["reports"][kind]
        assert read(file.read_text(encoding="utf-8"))
        assert file.name in job["artifacts"]["paths"]
    (issue, *_) = json.loads((workspace / "gl-code-quality-report.json").read_text())
    assert issue["location"]["path"] == "deploy/a.yaml" and issue["severity"] in ("major", "critical")


def test_pre_commit_hook_fails_on_a_bad_manifest(
    root: Path, workspace: Path, tmp_path: Path, require: Callable[[str, str], NoReturn]
) -> None:
    if not (Path(sys.executable).parent / "pre-commit").is_file():
        require("pre-commit", "install the development dependencies again: make test does")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    shutil.copy(root / ".pre-commit-hooks.yaml", hooks)
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    for folder in (hooks, workspace):
        for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "x"]):
            assert _run(["git", *words], folder).returncode == 0
    # The hook that builds its own environment differs only in where its interlock comes from.
    command = ["pre-commit", "try-repo", str(hooks), "interlock-lint-system", "--all-files"]
    home = {"PRE_COMMIT_HOME": str(tmp_path / "cache")}
    done = _run(command, workspace, **home)
    assert done.returncode == 1 and "HU603" in done.stdout, done.stdout + done.stderr
    (workspace / "deploy" / "a.yaml").write_text("kind: Nothing\napiVersion: v1\nmetadata: {name: x}\n")
    assert _run(["git", "add", "."], workspace).returncode == 0
    done = _run(command, workspace, **home)
    assert "HU603" not in done.stdout, done.stdout + done.stderr
