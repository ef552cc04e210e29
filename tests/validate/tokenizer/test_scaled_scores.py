"""Unigram scores that all grew by one factor are not the same: unknown characters do not cost as much more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer as Real
from validate.tokenizer import kit
from validate.tokenizer.test_incidents import files


def scaled(pieces: list[tuple[str, float]], factor: float) -> kit.Json:
    return kit.unigram([(piece, score * factor) for piece, score in pieces])


def test_a_factor_may_cut_around_unknown_characters_otherwise() -> None:
    pieces = [("<unk>", 0.0), ("z", -15.0), ("x", -15.0), ("xy", -15.0), ("zx", -1.0)]
    whole, half = (Real.from_str(json.dumps(scaled(pieces, factor))) for factor in (1.0, 0.5))
    assert whole.encode("zxy", add_special_tokens=False).tokens[-2:] == ["zx", "y"]
    assert half.encode("zxy", add_special_tokens=False).tokens[-2:] == ["z", "xy"]


@pytest.mark.parametrize("factor", [0.5, 2.0, 3.7])
def test_a_factor_is_named_and_proves_nothing(tmp_path: Path, factor: float) -> None:
    report = kit.judge(tmp_path, files(kit.unigram()), files(scaled(kit.PIECES, factor)))
    (found,) = [f for f in report.findings if f.rule == "TOK-MERGE"]
    assert found.level == "unproven"
    assert f"{factor:g} times what they were" in found.message


def test_other_changes_are_no_factor(tmp_path: Path) -> None:
    for number, change in enumerate(({"ab": -8.0}, {"a": -30.0})):
        new = kit.unigram([(piece, change.get(piece, score)) for piece, score in kit.PIECES])
        report = kit.judge(tmp_path / str(number), files(kit.unigram()), files(new))
        assert report.facts["verdict"] != "hot"
        assert not any("times what they were" in f.message for f in report.findings)
    same = kit.judge(tmp_path / "same", files(kit.unigram()), files(scaled(kit.PIECES, 1.0)))
    assert same.facts["verdict"] == "equal"
