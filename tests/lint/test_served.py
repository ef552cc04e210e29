"""What paths say: versions, staging places, and what Python code is known to write to."""

from __future__ import annotations

import ast

import pytest
from interlock.checks.lint.hu3_frozen_graph.versioned import path_is_versioned
from interlock.checks.lint.hu4_non_atomic.mentions import COPIES
from interlock.checks.lint.hu4_non_atomic.pypaths import describe
from interlock.checks.lint.hu6_unverified_artefact.references import is_versioned
from interlock.checks.lint.paths import has_version, is_test
from interlock.checks.lint.served import CONVENTIONAL, STAGING, inside
from interlock.checks.lint.sources.python import PythonFile
from interlock.checks.lint.sources.text import TextFile


@pytest.mark.parametrize(
    "path",
    [
        "/models/ranker/3", "/models/ranker/v2", "/models/v1.2.0/x", "/models/2024-11-03/x", "/models/20241103",
        "hub/snapshots/0123abc", "/m/sha256-0123456789ab", "/m/ranker@0123456789ab", "/m/ranker-v2",
        "/m/$(MODEL_VERSION)", "/m/${GIT_SHA}", "/m/$REVISION", "s3://b/m/{version}/x", "s3://b/<DIGEST>",
        "/m/${{ github.sha }}", "/m/ranker-1.0.2", "/m/ranker-20241103/x", "/m/release-7/x", "/m/2024-11-03.tar",
    ],
)  # fmt: skip
def test_versioned(path: str) -> None:
    assert has_version(path)
    assert path_is_versioned(path)
    assert is_versioned(path if "://" in path else "s3://bucket" + path)


@pytest.mark.parametrize(
    "path",
    [
        "/models/ranker",
        "/models/llama-3.1-8b",
        "/data/Qwen2.5-7B",
        "/root/.cache/huggingface",
        "s3://b/${MODEL_NAME}",
        "/models/DeepSeek-R1",
        "/",
    ],
)
def test_not_versioned(path: str) -> None:
    assert not has_version(path)
    assert not path_is_versioned(path)


def test_staging_and_conventional_places() -> None:
    for path in ("/m/.tmp", "/m/ranker.tmp", "/m/staging/x", "/m/incoming-x", "$TMPDIR/x", "{mkdtemp}/x"):
        assert STAGING.search(path), path
    for path in ("/m/template", "/models/newton", "/m/attempt"):
        assert not STAGING.search(path), path
    for path in ("/x/model_repository", "/x/model-store/y", "/mnt/models/y", "{MODEL_REPOSITORY}", "{serving_dir}/x"):
        assert CONVENTIONAL.search(path), path
    for path in ("/models/x", "checkpoints/last.pt", "/home/me/modelling"):
        assert not CONVENTIONAL.search(path), path


def test_inside() -> None:
    assert inside("/a/b", "/a")
    assert inside("/a", "/a")
    assert not inside("/ab", "/a")


def test_test_files() -> None:
    for path in ("qa/L0_x/run.sh", "a/tests/x.py", "a/test_x.py", "a/x_test.py", "a/test.sh", "e2e/b/x.yaml"):
        assert is_test(path), path
    for path in ("deploy/run.sh", "latest/x.py", "a/contest.py", "tests/a/b/c/d/x.py"):
        assert not is_test(path), path


def test_every_copying_tool_passes_the_cheap_test() -> None:
    from interlock.checks.lint.hu4_non_atomic import copies

    for tool in copies._TOOLS:
        assert COPIES.search(f"sudo {tool} x"), tool


def test_python_paths_are_described() -> None:
    source = """
import os
from pathlib import Path
ROOT = "/models"
def f(version, name):
    here = os.path.join(ROOT, "ranker")
    twice = "a"
    twice = "b"
    use(here, f"{here}/{version}/m.pt", Path(ROOT) / "x" / name, os.environ["REPO"] + "/y", os.getenv("DIR", "z"),
        twice, self.target, str(Path("/a").joinpath("b", "..", "c")))
"""
    file = PythonFile(TextFile("a.py", source), ast.parse(source))
    call = next(call for name, call in file.calls if name == "use")
    assert [describe(file, argument) for argument in call.args] == [
        "/models/ranker", "/models/ranker/{version}/m.pt", "/models/x/{name}", "{REPO}/y", "{DIR}", "{twice}",
        "{target}", "/a/c",
    ]  # fmt: skip
