"""Tokenizers that another release of transformers saved again: what it writes out says nothing new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from validate.tokenizer import kit

TOKENIZER = kit.byte_level()
TRUNCATION = {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0}
PADDING = {"strategy": {"Fixed": 128}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0,
           "pad_token": "<|pad|>"}  # fmt: skip
CUTTING = {**TOKENIZER, "truncation": TRUNCATION, "padding": PADDING}
CONFIG = {"eos_token": "<|eos|>", "tokenizer_class": "Qwen2Tokenizer"}
LOADED = {"backend": "tokenizers", "is_local": True, "local_files_only": True}
KEPT = {"max_length": 128, "stride": 0, "truncation_strategy": "longest_first", "pad_token_type_id": 0}
READER, NEWER = {"tokenizer_class": "PreTrainedTokenizerFast"}, {"tokenizer_class": "TokenizersBackend"}
MERGES: list[str] = TOKENIZER["model"]["merges"]
VOCAB: dict[str, int] = TOKENIZER["model"]["vocab"]
CLASSIFIER = {"config.json": {"architectures": ["BertForSequenceClassification"]}}
WRITER = {"config.json": {"architectures": ["LlamaForCausalLM"]}}


def model(config: dict[str, Any] | None = None, tokenizer: Any = TOKENIZER, **files: Any) -> dict[str, Any]:
    return {"tokenizer.json": tokenizer, "tokenizer_config.json": {**CONFIG, **(config or {})}, **files}


def outcome(folder: Path, old: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    found = kit.levels(kit.judge(folder, old, new))
    return {rule: level for rule, level in found.items() if rule.startswith("TOK") and level != "hot"}


@pytest.mark.parametrize(
    ("old", "new", "tokenizer"),
    [
        ({}, LOADED, TOKENIZER),
        ({}, KEPT, CUTTING),
        ({}, {**KEPT, "pad_to_multiple_of": None}, CUTTING),
        ({"extra_special_tokens": {}}, {"extra_special_tokens": []}, TOKENIZER),
        ({}, {"trim_offsets": True, "legacy": True}, TOKENIZER),
        ({"use_default_system_prompt": False}, {}, TOKENIZER),
        ({"add_bos_token": False}, {}, TOKENIZER),
        ({**NEWER, "add_bos_token": False}, NEWER, TOKENIZER),
    ],
)
def test_what_is_written_out_comes_and_goes(tmp_path: Path, old: Any, new: Any, tokenizer: Any) -> None:
    assert outcome(tmp_path / "a", model(old, tokenizer), model(new, tokenizer)) == {}
    assert outcome(tmp_path / "b", model(new, tokenizer), model(old, tokenizer)) == {}


@pytest.mark.parametrize(
    ("old", "new", "tokenizer"),
    [
        ({}, {"max_length": 64}, CUTTING),
        ({}, KEPT, TOKENIZER),
        ({}, {"stride": 4}, CUTTING),
        ({}, {"truncation_strategy": "only_first"}, CUTTING),
        ({}, {"pad_token_type_id": 1}, CUTTING),
        ({}, {"trim_offsets": False}, TOKENIZER),
        ({"legacy": True}, {"legacy": False}, TOKENIZER),
        ({"extra_special_tokens": []}, {"extra_special_tokens": ["the"]}, TOKENIZER),
        (READER, {"tokenizer_class": "BertJapaneseTokenizer"}, TOKENIZER),
    ],
)
def test_what_says_something_else_is_told(tmp_path: Path, old: Any, new: Any, tokenizer: Any) -> None:
    assert outcome(tmp_path, model(old, tokenizer), model(new, tokenizer)) == {"TOK-CONF": "unproven"}


def test_the_new_name_of_the_reading_class_needs_a_new_release(tmp_path: Path) -> None:
    assert outcome(tmp_path / "a", model(READER), model(NEWER)) == {"TOK-CONF": "restart"}
    assert outcome(tmp_path / "b", model(NEWER), model(READER)) == {}


def test_how_text_is_cleaned_is_nothing_to_a_classifier(tmp_path: Path) -> None:
    said = {"clean_up_tokenization_spaces": False}
    assert outcome(tmp_path / "a", model(**CLASSIFIER), model(said, **CLASSIFIER)) == {}
    assert outcome(tmp_path / "b", model(**WRITER), model(said, **WRITER)) == {"TOK-CONF": "unproven"}
    assert outcome(tmp_path / "c", model(), model(said)) == {"TOK-CONF": "unproven"}


def test_how_text_is_cleaned_is_nothing_to_an_embedder(tmp_path: Path) -> None:
    pools = {"modules.json": "[]"}
    for name, old, new in (("a", {}, {"clean_up_tokenization_spaces": True}), ("b", {}, {"use_fast": False})):
        assert outcome(tmp_path / name, model(old, **pools), model(new, **pools)) == {}
        assert outcome(tmp_path / f"{name} back", model(new, **pools), model(old, **pools)) == {}
    other = {"clean_up_tokenization_spaces": True}, {"clean_up_tokenization_spaces": False}
    assert outcome(tmp_path / "other", *(model(each, **pools) for each in other)) == {}
    # a model that writes cleans its text in another way
    assert outcome(tmp_path / "writes", *(model(each, **WRITER) for each in other)) == {"TOK-CONF": "restart"}
    assert outcome(tmp_path / "lost", model({}, **pools), model(other[0], **WRITER))["TOK-CONF"] == "unproven"


def test_messages_name_what_differs_in_long_lists(tmp_path: Path) -> None:
    names = [f"<|{number}|>" for number in range(90)]
    old, new = ({"additional_special_tokens": each} for each in (names, [*names, "<|more|>"]))
    report = kit.judge(tmp_path, model(old), model(new))
    said = [each.message for each in report.findings if each.rule == "TOK-CONF"]
    assert said == ["additional_special_tokens differs: 90 → 91 entries, with <|more|>"]


def lists(vocab: dict[str, int] = VOCAB, merges: list[str] = MERGES) -> dict[str, Any]:
    return {"vocab.json": vocab, "merges.txt": "\n".join(["#version: 0.2", *merges, ""])}


def test_lists_made_from_tokenizer_json_come_and_go(tmp_path: Path) -> None:
    added = {each["content"]: each["id"] for each in TOKENIZER["added_tokens"]}
    for number, made in enumerate((lists(), lists({**VOCAB, **added}))):
        assert outcome(tmp_path / f"{number}new", model(), model(**made)) == {}
        assert outcome(tmp_path / f"{number}gone", model(**made), model()) == {}


@pytest.mark.parametrize(
    "made",
    [
        lists(merges=MERGES[:-1]),
        lists(merges=[MERGES[1], MERGES[0], *MERGES[2:]]),
        lists({**VOCAB, "zzz": 999}),
        lists({token: number for token, number in VOCAB.items() if token != "a"}),
        lists({**VOCAB, "a": VOCAB["b"], "b": VOCAB["a"]}),
    ],
)
def test_lists_that_say_something_else_do_not(tmp_path: Path, made: dict[str, Any]) -> None:
    assert outcome(tmp_path / "new", model(), model(**made)) == {"TOK-TWIN": "unproven"}
    assert outcome(tmp_path / "gone", model(**made), model()) == {"TOK-TWIN": "unproven"}
