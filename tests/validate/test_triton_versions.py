"""Version folders of a Triton repository: the version that serves is compared with the one that will."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.build import folder, onnx_model

GOOD, BAD = "x", "z"
ALL = "version_policy { all {} }\n"
BOTH = "version_policy { latest { num_versions: 2 } }\n"


def model(weight: float = 1.0, name: str = GOOD) -> bytes:
    return onnx_model({name: ("float", ["batch", 3])}, {"y": ("float", ["batch"])}, weight=weight)


def repository(versions: dict[int, bytes], policy: str = "", at: str = "ranker/", *, config: bool = True) -> Any:
    files: dict[str, Any] = {f"{at}{number}/model.onnx": each for number, each in versions.items()}
    return files | ({f"{at}config.pbtxt": f'name: "ranker"\nbackend: "onnxruntime"\n{policy}'} if config else {})


def judged(path: Path, new: Any, old: Any) -> Any:
    return validate(folder(path / "new", new), folder(path / "old", old), contract=Contract())


@pytest.mark.parametrize("at", ["ranker/", "", "models/ranker/"])
@pytest.mark.parametrize("config", [True, False])
@pytest.mark.parametrize("kept", [{}, {1: model()}])
def test_the_next_version_takes_the_place_of_the_last(tmp_path: Path, at: str, config: bool, kept: Any) -> None:
    old = repository({1: model()}, at=at, config=config)
    report = judged(tmp_path / "1", repository({**kept, 2: model(2.0)}, at=at, config=config), old)
    assert report.facts["verdict"] == "hot", report.findings
    assert [f.message for f in report.findings if f.rule == "FIL-SET" and f.message.endswith(": 1 → 2")]
    report = judged(tmp_path / "2", repository({**kept, 2: model(2.0, BAD)}, at=at, config=config), old)
    assert report.facts["verdict"] == "breaks", report.findings
    assert {f.rule for f in report.findings if f.level == "breaks"} & {"ONX-IN-RENAMED", "ONX-IN-REMOVED"}


def test_versions_that_are_not_served_do_not_count(tmp_path: Path) -> None:
    old = repository({1: model(3.0, BAD), 2: model()})
    assert judged(tmp_path / "1", repository({2: model(), 10: model(2.0)}), old).facts["verdict"] == "hot"
    assert judged(tmp_path / "2", repository({1: model(3.0, BAD), 10: model(2.0)}), old).facts["verdict"] == "hot"
    assert judged(tmp_path / "3", repository({2: model(), 10: model(2.0, BAD)}), old).facts["verdict"] == "breaks"
    pinned = "version_policy { specific { versions: [ 2 ] } }\n"
    new = repository({2: model(2.0), 10: model(2.0, BAD)}, pinned)
    assert judged(tmp_path / "4", new, repository({2: model()}, pinned)).facts["verdict"] == "hot"


def test_every_version_that_both_serve_is_compared(tmp_path: Path) -> None:
    old = repository({1: model(), 2: model()}, ALL)
    more = repository({1: model(), 2: model(), 3: model(2.0)}, ALL)
    assert judged(tmp_path / "1", more, old).facts["verdict"] == "hot"
    edited = repository({1: model(2.0, BAD), 2: model(), 3: model(2.0)}, ALL)
    assert judged(tmp_path / "2", edited, old).facts["verdict"] == "breaks"
    last = repository({1: model(), 2: model(), 3: model(2.0, BAD)}, ALL)
    assert judged(tmp_path / "3", last, old).facts["verdict"] == "breaks"


def test_a_version_that_clients_ask_for_is_gone(tmp_path: Path) -> None:
    report = judged(tmp_path / "1", repository({2: model()}, ALL), repository({1: model(), 2: model()}, ALL))
    assert report.facts["verdict"] == "unproven"
    assert ["version 1 of 'ranker'" in f.message for f in report.findings if f.level == "unproven"] == [True]
    # with `latest`, versions come and go
    report = judged(
        tmp_path / "2", repository({2: model(), 3: model()}, BOTH), repository({1: model(), 2: model()}, BOTH)
    )
    assert report.facts["verdict"] == "hot", report.findings


def test_a_part_that_the_next_version_lacks(tmp_path: Path) -> None:
    old = repository({1: model()}) | {"ranker/1/second.onnx": model()}
    assert judged(tmp_path / "1", repository({2: model()}), old).facts["verdict"] == "breaks"
    new = repository({2: model()}) | {"ranker/2/second.onnx": model(2.0)}
    assert judged(tmp_path / "2", new, old).facts["verdict"] == "hot"


def test_folders_with_numbers_are_versions_of_triton_only(tmp_path: Path) -> None:
    old, new = {"1/encoder.onnx": model()}, {"2/encoder.onnx": model(2.0)}
    assert judged(tmp_path / "1", new, old).facts["verdict"] == "restart"
    assert judged(tmp_path / "2", {"02/model.onnx": model()}, {"01/model.onnx": model()}).facts["verdict"] == "restart"
