"""A small project with two versions, a registry and two stages; everything real, nothing mocked."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from interlock.config.load import load
from interlock.release.desk import Desk, open_desk
from interlock.release.run import gate, promote, publish
from interlock.report.report import Report

STAGES = """
  staging: {gates: [lint]}
  prod: {from: staging, gates: [lint], serving: {directory: served}}
"""


@dataclass
class Project:
    """A folder with model/ (version one), next/ (version two) and interlock.yaml."""

    root: Path
    one: str = ""
    two: str = ""

    @property
    def config(self) -> str:
        return str(self.root / "interlock.yaml")

    @property
    def layout(self) -> Path:
        return self.root / "registry"

    @property
    def place(self) -> str:
        return f"oci-layout:{self.layout}"

    @property
    def served(self) -> Path:
        return self.root / "served"

    def write(self, stages: str = STAGES, extra: str = "", registry: str = "oci-layout:registry") -> None:
        """Write interlock.yaml."""
        text = f"name: tiny\nmodel: model\nregistry: {registry}\n{extra}\nlint: {{paths: [deploy]}}\nstages:{stages}"
        Path(self.config).write_text(text, encoding="utf-8")

    def publish(self) -> None:
        """Both versions, under the tags 1.0 and 2.0."""
        self.one = publish(str(self.root / "model"), f"{self.place}:1.0", config=self.config).facts["digest"]
        self.two = publish(str(self.root / "next"), f"{self.place}:2.0", config=self.config).facts["digest"]

    def judge(self, *versions: str, stage: str = "staging") -> None:
        """Evidence of passed gates, which counts for every stage that asks for the same."""
        for version in versions:
            passed(gate(stage, version, config=self.config))

    def desk(self, stage: str = "prod") -> Desk:
        return open_desk(stage, load(self.config))

    def pointer(self) -> dict[str, Any]:
        path = self.served / "version.json"
        return json.loads(path.read_bytes()) if path.exists() else {}

    def cli(self, *args: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """The command line in this folder."""
        command = [sys.executable, "-m", "interlock", *args]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.root, timeout=120, **options)


def tree(folder: Path) -> dict[str, bytes]:
    """Relative path to bytes of every file."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def drafts(folder: Path) -> list[Path]:
    """What a run left half done."""
    return list(folder.rglob(".draft-*"))


def passed(report: Report) -> Report:
    """The report of a run that must have passed."""
    assert report.exit_code == 0, (report.headline, report.refused, report.error)
    return report


def said(report: Report) -> str:
    """All that a report has to say against something."""
    return "; ".join([report.refused, *(f"{f.message} ({f.hint})" for f in report.findings)])


def make_model(folder: Path, seed: int, size: int = 4096) -> None:
    """A directory with a weights file, a configuration, a nested file and an empty one."""
    (folder / "sub").mkdir(parents=True)
    (folder / "weights.bin").write_bytes(bytes((seed * 7 + i * 31) % 251 for i in range(size)))
    (folder / "config.json").write_text(json.dumps({"seed": seed}))
    (folder / "sub" / "README.md").write_text("the same in both versions\n")
    (folder / "empty.txt").write_bytes(b"")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An unpublished project."""
    made = Project(tmp_path)
    make_model(tmp_path / "model", 1)
    make_model(tmp_path / "next", 2)
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "service.yaml").write_text(
        "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {selector: {app: a}, ports: [{port: 80}]}\n"
    )
    made.write()
    return made


@pytest.fixture
def published(project: Project) -> Project:
    """A project with both versions published."""
    project.publish()
    return project


@pytest.fixture
def judged(published: Project) -> Project:
    """A project whose two versions passed the gates."""
    published.judge("1.0", "2.0")
    return published


@pytest.fixture
def live(judged: Project) -> Project:
    """A project whose first version is in both stages, and whose second is in staging."""
    for version, stage in (("1.0", "staging"), ("1.0", "prod"), ("2.0", "staging")):
        passed(promote(version, stage, config=judged.config))
    return judged


@pytest.fixture
def helpers() -> Any:
    """What the tests of this room share."""

    class Helpers:
        tree = staticmethod(tree)
        drafts = staticmethod(drafts)
        passed = staticmethod(passed)
        said = staticmethod(said)
        make_model = staticmethod(make_model)

    return Helpers
