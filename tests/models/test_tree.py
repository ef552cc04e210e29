"""A model's files: kinds, links and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from interlock.models.errors import UnreadableModel
from interlock.models.tree import read_tree


def test_kinds_come_from_names(tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors", "model.safetensors.index.json", "onnx/model.onnx", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "model.onnx").write_bytes(b"x")
    tree = read_tree(tmp_path)
    assert {name: file.kind for name, file in tree.files.items()} == {
        "README.md": "other",
        "config.json": "config",
        "model.safetensors": "safetensors",
        "model.safetensors.index.json": "index",
        "onnx/model.onnx": "onnx",
    }


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"GGUF\3\0\0\0" + bytes(16), "gguf"),
        ((2).to_bytes(8, "little") + b"{}", "safetensors"),
        (b"\x08\x08\x12\x00", "onnx"),
        (b"\x00\x01", "other"),
    ],
)
def test_a_blob_is_known_by_its_first_bytes(tmp_path: Path, head: bytes, kind: str) -> None:
    (tmp_path / "sha256-abc").write_bytes(head)
    (file,) = read_tree(tmp_path / "sha256-abc").files.values()
    assert file.kind == kind


def test_a_hugging_face_cache_is_followed_to_its_blobs(tmp_path: Path) -> None:
    repository = tmp_path / "models--a--b"
    (repository / "blobs").mkdir(parents=True)
    (repository / "blobs" / "abc").write_bytes(b"12345")
    (repository / "snapshots" / "rev").mkdir(parents=True)
    (repository / "snapshots" / "rev" / "config.json").symlink_to("../../blobs/abc")
    assert read_tree(repository / "snapshots" / "rev").files["config.json"].size == 5


def test_links_out_of_the_model_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "m").mkdir()
    link = tmp_path / "m" / "config.json"
    for target in ("../secret", "/etc/passwd"):
        link.symlink_to(target)
        with pytest.raises(UnreadableModel, match="out of the model"):
            read_tree(tmp_path / "m")
        link.unlink()
    link.symlink_to("nowhere")
    with pytest.raises(UnreadableModel, match="nowhere"):
        read_tree(tmp_path / "m")
    link.unlink()
    link.symlink_to("config.json")
    with pytest.raises(UnreadableModel, match="nowhere"):
        read_tree(tmp_path / "m")
    link.unlink()
    (tmp_path / "m" / "x").symlink_to(tmp_path)
    with pytest.raises(UnreadableModel, match="directory"):
        read_tree(tmp_path / "m")


def test_links_inside_the_model_are_followed(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(b"123")
    (tmp_path / "b.onnx").symlink_to("a.onnx")
    assert read_tree(tmp_path).files["b.onnx"].size == 3


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableModel, match="not found"):
        read_tree(tmp_path / "absent")
    with pytest.raises(UnreadableModel, match="no files"):
        read_tree(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableModel, match="neither"):
        read_tree(tmp_path / "pipe")
    with pytest.raises(UnreadableModel, match="regular"):
        read_tree(tmp_path)
