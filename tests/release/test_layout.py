"""publish and pull on an OCI image layout: what goes in comes out, and what is damaged does not."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interlock.release.ocilayout import OciLayout
from interlock.release.reference import open_model
from interlock.release.run import publish, pull
from interlock.report.errors import BadInput, InterlockError, NothingToCheck


def blobs(layout: Path) -> list[Path]:
    return sorted((layout / "blobs" / "sha256").iterdir())


def test_round_trip_is_bytewise_and_the_layout_is_what_the_specification_says(published: Any, helpers: Any) -> None:
    layout = published.layout
    assert json.loads((layout / "oci-layout").read_bytes()) == {"imageLayoutVersion": "1.0.0"}
    index = json.loads((layout / "index.json").read_bytes())
    assert index["schemaVersion"] == 2 and index["mediaType"] == "application/vnd.oci.image.index.v1+json"
    tags = {m["annotations"]["org.opencontainers.image.ref.name"]: m for m in index["manifests"]}
    assert set(tags) == {"1.0", "2.0"} and tags["1.0"]["digest"] == published.one
    for path in blobs(layout):
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
        assert path.stat().st_mode & 0o222 == 0
    manifest = json.loads((layout / "blobs" / "sha256" / published.one[7:]).read_bytes())
    assert manifest["artifactType"] == "application/vnd.cncf.model.manifest.v1+json"
    assert manifest["config"]["mediaType"] == "application/vnd.cncf.model.config.v1+json"
    layers = {layer["annotations"]["org.cncf.model.filepath"]: layer for layer in manifest["layers"]}
    assert set(layers) == {"config.json", "empty.txt", "sub/README.md", "weights.bin"}
    assert {name: layer["mediaType"].split(".")[-3] for name, layer in layers.items()}["weights.bin"] == "weight"
    assert layers["config.json"]["mediaType"] == "application/vnd.cncf.model.weight.config.v1.raw"
    assert layers["sub/README.md"]["mediaType"] == "application/vnd.cncf.model.doc.v1.raw"
    for name, layer in layers.items():
        assert layer["annotations"]["org.opencontainers.image.title"] == name
    config = json.loads((layout / "blobs" / "sha256" / manifest["config"]["digest"][7:]).read_bytes())
    assert set(config) == {"descriptor", "config", "modelfs"}
    assert config["modelfs"]["diffIds"] == [layer["digest"] for layer in manifest["layers"]]
    report = helpers.passed(pull(f"{published.place}:1.0", str(published.root / "out")))
    assert helpers.tree(published.root / "out") == helpers.tree(published.root / "model")
    assert report.facts["digest"] == published.one and not helpers.drafts(published.root)


def test_publishing_again_writes_nothing_and_shared_files_are_stored_once(published: Any, helpers: Any) -> None:
    before = helpers.tree(published.layout)
    report = publish(str(published.root / "model"), f"{published.place}:1.0")
    assert report.facts["digest"] == published.one and report.facts["sent"] == 0
    assert helpers.tree(published.layout) == before
    # two manifests, two configs, two weights, two config.json, one README, one empty file
    assert len(blobs(published.layout)) == 10


def test_the_digest_follows_from_the_files_alone(published: Any, tmp_path: Path, helpers: Any) -> None:
    copy = tmp_path / "elsewhere" / "other-name"
    helpers.make_model(copy, 1)
    with open_model(str(copy)) as model:
        assert model.digest == published.one
    assert publish(str(copy), f"directory:{tmp_path / 'dir'}").facts["digest"] == published.one
    assert publish(str(copy), f"oci-layout:{tmp_path / 'second'}").facts["tags"] == []


@pytest.mark.parametrize("damage", ["flip", "truncate", "grow", "remove"])
@pytest.mark.parametrize("which", ["weights.bin", "manifest"])
def test_damage_is_named_refused_and_healed_by_publishing_again(
    published: Any, helpers: Any, damage: str, which: str
) -> None:
    digest = published.one
    if which != "manifest":
        manifest = json.loads((published.layout / "blobs" / "sha256" / digest[7:]).read_bytes())
        digest = next(x["digest"] for x in manifest["layers"] if x["annotations"]["org.cncf.model.filepath"] == which)
    path = published.layout / "blobs" / "sha256" / digest[7:]
    data = path.read_bytes()
    path.unlink()
    if damage != "remove":
        changed = {"flip": bytes([data[0] ^ 1]) + data[1:], "truncate": data[:-1], "grow": data + b"\0"}[damage]
        path.write_bytes(changed)
    out = published.root / "out"
    with pytest.raises(BadInput) as caught:
        pull(f"{published.place}:1.0", str(out))
    assert digest[7:] in str(caught.value) and "publish the model again" in caught.value.hint
    assert not out.exists() and not helpers.drafts(published.root)
    with pytest.raises(BadInput), open_model(f"{published.place}:1.0"):
        pass
    helpers.passed(publish(str(published.root / "model"), f"{published.place}:1.0"))
    helpers.passed(pull(f"{published.place}:1.0", str(out)))
    assert helpers.tree(out) == helpers.tree(published.root / "model")


@pytest.mark.parametrize("command", ["validate", "bench"])
def test_no_verdict_about_a_digest_from_other_bytes(published: Any, command: str) -> None:
    """A blob overwritten by an equally long file is found by commands that read headers only, too."""
    place = f"directory:{published.root / 'versions'}:2.0"
    publish(str(published.root / "next"), place)
    other = (published.root / "model" / "weights.bin").read_bytes()
    blob = (
        published.layout
        / "blobs"
        / "sha256"
        / hashlib.sha256((published.root / "next" / "weights.bin").read_bytes()).hexdigest()
    )
    for path in (blob, published.root / "versions" / "versions" / published.two[7:] / "weights.bin"):
        path.chmod(0o644)
        path.write_bytes(other)
    for reference in (f"{published.place}:2.0", place):
        for args in ((reference, "--against", "model"), ("model", "--against", reference)):
            done = published.cli(command, *args)
            assert done.returncode == 2 and "corrupt" in done.stderr and "REL-CORRUPT" in done.stderr, done


@pytest.mark.parametrize("kind", ["oci-layout", "directory"])
def test_publish_says_which_tag_moved_and_from_where(project: Any, helpers: Any, kind: str) -> None:
    place = f"{kind}:{project.root / 'there'}"
    one = helpers.passed(publish(str(project.root / "model"), f"{place}:1.0", tags=["latest"]))
    again = helpers.passed(publish(str(project.root / "model"), f"{place}:1.0"))
    assert not one.facts["moved"] and not again.facts["moved"] and "moved" not in one.headline + again.headline
    two = helpers.passed(publish(str(project.root / "next"), f"{place}:2.0", tags=["latest"]))
    assert two.facts["moved"] == {"latest": one.facts["digest"]}
    assert f"tag latest moved from {one.facts['digest']}" in two.headline


def test_a_look_copies_nothing_and_leaves_the_blobs_alone(published: Any) -> None:
    with open_model(f"{published.place}:1.0") as model:
        assert model.digest == published.one
        path = model.path
        assert (path / "config.json").read_text() == '{"seed": 1}'
        # hard links to the blobs: nothing was copied
        assert (path / "weights.bin").stat().st_nlink == 2
    times = [item.stat().st_ctime_ns for item in blobs(published.layout)]
    with open_model(f"{published.place}:1.0") as model:
        assert model.path == path
    # A second look changes nothing about the blobs: whoever hashes one now is not disturbed.
    assert [item.stat().st_ctime_ns for item in blobs(published.layout)] == times


@pytest.mark.parametrize("change", ["extra", "link", "missing", "other", "healed"])
def test_a_view_that_was_changed_is_made_anew(published: Any, helpers: Any, change: str) -> None:
    with open_model(f"{published.place}:1.0") as model:
        path = model.path
    if change == "extra":
        (path / "evil.py").write_text("import os")
    elif change == "link":
        (path / "more").symlink_to("/usr/share")
    elif change == "missing":
        (path / "config.json").unlink()
    elif change == "other":
        (path / "config.json").unlink()
        (path / "config.json").write_text("{}")
    else:
        blob = published.layout / "blobs" / "sha256" / hashlib.sha256((path / "config.json").read_bytes()).hexdigest()
        blob.chmod(0o644)
        blob.write_bytes(b"x" * blob.stat().st_size)
        publish(str(published.root / "model"), f"{published.place}:1.0")
    with open_model(f"{published.place}:1.0") as model:
        assert helpers.tree(model.path) == helpers.tree(published.root / "model")
    assert not helpers.drafts(published.root)


def test_a_layout_that_cannot_be_written_is_read(published: Any, monkeypatch: Any, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    state = published.layout / ".interlock"
    moved = published.layout / "away"
    state.rename(moved)
    state.write_text("a file where the folder should be: no draft can be made here")
    with open_model(f"{published.place}:1.0") as model:
        assert (model.path / "weights.bin").read_bytes() == (published.root / "model" / "weights.bin").read_bytes()
        assert (model.path / "weights.bin").stat().st_nlink in (1, 2)
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda p: None, "no such directory"),
        (lambda p: p.mkdir(), "not an OCI image layout"),
        (lambda p: p.write_text("x"), "not an OCI image layout"),
    ],
)
def test_not_a_layout(tmp_path: Path, make: Any, reason: str) -> None:
    place = tmp_path / "place"
    make(place)
    with pytest.raises(BadInput, match=reason) as caught:
        pull(f"oci-layout:{place}:1.0", str(tmp_path / "out"))
    assert "interlock publish" in caught.value.hint


def test_a_foreign_directory_is_not_turned_into_a_layout(project: Any) -> None:
    (project.root / "documents").mkdir()
    (project.root / "documents" / "letter.txt").write_text("dear")
    with pytest.raises(BadInput, match="not an OCI image layout"):
        publish(str(project.root / "model"), f"oci-layout:{project.root / 'documents'}:1.0")
    assert os.listdir(project.root / "documents") == ["letter.txt"]


def test_unknown_tags_and_digests_say_what_there_is(published: Any) -> None:
    with pytest.raises(BadInput, match="no such tag") as caught:
        pull(f"{published.place}:1.1", str(published.root / "out"))
    assert "did you mean '1.0'" in caught.value.hint and "2.0" in caught.value.hint
    with pytest.raises(BadInput, match="no such version"):
        pull(f"{published.place}@sha256:{'0' * 64}", str(published.root / "out"))
    with pytest.raises(BadInput, match="names no version"):
        pull(published.place, str(published.root / "out"))


def test_a_layout_of_another_tool_is_read_without_copies(published: Any) -> None:
    shutil.rmtree(published.layout / ".interlock")
    with open_model(f"{published.place}:1.0") as model:
        assert (model.path / "weights.bin").stat().st_nlink == 2


def test_a_newer_layout_and_broken_json_are_refused(published: Any) -> None:
    index = published.layout / "index.json"
    good = index.read_bytes()
    cases = {b"{": "not JSON", b"[]": "not a JSON object", b'{"manifests": 1}': "no list of manifests"}
    for bad, reason in cases.items():
        index.write_bytes(bad)
        with pytest.raises(BadInput, match=reason):
            pull(f"{published.place}:1.0", str(published.root / "out"))
    index.write_bytes(good)
    (published.layout / "oci-layout").write_text('{"imageLayoutVersion": "2.0.0"}')
    with pytest.raises(BadInput, match="only 1"):
        OciLayout(published.layout)


def test_a_tag_that_names_two_versions_is_not_resolved(published: Any) -> None:
    index = json.loads((published.layout / "index.json").read_bytes())
    for entry in index["manifests"]:
        entry["annotations"]["org.opencontainers.image.ref.name"] = "1.0"
    (published.layout / "index.json").write_text(json.dumps(index))
    with pytest.raises(BadInput, match="names two versions"):
        pull(f"{published.place}:1.0", str(published.root / "out"))
    pull(f"{published.place}@{published.one}", str(published.root / "out"))


def test_moving_a_tag_keeps_the_old_version_and_foreign_entries(published: Any) -> None:
    layout = OciLayout(published.layout)
    index = json.loads((published.layout / "index.json").read_bytes())
    foreign = {**index["manifests"][0], "platform": {"os": "linux", "architecture": "amd64"}, "annotations": {"a": "b"}}
    index["manifests"].append(foreign)
    (published.layout / "index.json").write_text(json.dumps(index))
    layout.point("1.0", published.two)
    entries = json.loads((published.layout / "index.json").read_bytes())["manifests"]
    assert foreign in entries and layout.tag("1.0") == published.two
    layout.point("1.0", None)
    layout.point("2.0", None)
    assert layout.tags() == []
    digests = [m["digest"] for m in json.loads((published.layout / "index.json").read_bytes())["manifests"]]
    assert {published.one, published.two} <= set(digests)


def test_what_may_not_be_published(project: Any, helpers: Any) -> None:
    model, target = project.root / "model", f"{project.place}:1.0"
    outside = project.root / "secret.txt"
    outside.write_text("secret")
    cases = {
        "leaves the model": lambda: (model / "x").symlink_to(outside),
        "dangling": lambda: (model / "x").symlink_to("nowhere"),
        "a link to a folder": lambda: (model / "x").symlink_to("."),
        "not a regular file": lambda: os.mkfifo(model / "x"),
        "control character": lambda: (model / "x\n").write_text(""),
    }
    for reason, make in cases.items():
        make()
        with pytest.raises(BadInput, match=reason):
            publish(str(model), target)
        for bad in (model / "x", model / "x\n"):
            if os.path.lexists(bad):
                bad.unlink()
    with pytest.raises(BadInput, match="no such file"):
        publish(str(project.root / "absent"), target)
    with pytest.raises(BadInput, match="inside the model"):
        publish(str(project.root), target)
    (project.root / "void").mkdir()
    with pytest.raises(NothingToCheck):
        publish(str(project.root / "void"), target)
    assert not project.layout.exists() or not OciLayout(project.layout).tags()
    (model / "link.txt").symlink_to("config.json")
    helpers.passed(publish(str(model), target))
    helpers.passed(pull(target, str(project.root / "out")))
    assert (project.root / "out" / "link.txt").read_bytes() == (model / "config.json").read_bytes()


def test_publish_without_a_target_and_to_a_bad_tag(project: Any) -> None:
    project.write(registry='""')
    with pytest.raises(BadInput, match="no target given"):
        publish(str(project.root / "model"), config=project.config)
    with pytest.raises(BadInput, match="not a tag"):
        publish(str(project.root / "model"), f"{project.place}:1.0", tags=["no spaces please"])
    with pytest.raises(BadInput, match="not a tag"):
        publish(str(project.root / "model"), f"{project.place}@sha256:{'0' * 64}")


def test_pull_wants_a_free_place(published: Any, helpers: Any) -> None:
    reference = f"{published.place}:1.0"
    (published.root / "full").mkdir()
    (published.root / "full" / "a").write_text("mine")
    with pytest.raises(BadInput, match="not empty"):
        pull(reference, str(published.root / "full"))
    with pytest.raises(BadInput, match="not a directory"):
        pull(reference, str(published.root / "full" / "a"))
    with pytest.raises(BadInput, match="mount point"):
        pull(reference, "/proc")
    (published.root / "link").symlink_to("full")
    with pytest.raises(BadInput, match="is a link"):
        pull(reference, str(published.root / "link"))
    assert helpers.tree(published.root / "full") == {"a": b"mine"}
    (published.root / "free").mkdir()
    helpers.passed(pull(reference, str(published.root / "free")))
    helpers.passed(pull(reference, str(published.root / "new" / "deep")))
    assert helpers.tree(published.root / "free") == helpers.tree(published.root / "new" / "deep")


CHARACTERS = st.characters(exclude_characters="/\0\\", exclude_categories=["Cs", "Cc"])
NAMES = st.text(CHARACTERS, min_size=1, max_size=20).filter(
    lambda name: name not in (".", "..", ".git") and len(name.encode()) < 200 and not name.startswith(".draft-")
)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.dictionaries(PATHS, st.binary(max_size=200), min_size=1))
def test_any_tree_comes_back(tmp_path_factory: Any, helpers: Any, files: dict[str, bytes]) -> None:
    root = tmp_path_factory.mktemp("any")
    for name, data in files.items():
        path = root / "model" / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError:  # a name that is a file and a folder at once
            continue
    if not helpers.tree(root / "model"):
        return
    helpers.passed(publish(str(root / "model"), f"oci-layout:{root / 'registry'}:1"))
    helpers.passed(pull(f"oci-layout:{root / 'registry'}:1", str(root / "out")))
    assert helpers.tree(root / "out") == helpers.tree(root / "model")


def test_every_error_is_lower_case_and_has_a_next_step(published: Any) -> None:
    for reference in ("oci-layout:", "hf://a/b", f"{published.place}@sha256:12", f"{published.place}:a b", ""):
        with pytest.raises(InterlockError) as caught:
            pull(reference, str(published.root / "out"))
        assert caught.value.hint and not caught.value.reason.endswith(".")
