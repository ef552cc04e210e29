"""A directory of versions: a reader that follows version.json never sees two versions mixed."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from interlock.release.directory import Directory
from interlock.release.run import publish, pull
from interlock.report.errors import BadInput


@pytest.fixture
def place(project: Any) -> str:
    return f"directory:{project.root / 'served'}"


def test_layout_of_a_directory(project: Any, place: str, helpers: Any) -> None:
    report = helpers.passed(publish(str(project.root / "model"), f"{place}:1.0"))
    digest = report.facts["digest"]
    pointer = project.pointer()
    assert pointer["digest"] == digest and pointer["version"] == "1.0" and pointer["schema"] == "interlock.version/1"
    assert helpers.tree(project.served / pointer["path"]) == helpers.tree(project.root / "model")
    assert [path.name for path in (project.served / "versions").iterdir()] == [digest[7:]]
    assert all(not p.stat().st_mode & 0o222 for p in (project.served / pointer["path"]).rglob("*") if p.is_file())
    again = helpers.passed(publish(str(project.root / "model"), f"{place}:1.0"))
    assert again.facts["sent"] == 0
    second = helpers.passed(publish(str(project.root / "next"), place))
    assert project.pointer()["digest"] == second.facts["digest"] and "version" not in project.pointer()
    helpers.passed(pull(place, str(project.root / "now")))
    helpers.passed(pull(f"{place}:1.0", str(project.root / "then")))
    assert helpers.tree(project.root / "now") == helpers.tree(project.root / "next")
    assert helpers.tree(project.root / "then") == helpers.tree(project.root / "model")
    with pytest.raises(BadInput, match="no such tag"):
        pull(f"{place}:1.1", str(project.root / "out"))


def test_readers_under_fast_swaps(project: Any, place: str) -> None:
    one = publish(str(project.root / "model"), place).facts["digest"]
    two = publish(str(project.root / "next"), place).facts["digest"]
    expected = {
        digest: (project.root / name / "weights.bin").read_bytes() for digest, name in ((one, "model"), (two, "next"))
    }
    stop, wrong, reads = threading.Event(), [], [0, 0, 0]

    def read(number: int) -> None:
        while not stop.is_set():
            pointer = json.loads((project.served / "version.json").read_bytes())
            data = (project.served / pointer["path"] / "weights.bin").read_bytes()
            reads[number] += 1
            if data != expected[pointer["digest"]]:
                wrong.append(pointer)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    directory = Directory(project.served)
    for turn in range(300):
        directory.serve(two if turn % 2 else one)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong and all(reads)


def test_a_reader_with_an_open_file_keeps_its_version(project: Any, place: str, helpers: Any) -> None:
    publish(str(project.root / "model"), place)
    with (project.served / project.pointer()["path"] / "weights.bin").open("rb") as held:
        publish(str(project.root / "next"), place)
        assert held.read() == (project.root / "model" / "weights.bin").read_bytes()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"digest": "sha256:12", "path": "versions/12"}',
        '{"digest": "DIGEST", "path": "../../etc"}',
    ],
)
def test_a_broken_pointer_is_never_followed(project: Any, place: str, text: str) -> None:
    digest = publish(str(project.root / "model"), place).facts["digest"]
    (project.served / "version.json").write_text(text.replace("DIGEST", digest))
    with pytest.raises(BadInput) as caught:
        pull(place, str(project.root / "out"))
    assert caught.value.hint and not (project.root / "out").exists()


@pytest.mark.parametrize("damage", ["flip", "remove"])
def test_a_damaged_version_is_not_pulled_and_publishing_again_heals_it(
    project: Any, place: str, helpers: Any, damage: str
) -> None:
    publish(str(project.root / "model"), f"{place}:1.0")
    target = project.served / project.pointer()["path"] / "weights.bin"
    data = target.read_bytes()
    target.unlink()
    if damage == "flip":
        target.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(BadInput):
        pull(place, str(project.root / "out"))
    assert not (project.root / "out").exists() and not helpers.drafts(project.root)
    helpers.passed(publish(str(project.root / "model"), f"{place}:1.0"))
    helpers.passed(pull(place, str(project.root / "out")))
    assert not helpers.drafts(project.root)


def test_not_a_directory_of_versions(project: Any) -> None:
    (project.root / "plain").mkdir()
    with pytest.raises(BadInput, match="no versions folder"):
        pull(f"directory:{project.root / 'plain'}", str(project.root / "out"))
    with pytest.raises(BadInput, match="no such directory"):
        pull(f"directory:{project.root / 'absent'}", str(project.root / "out"))
    (project.root / "plain" / "versions").mkdir()
    with pytest.raises(BadInput, match="serves no version yet"):
        pull(f"directory:{project.root / 'plain'}", str(project.root / "out"))
