"""Tokens that are added to the stop set: ordinary text cuts answers off, special tokens do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interlock.checks.validate.run import validate
from interlock.report.report import Report
from validate.tokenizer import kit

TOKENIZER = kit.byte_level(specials=("<|bos|>", "<|eos|>", "<|pad|>", "<|eot|>"))
VOCAB: dict[str, int] = TOKENIZER["model"]["vocab"]
SPECIAL: dict[str, int] = {each["content"]: each["id"] for each in TOKENIZER["added_tokens"]}
EOS = SPECIAL["<|eos|>"]
CONFIG = {"bos_token": "<|bos|>", "eos_token": "<|eos|>", "pad_token": "<|pad|>"}


def model(stops: Any, tokenizer: kit.Json | None = TOKENIZER, **files: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {"config.json": {"model_type": "llama"}, "generation_config.json": {"eos_token_id": stops}}
    if tokenizer is not None:
        parts |= {"tokenizer.json": tokenizer, "tokenizer_config.json": CONFIG}
    return parts | files


def said(report: Report) -> str | None:
    return kit.levels(report).get("GEN-EOS")


@pytest.mark.parametrize("file", ["config.json", "generation_config.json"])
@pytest.mark.parametrize("token", ["a", ".", "\u010a", "\u0120the", "abcd", "11"])
def test_ordinary_text_as_a_stop_token_breaks(tmp_path: Path, file: str, token: str) -> None:
    settings_ = {"config.json": {"model_type": "llama"}, "generation_config.json": {"eos_token_id": EOS}}
    new = model([EOS]) | {file: settings_[file] | {"eos_token_id": [EOS, VOCAB[token]]}}
    report = kit.judge(tmp_path, model([EOS]), new)
    finding = next(f for f in report.findings if f.rule == "GEN-EOS")
    assert (kit.verdict(report), finding.level) == ("breaks", "breaks")
    assert finding.witness == {"kind": "stop", "ids": [VOCAB[token]]}
    assert "ordinary text" in finding.message


@pytest.mark.parametrize("token", ["<|eot|>", "<|pad|>", "<|bos|>"])
def test_a_special_token_more_is_hot(tmp_path: Path, token: str) -> None:
    report = kit.judge(tmp_path, model(EOS), model([EOS, SPECIAL[token]]))
    assert kit.verdict(report) == "hot", [f.message for f in report.findings]
    assert said(report) == "hot"


def test_a_mark_that_only_the_configuration_calls_special_is_hot(tmp_path: Path) -> None:
    plain = kit.byte_level(merges=[("e", "n")], specials=())
    plain["model"]["vocab"]["[END]"] = len(plain["model"]["vocab"])
    number = plain["model"]["vocab"]["[END]"]
    for name, more, verdict in (("no", {}, "breaks"), ("yes", {"additional_special_tokens": ["[END]"]}, "hot")):
        config = {"tokenizer_config.json": more}
        report = kit.judge(tmp_path / name, model(1, plain, **config), model([1, number], plain, **config))
        assert kit.verdict(report) == verdict, name


def test_without_a_tokenizer_nothing_tells_text_from_marks(tmp_path: Path) -> None:
    assert kit.verdict(kit.judge(tmp_path, model(2, None), model([2, 3], None))) == "unproven"


@pytest.mark.parametrize("new", [EOS, [EOS], [EOS, EOS]])
def test_the_same_stops_written_otherwise_are_hot(tmp_path: Path, new: Any) -> None:
    report = kit.judge(tmp_path, model([EOS]), model(new))
    assert kit.verdict(report) in ("equal", "hot")
    assert said(report) is None


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.sampled_from(sorted({**VOCAB, **SPECIAL}.values())), max_size=4))
def test_what_is_added_decides(tmp_path_factory: pytest.TempPathFactory, more: set[int]) -> None:
    folder = tmp_path_factory.mktemp("pair")
    report = kit.judge(folder, model([EOS]), model([EOS, *sorted(more)]))
    text = more - set(SPECIAL.values())
    assert kit.verdict(report) in ({"breaks"} if text else {"hot"} if more - {EOS} else {"equal", "hot"})
    assert (said(report) == "breaks") == bool(text)


END = "{% for m in messages %}{{ m.content }}<|eot|>{% endfor %}"


def test_a_folder_that_is_only_a_tokenizer_promises_no_stop_set(tmp_path: Path) -> None:
    alone = {"tokenizer.json": TOKENIZER, "tokenizer_config.json": CONFIG | {"chat_template": END}}
    report = validate(kit.model(tmp_path / "tokenizer", alone))
    assert said(report) == "hot"
    assert kit.verdict(report) in ("equal", "hot")
    whole = alone | {"config.json": {"model_type": "llama"}, "generation_config.json": {"eos_token_id": EOS}}
    assert said(validate(kit.model(tmp_path / "model", whole))) == "breaks"
    whole["generation_config.json"] = {"eos_token_id": [EOS, SPECIAL["<|eot|>"]]}
    assert said(validate(kit.model(tmp_path / "fixed", whole))) is None


def test_another_eos_of_a_lone_tokenizer_breaks_all_the_same(tmp_path: Path) -> None:
    files = {"tokenizer.json": TOKENIZER, "tokenizer_config.json": CONFIG | {"chat_template": END}}
    new = files | {"tokenizer_config.json": CONFIG | {"chat_template": END, "eos_token": "<|eot|>"}}
    report = kit.judge(tmp_path, files, new)
    assert kit.verdict(report) == "breaks"
    assert kit.levels(report)["TOK-EOS"] == "breaks"
