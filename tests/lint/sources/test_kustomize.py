"""Kustomize folders: built offline, lines led back to base, patch target and generator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.lint.run import lint
from interlock.checks.lint.sources import kustomize
from interlock.checks.lint.sources.text import Unreadable

DEPLOYMENT = """\
apiVersion: v1
kind: Service
metadata:
  name: triton
spec:
  selector: {app: triton}
---
# the server
apiVersion: apps/v1
kind: Deployment
metadata:
  name: triton
spec:
  replicas: 1
  selector:
    matchLabels: {app: triton}
  template:
    metadata:
      labels: {app: triton}
    spec:
      containers:
        # main
        - name: server
          image: nvcr.io/nvidia/tritonserver:latest
          args: ["tritonserver", "--model-repository=/models"]
"""
BASE = "resources: [deployment.yaml]\nconfigMapGenerator:\n  - name: settings\n    literals: [MODEL_ID=x]\n"
PROD = """\
namePrefix: prod-
resources: [../base]
images:
  - name: nvcr.io/nvidia/tritonserver
    newTag: "24.08"
patches:
  - patch: |-
      - op: replace
        path: /spec/replicas
        value: 3
    target: {kind: Deployment}
"""


@pytest.fixture
def overlay(tmp_path: Path, require: Any) -> Path:
    """An overlay with a prefix, an image and a patch over a base with a generator."""
    if kustomize.tool() is None:
        require("kubectl or kustomize", "install one of them")
    for folder, text in (("base", BASE), ("prod", PROD)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "kustomization.yaml").write_text(text)
    (tmp_path / "base" / "deployment.yaml").write_text(DEPLOYMENT)
    return tmp_path / "prod"


def test_lines_lead_back(overlay: Path) -> None:
    found = kustomize.sources(str(overlay))
    assert found.files == [str(overlay.parent / "base" / "deployment.yaml")]
    built = kustomize.build(str(overlay), found)
    assert built.origin is not None
    lines = built.text.split("\n")

    def source(text: str, nth: int = 0) -> tuple[str, str]:
        number = [index for index, line in enumerate(lines, 1) if line.strip() == text][nth]
        assert built.origin is not None
        path, line = built.origin(number)
        return Path(path).parent.name, Path(path).read_text().split("\n")[line - 1].strip()

    assert source("replicas: 3") == ("base", "replicas: 1")
    assert source("image: nvcr.io/nvidia/tritonserver:24.08") == ("base", "image: nvcr.io/nvidia/tritonserver:latest")
    assert source("name: server") == ("base", "- name: server")
    assert source("- tritonserver") == ("base", 'args: ["tritonserver", "--model-repository=/models"]')
    assert source("kind: Service") == ("base", "kind: Service")
    assert source("name: prod-triton", 1) == ("base", "name: triton")
    assert source("MODEL_ID: x") == ("base", "- name: settings")


def test_remote_resources_are_not_fetched(overlay: Path) -> None:
    for remote in ("https://example.com/x.yaml", "github.com/org/repo//base?ref=v1", "git@github.com:org/repo"):
        (overlay / "kustomization.yaml").write_text(f"resources: ['{remote}']\n")
        with pytest.raises(Unreadable, match="nothing is fetched"):
            kustomize.sources(str(overlay))


def test_a_folder_that_does_not_build_is_unreadable(overlay: Path) -> None:
    (overlay / "kustomization.yaml").write_text("resources: [absent.yaml]\n")
    with pytest.raises(Unreadable, match=r"absent\.yaml"):
        kustomize.build(str(overlay), kustomize.sources(str(overlay)))


def test_folders_that_include_each_other_end(overlay: Path) -> None:
    (overlay.parent / "base" / "kustomization.yaml").write_text("resources: [../prod, deployment.yaml]\n")
    assert len(kustomize.sources(str(overlay)).folders) == 2


def test_no_tool_is_said(overlay: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = kustomize.sources(str(overlay))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unreadable, match="no kubectl"):
        kustomize.build(str(overlay), found)


def test_a_named_folder_is_linted_as_it_builds(overlay: Path) -> None:
    base = overlay.parent / "base" / "deployment.yaml"
    base.write_text(DEPLOYMENT.replace('"--model-repository=/models"', '"--model-control-mode=poll"'))

    def found() -> list[tuple[str, str, int | None, str | None]]:
        report = lint([str(overlay)], select=["HU401", "HU603"])
        return [(f.rule, f.where.path, f.where.line, f.suppressed) for f in report.findings if f.where]

    assert found() == [("HU401", str(base), 25, None)], "the overlay's tag counts, and the base's line is named"
    base.write_text(
        base.read_text().replace("          args:", "          # interlock: ignore[HU401] a demo\n          args:")
    )
    assert found() == [("HU401", str(base), 26, "a demo")]


def test_a_folder_that_does_not_build_is_linted_as_written(overlay: Path) -> None:
    (overlay / "kustomization.yaml").write_text("resources: [pod.yaml, https://example.com/x.yaml]\n")
    (overlay / "pod.yaml").write_text(DEPLOYMENT)
    rules = [finding.rule for finding in lint([str(overlay)]).findings]
    assert "HU000" in rules
    assert "HU603" in rules
