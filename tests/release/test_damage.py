"""Damaged bookkeeping: each message says what to do, and doing that works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from interlock.release.directory import Directory
from interlock.release.ocilayout import OciLayout
from interlock.release.run import gate, history, promote, publish, status
from interlock.report.errors import BadInput


def put_back(project: Any, helpers: Any) -> None:
    """Do what status says for every stage that is not as its ledger says."""
    report = status(config=project.config)
    for finding in report.findings:
        command = finding.hint.rpartition("interlock promote ")[2].split()
        helpers.passed(promote(command[0], command[2], config=project.config))
    helpers.passed(status(config=project.config, verify=True))


@pytest.mark.parametrize("content", ["{", "[]", '{"manifests": 1}', '{"manifests": [{}]}', None])
def test_a_damaged_index_is_made_anew(live: Any, helpers: Any, content: str | None) -> None:
    index = live.layout / "index.json"
    if content is None:
        index.unlink()
        with pytest.raises(BadInput, match="index of the layout is missing") as caught:
            promote("2.0", "prod", config=live.config)
    else:
        index.write_text(content)
        with pytest.raises(BadInput, match=r"index\.json") as caught:
            publish(str(live.root / "model"), f"{live.place}:1.0", config=live.config)
        assert index.read_text() == content
    assert "remove it and publish a model again" in caught.value.hint
    assert "interlock status" in caught.value.hint
    index.unlink(missing_ok=True)
    report = helpers.passed(publish(str(live.root / "model"), f"{live.place}:1.0", config=live.config))
    assert "index.json was missing: 4 manifests are listed anew" in report.headline  # two versions, two of evidence
    assert OciLayout(live.layout).tags() == ["1.0"]
    put_back(live, helpers)
    # Evidence counts as before, and so does the version whose tag is gone.
    helpers.passed(promote(live.two, "prod", config=live.config))
    again = helpers.passed(publish(str(live.root / "next"), f"{live.place}:2.0", config=live.config))
    assert "missing" not in again.headline and again.facts["sent"] == 0


def test_what_is_listed_anew_is_what_was_listed(live: Any) -> None:
    def listed() -> set[tuple[str, str]]:
        entries = json.loads((live.layout / "index.json").read_bytes())["manifests"]
        return {(entry["digest"], entry["artifactType"]) for entry in entries}

    # A file of a model that looks a little like a manifest, and a blob that is damaged.
    (live.root / "model" / "odd.json").write_text('{"mediaType": "x", "artifactType": "y"}')
    publish(str(live.root / "model"), f"{live.place}:odd")
    before = listed()
    (live.layout / "blobs" / "sha256" / ("0" * 64)).write_text("{}")
    (live.layout / "index.json").unlink()
    OciLayout(live.layout, create=True)
    assert listed() == before


@pytest.mark.parametrize("content", ["", "[]", "{}"])
def test_a_damaged_pointer_is_put_back(live: Any, helpers: Any, content: str) -> None:
    pointer = live.served / "version.json"
    pointer.write_text(content)
    report = status("prod", config=live.config)
    assert report.exit_code == 2 and report.error is not None and "remove it" in report.error.hint
    pointer.unlink()
    put_back(live, helpers)
    assert live.pointer()["digest"] == live.one


def test_damaged_tags_of_a_directory_are_put_back(project: Any, helpers: Any) -> None:
    project.write("\n  staging: {gates: [lint]}\n", registry="directory:versions")
    place = f"directory:{project.root / 'versions'}"
    publish(str(project.root / "model"), f"{place}:1.0", config=project.config)
    project.judge("1.0")
    helpers.passed(promote("1.0", "staging", config=project.config))
    tags = project.root / "versions" / ".interlock" / "tags.json"
    for content in ("{", '{"1.0": "latest"}'):
        tags.write_text(content)
        with pytest.raises(BadInput, match=r"tags\.json") as caught:
            publish(str(project.root / "model"), f"{place}:1.0", config=project.config)
        assert "remove it and publish the tags again" in caught.value.hint
    tags.unlink()
    helpers.passed(publish(str(project.root / "model"), f"{place}:1.0", config=project.config))
    put_back(project, helpers)
    assert Directory(project.root / "versions").tags() == ["1.0", "staging"]


def test_damaged_evidence_is_taken_out(live: Any, helpers: Any) -> None:
    index = live.layout / "index.json"
    entry = next(e for e in json.loads(index.read_bytes())["manifests"] if "evidence" in e["artifactType"])
    blob = live.layout / "blobs" / "sha256" / entry["digest"][7:]
    blob.chmod(0o644)
    blob.write_bytes(b" " * blob.stat().st_size)
    live.write("\n  other: {gates: [lint]}\n")
    with pytest.raises(BadInput, match="corrupt blob") as caught:
        promote("1.0", "other", config=live.config)
    assert "take its entry out of index.json and run the gate again" in caught.value.hint
    tree = json.loads(index.read_bytes())
    tree["manifests"] = [one for one in tree["manifests"] if one["digest"] != entry["digest"]]
    index.write_text(json.dumps(tree))
    helpers.passed(gate("other", "1.0", config=live.config))
    helpers.passed(promote("1.0", "other", config=live.config))


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("registry/oci-layout", '{"imageLayoutVersion":"1.0.0"}'),
        ("registry/.interlock/ledger/prod/00000001.json", "restore the file from a backup"),
    ],
)
def test_other_files_say_what_to_do(live: Any, file: str, said: str) -> None:
    path = Path(live.root / file)
    path.chmod(0o644)
    path.write_text("{")
    with pytest.raises(BadInput, match=path.name) as caught:
        history("prod", config=live.config)
    assert said in caught.value.hint
