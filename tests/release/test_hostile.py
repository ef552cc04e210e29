"""Artefacts made by someone who wishes us ill, and places that fail: nothing is written outside, nothing half."""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interlock.release.descriptor import canonical, digest_of
from interlock.release.durable import explained
from interlock.release.modelpack import FILEPATH, build, kind_of, parse
from interlock.release.reference import open_model
from interlock.release.run import publish, pull
from interlock.release.tree import check_path, check_paths
from interlock.report.errors import BadInput, InterlockError


def plant(project: Any, change: Any) -> str:
    """Publish 1.0, change its manifest, and store the result under a digest that fits it; returns the digest."""
    manifest = json.loads((project.layout / "blobs" / "sha256" / project.one[7:]).read_bytes())
    change(manifest)
    raw = canonical(manifest)
    (project.layout / "blobs" / "sha256" / digest_of(raw)[7:]).write_bytes(raw)
    return digest_of(raw)


EVIL = [
    "../escape",
    "a/../../escape",
    "/etc/escape",
    "",
    "a//b",
    "./a",
    "a/.",
    "..",
    "a\\..\\b",
    "nul\0l",
    "new\nline",
    "x" * 256,
    "d/" * 1600 + "f",
]


@pytest.mark.parametrize("path", EVIL)
def test_a_layer_cannot_leave_the_destination(published: Any, helpers: Any, path: str) -> None:
    def change(manifest: Any) -> None:
        manifest["layers"][0]["annotations"][FILEPATH] = path
        manifest["layers"][0]["annotations"].pop("org.opencontainers.image.title")

    digest = plant(published, change)
    before = set(published.root.rglob("*"))
    with pytest.raises(BadInput):
        pull(f"{published.place}@{digest}", str(published.root / "in" / "out"))
    assert set(published.root.rglob("*")) - before <= {published.root / "in"}


def layers(change: Any) -> Any:
    return lambda manifest: change(manifest["layers"])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (layers(lambda x: x.append(x[0])), "stands twice"),
        (layers(lambda x: x[0]["annotations"].update({FILEPATH: "weights.bin/x"})), "both a file and a folder"),
        (layers(lambda x: x[0].update(size=-1)), "bad size"),
        (layers(lambda x: x[0].update(size=True)), "bad size"),
        (layers(lambda x: x[0].update(size=10**19)), "corrupt blob|not enough space"),
        (layers(lambda x: x[0].update(digest="md5:00")), "unsupported digest"),
        (layers(lambda x: x[0].update(annotations={})), "names its file"),
        (layers(lambda x: x[0].update(annotations=[1])), "annotations"),
        (layers(lambda x: x[0].update(mediaType="application/vnd.cncf.model.weight.v1.tar")), "only raw layers"),
        (lambda m: m.update(layers=[]), "no layers"),
        (lambda m: m.update(layers={}), "no layers"),
        (lambda m: m.update(config=None), "not a descriptor"),
        (lambda m: m.update(artifactType="application/vnd.example"), "not a model"),
    ],
)
def test_a_manifest_that_lies_is_refused(published: Any, helpers: Any, change: Any, reason: str) -> None:
    digest = plant(published, change)
    with pytest.raises(BadInput, match=reason) as caught:
        pull(f"{published.place}@{digest}", str(published.root / "out"))
    assert caught.value.hint
    assert not (published.root / "out").exists() and not helpers.drafts(published.root)


def test_deep_and_huge_json_is_bounded(published: Any) -> None:
    blob = published.layout / "blobs" / "sha256"
    deep = b"[" * 100_000
    (blob / digest_of(deep)[7:]).write_bytes(deep)
    with pytest.raises(BadInput, match="not JSON"):
        pull(f"{published.place}@{digest_of(deep)}", str(published.root / "out"))
    huge = blob / ("0" * 64)
    with huge.open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(BadInput, match="more than the"):
        pull(f"{published.place}@sha256:{'0' * 64}", str(published.root / "out"))


@given(st.text(max_size=40))
def test_a_checked_path_stays_below(path: str) -> None:
    try:
        check_path(path, "x")
    except BadInput:
        return
    joined = os.path.normpath(f"/base/{path}")
    assert joined == f"/base/{path}" and joined.startswith("/base/")


@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda x: (
            st.lists(x, max_size=3)
            | st.dictionaries(st.sampled_from(["layers", "config", "artifactType", "size", "digest"]), x)
        ),
    )
)
def test_any_manifest_is_read_or_refused(value: Any) -> None:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    with pytest.raises(InterlockError):
        parse(raw, "x")


FILES = st.dictionaries(st.text("abc./-_é", min_size=1, max_size=8), st.integers(0, 10**15), min_size=1, max_size=6)


@given(FILES)
def test_what_is_built_is_what_is_parsed(files: dict[str, int]) -> None:
    listed = [(path, digest_of(path.encode()), size) for path, size in files.items()]
    try:
        check_paths(list(files), "x")
    except BadInput:
        return
    manifest, _ = build(listed)
    assert parse(manifest.raw, "x") == manifest == build(listed[::-1])[0]
    assert sorted((e.path, e.layer.digest, e.layer.size) for e in manifest.entries) == sorted(listed)


