"""The composite action for real: its steps are run one after another with a runner's variables and files."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

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


@dataclass
class Job:
    """What a run of the action left behind."""

    code: int = 0
    log: str = ""
    outputs: dict[str, str] = field(default_factory=dict[str, str])
    summary: str = ""
    uploaded: str = ""


class Runner:
    """Runs a composite action's steps as the hosted runner does, without its network parts."""

    def __init__(self, action: Path, temp: Path) -> None:
        self.action = action
        self.temp = temp
        self.definition = yaml.safe_load(action.read_text())
        (temp / "bin").mkdir()
        # What actions/setup-python puts on the path.
        (temp / "bin" / "python").symlink_to(Path(sys.base_prefix) / "bin" / "python3")

    def run(self, workspace: Path, only: set[str] | None = None, **given: str) -> Job:
        inputs = {name: spec.get("default", "") for name, spec in self.definition["inputs"].items()}
        inputs |= {name.replace("_", "-"): value for name, value in given.items()}
        job, steps = Job(), dict[str, dict[str, str]]()
        summary, output = self.temp / "summary.md", self.temp / "output"
        summary.write_text("")
        for step in self.definition["runs"]["steps"]:
            condition = step.get("if", "${{ true }}")
            if not self._true(condition, inputs, steps):
                continue
            if "uses" in step:
                if "upload-sarif" in step["uses"]:
                    job.uploaded = self._text(step["with"]["sarif_file"], inputs, steps)
                continue
            if only is not None and step["name"] not in only:
                continue
            output.write_text("")
            environment = {
                "PATH": f"{self.temp}/bin:{os.environ['PATH']}",
                "HOME": os.environ["HOME"],
                "RUNNER_TEMP": str(self.temp),
                "GITHUB_ACTIONS": "true",
                "GITHUB_WORKSPACE": str(workspace),
                "GITHUB_ACTION_PATH": str(self.action.parent),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(summary),
                **{k: v for k, v in os.environ.items() if k.startswith("PIP_")},
                **{key: self._text(value, inputs, steps) for key, value in step.get("env", {}).items()},
            }
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=workspace,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            job.log += done.stdout + done.stderr
            steps[step.get("id", "")] = dict(line.split("=", 1) for line in output.read_text().splitlines())
            if done.returncode:
                job.code = done.returncode
                break
        job.outputs = {
            name: self._text(spec["value"], inputs, steps) for name, spec in self.definition["outputs"].items()
        }
        job.summary = summary.read_text()
        return job

    def _value(self, expression: str, inputs: dict[str, str], steps: dict[str, dict[str, str]]) -> str:
        parts = expression.strip().split(".")
        if parts[0] == "inputs":
            return inputs[parts[1]]
        assert parts[0] == "steps" and parts[2] == "outputs", expression
        return steps.get(parts[1], {}).get(parts[3], "")

    def _text(self, text: Any, inputs: dict[str, str], steps: dict[str, dict[str, str]]) -> str:
        return re.sub(r"\$\{\{(.*?)\}\}", lambda match: self._value(match[1], inputs, steps), str(text))

    def _true(self, condition: str, inputs: dict[str, str], steps: dict[str, dict[str, str]]) -> bool:
        body = condition.removeprefix("${{").removesuffix("}}").strip()
        if body == "true":
            return True
        for part in body.split("&&"):
            left, operator, right = part.split()
            equal = self._value(left, inputs, steps) == right.strip("'")
            if equal is not (operator == "=="):
                return False
        return True


@pytest.fixture(scope="module")
def runner(root: Path, tmp_path_factory: pytest.TempPathFactory, require: Callable[[str, str], NoReturn]) -> Runner:
    """The action, with interlock installed by its own script from a copy of this source.

    The dependencies, half a minute of downloads, are lent by the environment that the tests run in; our own CI runs
    the action whole.
    """
    base = tmp_path_factory.mktemp("runner")
    kept = shutil.ignore_patterns(".*", "tests", "docs", "examples", "benchmarks", "build", "*.egg-info", "__pycache__")
    shutil.copytree(root, base / "source", ignore=kept)
    shutil.copytree(root / ".github", base / "source" / ".github")
    (base / "temp").mkdir()
    made = Runner(base / "source/.github/actions/interlock/action.yml", base / "temp")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_DEPS", "1")
        # The script ends by running what it installed, which needs the dependencies only for its commands.
        done = made.run(base, only={"Install interlock"}, extras="")
    (lent,) = (base / "temp/interlock/lib").glob("python*/site-packages")
    (lent / "lent.pth").write_text(sysconfig.get_path("purelib"))
    if done.code:
        require("the package index", f"the action could not install interlock: {done.log[-300:]}")
    assert "interlock 0." in done.log
    return made


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "a b.yaml").write_text(MANIFEST)
    return tmp_path


RUN = {"Run interlock", "Verdict"}


def test_findings_fail_the_job_after_everything_is_written(runner: Runner, workspace: Path) -> None:
    job = runner.run(workspace, RUN, paths="  deploy/a b.yaml\n\n", arguments="--pedantic\n", upload_sarif="true")
    assert job.code == 1 and job.outputs["exit-code"] == "1" and job.outputs["verdict"] == "fail"
    assert int(job.outputs["warnings"]) + int(job.outputs["errors"]) > 0
    assert re.search(r"^::(error|warning) file=deploy/a b\.yaml,line=\d+", job.log, re.MULTILINE)
    assert job.summary.startswith("### ❌ interlock lint")
    assert job.uploaded == job.outputs["sarif-file"]
    location = json.loads(Path(job.uploaded).read_text())["runs"][0]["results"][0]["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "deploy/a%20b.yaml"
    assert json.loads(Path(job.outputs["report"]).read_text())["command"] == "lint"


def test_switches(runner: Runner, workspace: Path) -> None:
    job = runner.run(workspace, RUN, paths="deploy", fail_on="never", annotations="false", summary="false")
    assert job.code == 0 and job.outputs["verdict"] == "pass"
    assert job.summary == "" and job.uploaded == "" and "::warning" not in job.log


def test_nothing_to_check_and_bad_usage_are_told_apart(runner: Runner, workspace: Path) -> None:
    (workspace / "empty").mkdir()
    job = runner.run(workspace, RUN, arguments="empty")
    assert job.code == 3 == int(job.outputs["exit-code"])
    job = runner.run(workspace, RUN, arguments="--no-such-option", upload_sarif="true")
    assert job.code == 2 and job.outputs["verdict"] == "error" and job.uploaded == ""


@pytest.mark.parametrize("command", ["lint; touch owned", "$(touch owned)", "../x", "--help", ""])
def test_a_command_is_a_word(command: str, runner: Runner, workspace: Path) -> None:
    job = runner.run(workspace, RUN, command=command)
    assert job.code == 2 and not (workspace / "owned").exists()


@pytest.mark.parametrize("argument", ["$(touch owned)", "`touch owned`", "deploy; touch owned", "* "])
def test_an_argument_is_data(argument: str, runner: Runner, workspace: Path) -> None:
    job = runner.run(workspace, RUN, arguments=argument)
    assert job.code in (2, 3) and not (workspace / "owned").exists()


@pytest.mark.parametrize(
    "given", [{"version": "1.0; touch owned"}, {"version": "1.0\n::error::x"}, {"extras": "helm]; touch owned"}]
)
def test_install_refuses_what_is_no_version_or_name(given: dict[str, str], runner: Runner, workspace: Path) -> None:
    job = runner.run(workspace, {"Install interlock"}, **given)
    assert job.code == 2 and not (workspace / "owned").exists()
    assert "::error::x" not in job.log
