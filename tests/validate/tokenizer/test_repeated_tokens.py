"""Lists in tokenizer_config.json that only repeat the tokens of tokenizer.json, and ones that say something else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interlock.checks.validate.side import Side
from interlock.checks.validate.tokenizer.repeated import _says_again  # pyright: ignore[reportPrivateUsage]
from interlock.models.tokenizers.huggingface import parse
from interlock.models.tree import ModelTree
from validate.tokenizer import kit

TOKENIZER = kit.byte_level()
FLAGS = ("content", "lstrip", "normalized", "rstrip", "single_word", "special")
LISTED = {str(each["id"]): {flag: each[flag] for flag in FLAGS} for each in TOKENIZER["added_tokens"]}
FIRST = next(iter(LISTED))
NAMES = [each["content"] for each in LISTED.values()]


def model(**config: Any) -> dict[str, Any]:
    return {"tokenizer.json": TOKENIZER, "tokenizer_config.json": {"eos_token": "<|eos|>", **config}}


REPEATED: list[dict[str, Any]] = [
    {"added_tokens_decoder": LISTED},
    {"added_tokens_decoder": dict(reversed(LISTED.items()))},
    {"added_tokens_decoder": {FIRST: LISTED[FIRST]}},
    {"additional_special_tokens": NAMES},
    {"additional_special_tokens": [LISTED[FIRST]]},
    {"added_tokens_decoder": LISTED, "additional_special_tokens": NAMES[:1]},
]
OTHER: list[dict[str, Any]] = [
    *(
        {"added_tokens_decoder": {**LISTED, FIRST: {**LISTED[FIRST], flag: not LISTED[FIRST][flag]}}}
        for flag in FLAGS[1:]
    ),
    {"added_tokens_decoder": {**LISTED, FIRST: {**LISTED[FIRST], "content": "<|other|>"}}},
    {"added_tokens_decoder": {"3": LISTED[FIRST]}},
    {"added_tokens_decoder": {**LISTED, "9999": {**LISTED[FIRST], "content": "<|new|>"}}},
    {"added_tokens_decoder": {FIRST: "nonsense"}},
    {"additional_special_tokens": ["<|new|>"]},
    {"additional_special_tokens": ["the"]},
    {"additional_special_tokens": [{**LISTED[FIRST], "lstrip": True}]},
]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {"image_token": "<|pad|>"}),
        ({}, {"extra_special_tokens": {"image_token": "<|pad|>", "boi_token": "<|bos|>"}}),
        ({}, {"extra_special_tokens": ["<|pad|>"]}),
        ({}, {"image_token": LISTED[FIRST]}),
        ({}, {"add_prefix_space": False}),
        ({"add_prefix_space": False}, {}),
        ({}, {"errors": "replace"}),
        ({"tokenizer_class": "Qwen2Tokenizer"}, {"tokenizer_class": "Qwen2TokenizerFast"}),
        ({"tokenizer_class": "LlamaTokenizerFast"}, {"tokenizer_class": "LlamaTokenizer"}),
    ],
)
def test_saying_it_again_is_hot(tmp_path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    report = kit.judge(tmp_path, model(**old), model(**new))
    assert kit.verdict(report) == "hot", [(f.rule, f.message) for f in report.findings]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"image_token": "<|pad|>"}, {}),
        ({"image_token": "<|pad|>"}, {"image_token": "<|bos|>"}),
        ({}, {"image_token": "<|image|>"}),
        ({}, {"image_token": {**LISTED[FIRST], "rstrip": True}}),
        ({}, {"extra_special_tokens": {"image_token": "the"}}),
        ({}, {"add_prefix_space": True}),
        ({"add_prefix_space": False}, {"add_prefix_space": True}),
        ({}, {"errors": "ignore"}),
        ({"tokenizer_class": "Qwen2Tokenizer"}, {"tokenizer_class": "LlamaTokenizerFast"}),
        ({}, {"tokenizer_class": "Fast"}),
        ({}, {"tokenizer_class": ["Fast"]}),
    ],
)
def test_saying_something_else_is_told(tmp_path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    report = kit.judge(tmp_path, model(**old), model(**new))
    assert kit.levels(report).get("TOK-CONF") == "unproven", [(f.rule, f.message) for f in report.findings]


@pytest.mark.parametrize("config", REPEATED)
def test_repeating_tokenizer_json_is_hot(tmp_path: Path, config: dict[str, Any]) -> None:
    for name, old, new in (("gained", {}, config), ("lost", config, {})):
        report = kit.judge(tmp_path / name, model(**old), model(**new))
        assert kit.verdict(report) == "hot", [(f.rule, f.message) for f in report.findings]
        assert "TOK-CONF" not in kit.levels(report)


@pytest.mark.parametrize("config", OTHER)
def test_saying_something_else_is_not(tmp_path: Path, config: dict[str, Any]) -> None:
    report = kit.judge(tmp_path, model(added_tokens_decoder=LISTED), model(**config))
    assert kit.levels(report).get("TOK-CONF") == "unproven", [(f.rule, f.message) for f in report.findings]


def test_a_token_that_both_files_gain_is_judged_once(tmp_path: Path) -> None:
    grown = kit.byte_level(specials=[*NAMES, "<|tool|>"])
    listed = {str(each["id"]): {flag: each[flag] for flag in FLAGS} for each in grown["added_tokens"]}
    new = {"tokenizer.json": grown, "tokenizer_config.json": {"eos_token": "<|eos|>", "added_tokens_decoder": listed}}
    report = kit.judge(tmp_path, model(added_tokens_decoder=LISTED), new)
    assert "TOK-ADDED" in kit.levels(report)
    assert "TOK-CONF" not in kit.levels(report)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from([*LISTED, "7"]), st.sampled_from(FLAGS[1:])))
def test_only_exact_repetition_counts(flipped: dict[str, str]) -> None:

    side = Side(ModelTree(Path("/none")), "none")
    side._facts["tokenizer"] = parse(json.dumps(TOKENIZER).encode(), "tokenizer.json")  # pyright: ignore[reportPrivateUsage]
    entries = {number: dict(entry) for number, entry in LISTED.items()}
    for number, flag in flipped.items():
        entry = entries.setdefault(number, dict(LISTED[FIRST]))
        entry[flag] = not entry[flag]
    assert _says_again(side, "added_tokens_decoder", entries) == (not flipped)
