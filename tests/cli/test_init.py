"""A first interlock.yaml that loads, passes the schema, names what is there, and never replaces one."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from interlock.cli import starter
from interlock.cli.main import main
from interlock.config.load import load
from interlock.config.schema import schema

PEM = "-----BEGIN PUBLIC KEY-----\n"


def _init(*args: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["init", *args])
    return int(caught.value.code or 0)


def _make(root: Path, *files: str) -> None:
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PEM if file.endswith(".pub") else "")


@pytest.mark.parametrize(
    "files",
    [
        (),
        ("model/model.onnx", "release.pub", "deploy/vllm.yaml", "registry/oci-layout", "registry/blobs/x.onnx"),
        ("net.onnx",),
        ('a "b": {c}/config.json', "# key.pub"),
        ("e\u0301/weights.safetensors", "\u2028.pub"),
    ],
)
def test_file_loads_and_passes_the_schema(
    files: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _make(tmp_path, *files)
    assert _init(str(tmp_path)) == 0
    capsys.readouterr()
    settings = load(tmp_path / "interlock.yaml").settings
    jsonschema.validate(yaml.safe_load((tmp_path / "interlock.yaml").read_text(encoding="utf-8")), schema())
    found = starter.look(tmp_path)
    assert settings.name == tmp_path.name and settings.trust.keys == found.keys
    assert settings.model == (found.models[0] if found.models else "")


def test_comments_are_settings_too(tmp_path: Path) -> None:
    # A comment that is switched on must be as valid as the rest.
    text = starter.text("x", starter.Found())
    lines = [line[2:] if line.startswith("# ") and ":" in line.split("#")[1] else line for line in text.splitlines()]
    for key in ("model", "live", "registry"):
        line = next(line for line in lines if line.startswith(f"{key}:"))
        (tmp_path / "interlock.yaml").write_text(line)
        assert getattr(load(tmp_path / "interlock.yaml").settings, key)


def test_what_is_found(tmp_path: Path) -> None:
    _make(
        tmp_path, "m/config.json", "reg/oci-layout", "reg/x.onnx", "release.pub", "node_modules/x/a.onnx", ".git/a.onnx"
    )
    _make(tmp_path, "k8s/a.yaml", "a/b/c/deep.onnx")
    (tmp_path / "id_rsa.pub").write_text("ssh-ed25519 AAAA")
    (tmp_path / "pipe.pub").symlink_to("/nowhere")
    found = starter.look(tmp_path)
    assert found == starter.Found(["m/"], ["oci-layout:reg"], ["release.pub"], ["k8s/"])


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "interlock.yaml").write_text("name: mine\n")
    assert _init(str(tmp_path)) == 2
    assert "never overwritten" in capsys.readouterr().err
    assert (tmp_path / "interlock.yaml").read_text() == "name: mine\n"
    (tmp_path / "interlock.yaml").unlink()
    (tmp_path / "pyproject.toml").write_text("[tool.interlock]\nname = 'mine'\n")
    assert _init(str(tmp_path)) == 2
    assert not (tmp_path / "interlock.yaml").exists()


def test_print_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _init(str(tmp_path), "--print", "--name", "1e3") == 0
    assert yaml.safe_load(capsys.readouterr().out)["name"] == "1e3"
    assert list(tmp_path.iterdir()) == []


def test_missing_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _init(str(tmp_path / "none")) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path}/none: no such directory\nhint: ")


def test_json_report_lists_what_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _make(tmp_path, "net.onnx")
    assert _init(str(tmp_path), "-f", "json") == 0
    assert json.loads(capsys.readouterr().out)["facts"]["found"]["models"] == ["net.onnx"]