def test_too_many_files_for_a_manifest_are_refused() -> None:
    with pytest.raises(BadInput, match="registries accept"):
        build([(f"part-{n:06d}.bin", digest_of(b""), 0) for n in range(20_000)])


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("model-00001-of-00002.safetensors", "weight"),
        ("model.onnx", "weight"),
        ("pytorch_model.bin", "weight"),
        ("tokenizer.json", "weight.config"),
        ("tokenizer.model", "weight.config"),
        ("model.sig", "weight.config"),
        ("chat_template.jinja", "weight.config"),
        ("README.md", "doc"),
        ("LICENSE", "doc"),
        ("modeling_custom.py", "code"),
        ("calibration.parquet", "dataset"),
    ],
)
def test_kinds(path: str, kind: str) -> None:
    assert kind_of(path) == kind


def run_limited(project: Any, *args: str) -> subprocess.CompletedProcess[str]:
    """The command line with a limit of 64 KiB on the size of any file, which is how a full disk looks."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

    return project.cli(*args, preexec_fn=limit)


def test_a_disk_that_takes_no_more_leaves_nothing(project: Any, helpers: Any) -> None:
    helpers.make_model(project.root / "big", 3, size=1 << 17)
    done = run_limited(project, "publish", "big", "oci-layout:registry:1.0")
    assert done.returncode == 2 and "cannot write: file too large" in done.stderr and "hint:" in done.stderr
    assert not helpers.drafts(project.root)
    helpers.passed(publish(str(project.root / "big"), f"{project.place}:1.0"))
    done = run_limited(project, "pull", "oci-layout:registry:1.0", "out")
    assert done.returncode == 2 and "file too large" in done.stderr
    assert not (project.root / "out").exists() and not helpers.drafts(project.root)
    done = run_limited(project, "publish", "big", "directory:served")
    assert done.returncode == 2 and not (project.root / "served" / "version.json").exists()
    assert not helpers.drafts(project.root)


def test_space_is_asked_for_before_the_copy(published: Any) -> None:
    def change(manifest: Any) -> None:
        manifest["layers"][-1]["size"] = 1 << 60

    digest = plant(published, change)
    with pytest.raises(BadInput, match=r"not enough space: .* TB needed"):
        pull(f"{published.place}@{digest}", str(published.root / "out"))


@pytest.mark.parametrize("number", [errno.ENOENT, errno.ENOTDIR, errno.ENOSPC, errno.EACCES, errno.ESTALE, None])
def test_every_system_error_has_a_next_step(tmp_path: Path, number: int | None) -> None:
    with pytest.raises(BadInput) as caught, explained("write", tmp_path):
        raise OSError(number, os.strerror(number)) if number else OSError("odd")
    assert caught.value.hint and "{" not in caught.value.hint


def test_what_may_not_be_read_is_not_said_to_lack_write_access(project: Any, unprivileged: list[str]) -> None:
    for name in ("model/weights.bin", "model/sub"):
        path = project.root / name
        mode = path.stat().st_mode
        path.chmod(0)
        command = [*unprivileged, sys.executable, "-m", "interlock", "publish", "model", "oci-layout:registry:1.0"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=project.root, check=False)
        path.chmod(mode)
        assert done.returncode == 2 and f"{name}: cannot read: permission denied" in done.stderr, done.stderr
        assert "read access" in done.stderr


def test_no_permission_is_said_and_leaves_nothing(published: Any, helpers: Any, unprivileged: list[str]) -> None:
    """Root without the capability to override permissions meets the files of another user."""
    root = published.root
    if not unprivileged:
        pytest.skip("needs root to give files to someone else")
    (root / "locked").mkdir(mode=0o755)
    subprocess.run(["chown", "-R", "65534:65534", "registry", "locked"], cwd=root, check=True)

    def cli(*args: str) -> subprocess.CompletedProcess[str]:
        command = [*unprivileged, sys.executable, "-m", "interlock", *args]
        return subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)

    before = helpers.tree(published.layout)
    (root / "model" / "new.txt").write_text("new")
    for args in (
        ("publish", "model", "oci-layout:registry:3.0"),
        ("publish", "model", "oci-layout:locked/registry:1.0"),
        ("publish", "model", "directory:locked/served"),
        ("pull", "oci-layout:registry:1.0", "locked/out"),
        ("promote", "1.0", "--to", "staging"),
    ):
        done = cli(*args)
        assert done.returncode == 2, done
        assert "permission denied" in done.stderr and "write access" in done.stderr
        assert "Traceback" not in done.stderr
    assert not list((root / "locked").iterdir())
    assert helpers.tree(published.layout) == before
    # Reading needs no write access: neither a lock nor a draft is made in the layout.
    done = cli("pull", "oci-layout:registry:1.0", "out")
    assert done.returncode == 0, done.stderr
    assert (root / "out" / "config.json").is_file()
    with open_model(f"{published.place}:1.0"):
        pass
