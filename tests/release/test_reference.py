"""References: what each form means, and that nothing else is taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interlock.release.reference import Reference, open_model, parse
from interlock.report.errors import BadInput, InterlockError

DIGEST = "sha256:" + "ab" * 32


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("./dir", Reference("path", "dir")),
        ("file.onnx", Reference("path", "file.onnx")),
        ("oci-layout:registry:1.0", Reference("oci-layout", "registry", "1.0")),
        ("oci-layout:registry", Reference("oci-layout", "registry")),
        ("oci-layout:/srv/a:b/reg:prod", Reference("oci-layout", "/srv/a:b/reg", "prod")),
        ("oci-layout:/srv/a:b/reg", Reference("oci-layout", "/srv/a:b/reg")),
        (f"oci-layout:registry@{DIGEST}", Reference("oci-layout", "registry", DIGEST)),
        (f"oci-layout:registry:1.0@{DIGEST}", Reference("oci-layout", "registry", DIGEST)),
        ("directory:/srv/models", Reference("directory", "/srv/models")),
        ("directory:/srv/models:v2", Reference("directory", "/srv/models", "v2")),
        ("oci://host:5000/acme/m:1.0", Reference("oci", "host:5000/acme/m", "1.0")),
        ("oci://host:5000/acme/m", Reference("oci", "host:5000/acme/m")),
        (f"oci://host/acme/m@{DIGEST}", Reference("oci", "host/acme/m", DIGEST)),
        ("dir@2x/model", Reference("path", "dir@2x/model")),
    ],
)
def test_forms(text: str, expected: Reference) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("hf://owner/name", "not supported"),
        ("s3://bucket/key", "not supported"),
        ("oci://host", "a host and a repository"),
        ("oci-layout::1.0", "a path must follow"),
        ("oci-layout:registry:1.0 beta", "not a tag"),
        (f"oci-layout:registry:{'a' * 129}", "not a tag"),
        ("oci-layout:registry@sha256:12", "not a digest"),
        ("oci-layout:registry@sha512:" + "0" * 128, "not a digest"),
        ("oci-layout:registry@SHA256:" + "0" * 64, "not a digest"),
    ],
)
def test_refused(text: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason) as caught:
        parse(text)
    assert caught.value.hint


PLACE = st.text("abcXYZ019._-/", min_size=1, max_size=20).filter(lambda text: not text.startswith("/"))
TAG = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,20}", fullmatch=True)


@given(PLACE, TAG)
def test_what_is_written_is_what_is_read(place: str, version: str) -> None:
    for each in (version, DIGEST, ""):
        reference = Reference("oci-layout", str(Path(place)), each)
        assert parse(str(reference)) == reference


@given(st.text(max_size=60))
def test_any_text_is_a_reference_or_bad_input(text: str) -> None:
    try:
        reference = parse(text)
    except InterlockError:
        return
    assert reference.scheme in ("path", "oci-layout", "directory", "oci")


def test_relative_paths_start_from_the_root_given(tmp_path: Path) -> None:
    assert parse("oci-layout:registry:1", tmp_path).place == str(tmp_path / "registry")
    assert parse("model", tmp_path).place == str(tmp_path / "model")
    assert parse("/abs", tmp_path).place == "/abs"
    assert parse("oci://h/r:1", tmp_path).place == "h/r"


def test_open_model_by_every_form(published: Any, tmp_path: Path) -> None:
    from interlock.release.run import publish

    publish(str(published.root / "model"), f"directory:{tmp_path / 'd'}:v1")
    forms = [
        str(published.root / "model"),
        f"{published.place}:1.0",
        f"{published.place}@{published.one}",
        f"directory:{tmp_path / 'd'}",
        f"directory:{tmp_path / 'd'}:v1",
        f"directory:{tmp_path / 'd'}@{published.one}",
    ]
    for form in forms:
        with open_model(form) as model:
            assert model.digest == published.one
            assert (model.path / "sub" / "README.md").is_file()
    with pytest.raises(BadInput, match="no such file"), open_model(str(tmp_path / "absent")):
        pass


def test_a_single_file_travels_with_its_signature(project: Any, tmp_path: Path) -> None:
    from interlock.release.run import publish, pull
    from interlock.signing.keys import generate
    from interlock.signing.run import sign

    (project.root / "m.onnx").write_bytes(b"model")
    generate(str(project.root / "release"))
    sign(project.root / "m.onnx", key=project.root / "release.key")
    publish(str(project.root / "m.onnx"), f"{project.place}:file")
    pull(f"{project.place}:file", str(tmp_path / "out"))
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["m.onnx", "m.onnx.sig"]
