"""GEN-LEN: a limit on answers shrinks only below what the live model could answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract


@pytest.mark.parametrize(
    ("old", "new", "context", "level"),
    [
        ({}, {"max_new_tokens": 131072}, 32768, "hot"),
        ({}, {"max_new_tokens": 32768}, 32768, "hot"),
        ({}, {"max_new_tokens": 2048}, 32768, "breaks"),
        ({}, {"max_new_tokens": 2048}, None, "breaks"),
        ({"max_new_tokens": 65536}, {"max_new_tokens": 32768}, 32768, "hot"),
        ({"max_new_tokens": 4096}, {"max_new_tokens": 2048}, 32768, "breaks"),
        ({"max_length": 4096}, {}, 4096, "hot"),
    ],
)
def test_level(old: dict[str, Any], new: dict[str, Any], context: int | None, level: str, tmp_path: Path) -> None:
    config = {"model_type": "qwen2"} | ({} if context is None else {"max_position_embeddings": context})
    for side, generation in (("old", old), ("new", new)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "config.json").write_text(json.dumps(config))
        (tmp_path / side / "generation_config.json").write_text(json.dumps(generation))
    report = validate(tmp_path / "new", tmp_path / "old", contract=Contract())
    assert [(finding.rule, finding.level) for finding in report.findings] == [("GEN-LEN", level)]


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        ({"max_length": 448}, {}, "unproven"),
        ({"max_length": 448}, {"max_length": 448, "transformers_version": "5"}, None),
        ({"max_length": 448}, None, "hot"),  # then config.json says it
        ({"max_length": 20}, {}, "hot"),
        ({}, {"transformers_version": "5"}, None),
        ({}, {"max_length": 448}, "breaks"),
    ],
)
def test_an_encoder_decoder_without_a_limit(
    old: dict[str, Any], new: dict[str, Any] | None, level: str | None, tmp_path: Path
) -> None:
    config = {"model_type": "whisper", "is_encoder_decoder": True, "max_length": 448}
    for side, generation in (("old", old), ("new", new)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "config.json").write_text(json.dumps(config))
        if generation is not None:
            (tmp_path / side / "generation_config.json").write_text(json.dumps(generation))
    report = validate(tmp_path / "new", tmp_path / "old", contract=Contract())
    assert [finding.level for finding in report.findings if finding.rule == "GEN-LEN"] == ([level] if level else [])
