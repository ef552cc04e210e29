"""The same setting said in another file, in another type, or beyond what the model takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.tokenizer import kit
from validate.tokenizer.test_incidents import CONFIG, EOS, files

LISTED = {str(EOS): {"content": "<|eos|>", "lstrip": False, "normalized": False, "rstrip": False, "special": True}}
LISTED[str(EOS)]["single_word"] = False
ROLES = {"eos_token": "TOK-EOS", "bos_token": "TOK-BOS", "pad_token": "TOK-PADTOK"}
MAP = {key: CONFIG[key] for key in ROLES}


@pytest.mark.parametrize("key", ROLES)
def test_a_token_that_only_the_map_names(tmp_path: Path, key: str) -> None:
    config = {**CONFIG, "added_tokens_decoder": LISTED}
    less = {name: value for name, value in config.items() if name != key}
    old = files() | {"tokenizer_config.json": config, "special_tokens_map.json": MAP}
    report = kit.judge(tmp_path / "1", old, old | {"tokenizer_config.json": less})
    assert kit.levels(report)[ROLES[key]] == "unproven"
    assert report.facts["verdict"] == "unproven"
    # the other way it is read by all
    assert kit.judge(tmp_path / "2", old | {"tokenizer_config.json": less}, old).facts["verdict"] == "hot"
    # without a list, the map is read
    old |= {"tokenizer_config.json": CONFIG}
    short = {name: value for name, value in CONFIG.items() if name != key}
    assert kit.judge(tmp_path / "3", old, old | {"tokenizer_config.json": short}).facts["verdict"] == "hot"
    # and nobody misses what was said twice
    told = files() | {"tokenizer_config.json": config}
    assert kit.judge(tmp_path / "4", told | {"special_tokens_map.json": MAP}, told).facts["verdict"] == "hot"


@pytest.mark.parametrize("key", ["strip_accents", "legacy"])
def test_a_number_is_no_flag(tmp_path: Path, key: str) -> None:
    old = files(kit.wordpiece()) | {"tokenizer_config.json": {**CONFIG, key: True}}
    new = files(kit.wordpiece()) | {"tokenizer_config.json": {**CONFIG, key: 1}}
    assert kit.levels(kit.judge(tmp_path, old, new)) == {"TOK-CONF": "unproven"}


def encoder(limit: object, kind: str = "bert", **more: object) -> kit.Json:
    config = {"model_type": kind, "architectures": ["BertModel"], "max_position_embeddings": 512}
    said = {**CONFIG, "model_max_length": limit} if limit else {k: v for k, v in CONFIG.items() if "max" not in k}
    return files(kit.wordpiece()) | {"config.json": config, "tokenizer_config.json": said} | more


@pytest.mark.parametrize("limit", [513, 10**30, None])
def test_a_limit_that_keeps_texts_within_the_model(tmp_path: Path, limit: int | None) -> None:
    report = kit.judge(tmp_path / "1", encoder(512), encoder(limit))
    assert kit.levels(report)["TOK-SIDE"] == "unproven"
    assert report.facts["verdict"] == "unproven"
    # where there was none, or the model has no table, or another file cuts, it is as before
    assert "TOK-SIDE" not in kit.levels(kit.judge(tmp_path / "2", encoder(1000), encoder(limit)))
    assert "TOK-SIDE" not in kit.levels(kit.judge(tmp_path / "3", encoder(512, "t5"), encoder(limit, "t5")))
    cut = {"sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": False}}
    assert "TOK-SIDE" not in kit.levels(kit.judge(tmp_path / "4", encoder(512) | cut, encoder(limit) | cut))


def test_a_limit_that_grows_within_the_model(tmp_path: Path) -> None:
    report = kit.judge(tmp_path, encoder(128), encoder(512), Contract())
    assert "TOK-SIDE" not in kit.levels(report)
    assert report.facts["verdict"] == "hot"


@pytest.mark.parametrize("value", [True, 1, ["<|pad|>"], {"lstrip": False}])
def test_a_role_that_no_text_plays(tmp_path: Path, value: object) -> None:
    old, new = files(), files() | {"tokenizer_config.json": {**CONFIG, "pad_token": value}}
    assert kit.levels(kit.judge(tmp_path / "1", old, new))["TOK-CONF"] == "breaks"
    assert validate(kit.model(tmp_path / "alone", new), contract=Contract()).facts["consistent"] is False
    named = {"special_tokens_map.json": MAP}  # which is read first, without added_tokens_decoder
    assert kit.judge(tmp_path / "3", old | named, new | named).facts["verdict"] != "breaks"
    # what serves with it is served for all that
    again = kit.judge(tmp_path / "2", new, new | {"README.md": "x"})
    assert again.facts["verdict"] == "hot", again.findings


@pytest.mark.parametrize("value", ["<|pad|>", {"content": "<|pad|>"}, None])
def test_a_role_that_a_text_plays_or_none(tmp_path: Path, value: object) -> None:
    new = files() | {"tokenizer_config.json": {**CONFIG, "pad_token": value}}
    assert validate(kit.model(tmp_path / "new", new), contract=Contract()).facts["consistent"] is True
