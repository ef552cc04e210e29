"""The rendered init container, run for real: same command, same trust files, a registry on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import interlock
import pytest
import yaml
from interlock.templates.run import render


@pytest.fixture
def published(tmp_path: Path) -> tuple[str, str]:
    """A signed model in an OCI layout: (digest, public key)."""
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    (model / "weights.bin").write_bytes(os.urandom(4096))
    interlock.sign(str(model), generate=str(tmp_path / "release"))
    report = interlock.publish(str(model), f"oci-layout:{tmp_path}/registry:1.4.0")
    return report.facts["digest"], (tmp_path / "release.pub").read_text()


def _init_container(objects: list[dict[str, Any]], tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run the init container with its mounts below `tmp_path`."""
    by_kind = {o["kind"]: o for o in objects}
    trust = tmp_path / "trust"
    trust.mkdir(exist_ok=True)
    for name, text in by_kind["ConfigMap"]["data"].items():
        (trust / name).write_text(text)
    (container,) = by_kind["Deployment"]["spec"]["template"]["spec"]["initContainers"]
    words = [*container["command"], *container["args"]]
    words = [word.replace("/models/", f"{tmp_path}/models/").replace("/trust/", f"{trust}/") for word in words]
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    (tmp_path / "models").mkdir(exist_ok=True)
    return subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)


def _values(values: dict[str, Any], tmp_path: Path, digest: str, key: str) -> dict[str, Any]:
    reference = f"oci-layout:{tmp_path}/registry@{digest}"
    return {
        **values,
        "model": {"version": "1.4.0", "reference": reference, "registry_claim": "registry"},
        "trust": {"keys": [key]},
    }


@pytest.mark.parametrize("profile", ["vllm", "triton", "onnxruntime"])
def test_init_container_pulls_and_verifies(
    profile: str, published: tuple[str, str], values: dict[str, Any], tmp_path: Path
) -> None:
    digest, key = published
    objects = list(yaml.safe_load_all(render(profile, values=_values(values, tmp_path, digest, key)).payload))
    for _ in range(2):  # a node that restarts runs it again over the filled volume
        done = _init_container(objects, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        # Triton takes every folder of the repository for a model: nothing else may be left there.
        assert [path.name for path in (tmp_path / "models").iterdir()] == ["vad"]
        assert (tmp_path / "models/vad/weights.bin").read_bytes() == (tmp_path / "model/weights.bin").read_bytes()


def test_init_container_refuses_another_signer(
    published: tuple[str, str], values: dict[str, Any], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "x").write_text("x")
    interlock.sign(str(other), generate=str(tmp_path / "stranger"))
    tree = _values(values, tmp_path, published[0], (tmp_path / "stranger.pub").read_text())
    done = _init_container(list(yaml.safe_load_all(render("triton", values=tree).payload)), tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert not (tmp_path / "models/vad").exists()


def test_init_container_refuses_a_changed_byte(
    published: tuple[str, str], values: dict[str, Any], tmp_path: Path
) -> None:
    digest, key = published
    blob = max((tmp_path / "registry/blobs/sha256").iterdir(), key=lambda path: path.stat().st_size)
    blob.chmod(0o644)
    data = bytearray(blob.read_bytes())
    data[100] ^= 1
    blob.write_bytes(data)
    tree = _values(values, tmp_path, digest, key)
    done = _init_container(list(yaml.safe_load_all(render("triton", values=tree).payload)), tmp_path)
    assert done.returncode in (1, 2), done.stdout + done.stderr
    assert not (tmp_path / "models/vad").exists()
