"""Where registry logins come from, and that broken files are said to be broken."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from interlock.release.credentials import credentials_for
from interlock.report.errors import NeedsAccess


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: Any) -> Path:
    """An empty $DOCKER_CONFIG, and nothing of the user's own."""
    for name in ("REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    return tmp_path


def auth(text: str) -> dict[str, str]:
    return {"auth": base64.b64encode(text.encode()).decode()}


def write(folder: Path, tree: Any, name: str = "config.json") -> None:
    (folder / name).write_text(json.dumps(tree))


def helper(folder: Path, monkeypatch: Any, script: str) -> None:
    program = folder / "docker-credential-test"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_no_file_no_login(docker: Path) -> None:
    assert credentials_for("example.org") is None
    write(docker, {})
    assert credentials_for("example.org") is None


def test_logins_by_host(docker: Path) -> None:
    auths = {
        "example.org": auth("me:a:b"),
        "https://second.org": auth("you:c"),
        "https://index.docker.io/v1/": auth("h:d"),
    }
    write(docker, {"auths": auths})
    assert credentials_for("example.org") == ("me", "a:b")
    assert credentials_for("second.org") == ("you", "c")
    assert credentials_for("registry-1.docker.io") == ("h", "d")
    assert credentials_for("example.com") is None


def test_the_file_of_podman(docker: Path, monkeypatch: Any) -> None:
    write(docker, {"auths": {"example.org": auth("me:p")}}, "auth.json")
    monkeypatch.setenv("REGISTRY_AUTH_FILE", str(docker / "auth.json"))
    assert credentials_for("example.org") == ("me", "p")


def test_helpers(docker: Path, monkeypatch: Any) -> None:
    write(docker, {"credHelpers": {"example.org": "test"}, "auths": {"example.org": {}}})
    helper(docker, monkeypatch, 'read host; echo "{\\"Username\\": \\"me\\", \\"Secret\\": \\"for $host\\"}"')
    assert credentials_for("example.org") == ("me", "for example.org")
    assert credentials_for("other.org") is None
    helper(docker, monkeypatch, "echo credentials not found; exit 1")
    assert credentials_for("example.org") is None
    helper(docker, monkeypatch, "echo hello")
    with pytest.raises(NeedsAccess, match="something else than credentials"):
        credentials_for("example.org")
    (docker / "docker-credential-test").unlink()
    with pytest.raises(NeedsAccess, match="does not answer"):
        credentials_for("example.org")


@pytest.mark.parametrize("name", ["../evil", "a b", "a;b"])
def test_a_helper_is_never_a_path(docker: Path, name: str) -> None:
    write(docker, {"credsStore": name})
    with pytest.raises(NeedsAccess, match="not a helper name"):
        credentials_for("example.org")


def test_broken_files(docker: Path) -> None:
    (docker / "config.json").write_text("{")
    with pytest.raises(NeedsAccess, match="not JSON"):
        credentials_for("example.org")
    write(docker, {"auths": {"example.org": {"auth": "%%%"}}})
    with pytest.raises(NeedsAccess, match="is damaged"):
        credentials_for("example.org")
