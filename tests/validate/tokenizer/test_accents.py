"""What becomes of accents: said or left out it may be the same, and otherwise it is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from validate.tokenizer import kit
from validate.tokenizer.kit import changed
from validate.tokenizer.test_incidents import CONFIG, files


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("left_out", [True, False])
def test_accents_that_go_otherwise(tmp_path: Path, lowercase: bool, left_out: bool) -> None:
    same = changed(kit.wordpiece(pieces=("\xe9", "##\xe9")), "normalizer.lowercase", lowercase)
    old = changed(same, "normalizer.strip_accents", None if left_out else lowercase)
    new = changed(same, "normalizer.strip_accents", not lowercase)
    report = kit.judge(tmp_path, files(old), files(new))
    assert report.facts["verdict"] in ("restart", "breaks"), report.findings
    assert {f.rule for f in report.findings if f.witness} == {"TOK-NORM"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"do_lower_case": True}, {"do_lower_case": True, "strip_accents": False}),
        ({"do_lower_case": False}, {"do_lower_case": False, "strip_accents": True}),
        ({}, {"strip_accents": True}),
    ],
)
def test_configured_otherwise(tmp_path: Path, old: kit.Json, new: kit.Json) -> None:
    before, after = ({**files(kit.wordpiece()), "tokenizer_config.json": {**CONFIG, **each}} for each in (old, new))
    report = kit.judge(tmp_path, before, after)
    assert report.facts["verdict"] != "hot"
    assert [f.rule for f in report.findings if f.level != "hot"] == ["TOK-CONF"]
