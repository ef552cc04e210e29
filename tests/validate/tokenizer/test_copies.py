"""Files that copy what another file of the model says, and settings that write a default out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from validate.tokenizer import kit

TOKENIZER = kit.byte_level()
ADDED: dict[str, int] = {each["content"]: each["id"] for each in TOKENIZER["added_tokens"]}
NAMED = {"image_token": "<|pad|>", "additional_special_tokens": ["<img>"]}
CONFIG = {"eos_token": "<|eos|>", "tokenizer_class": "Qwen2Tokenizer"}
BOS = kit.template(cls=(ADDED["<|bos|>"], "<|bos|>"))


def model(config: dict[str, Any] | None = None, **files: Any) -> dict[str, Any]:
    named = {f"{name}.json": content for name, content in files.items()}
    return {"tokenizer.json": TOKENIZER, "tokenizer_config.json": {**CONFIG, **(config or {})}, **named}


def outcome(folder: Path, old: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    return {rule: level for rule, level in kit.levels(kit.judge(folder, old, new)).items() if level != "hot"}


def test_added_tokens_that_tokenizer_json_lists_come_and_go(tmp_path: Path) -> None:
    for number, listed in enumerate((ADDED, {"<|bos|>": ADDED["<|bos|>"]}, {})):
        assert outcome(tmp_path / f"{number}new", model(), model(added_tokens=listed)) == {}
        assert outcome(tmp_path / f"{number}gone", model(added_tokens=listed), model()) == {}
        assert outcome(tmp_path / f"{number}less", model(added_tokens=ADDED), model(added_tokens=listed)) == {}


@pytest.mark.parametrize(
    "listed", [{"<|bos|>": 1}, {**ADDED, "<|new|>": 999}, {"the": 5}, {"a": TOKENIZER["model"]["vocab"]["a"]}]
)
def test_added_tokens_that_say_something_else_do_not(tmp_path: Path, listed: dict[str, int]) -> None:
    assert outcome(tmp_path / "new", model(), model(added_tokens=listed)) == {"TOK-TWIN": "unproven"}
    assert outcome(tmp_path / "gone", model(added_tokens=listed), model()) == {"TOK-TWIN": "unproven"}
    assert outcome(tmp_path / "else", model(added_tokens=ADDED), model(added_tokens=listed)) == {"TOK-TWIN": "unproven"}


def test_a_token_that_all_files_gain_is_judged_by_the_tokenizer(tmp_path: Path) -> None:
    grown = kit.byte_level(specials=[*ADDED, "<|tool|>"])
    listed = {each["content"]: each["id"] for each in grown["added_tokens"]}
    new = model(added_tokens=listed) | {"tokenizer.json": grown}
    assert outcome(tmp_path, model(added_tokens=ADDED), new) == {"TOK-ADDED": "restart"}


OBJECT = {"content": "<|pad|>", "lstrip": False, "normalized": False, "rstrip": False, "single_word": False}


@pytest.mark.parametrize("named", [NAMED, {**NAMED, "image_token": OBJECT}])
def test_a_map_that_copies_the_configuration_comes_and_goes(tmp_path: Path, named: dict[str, Any]) -> None:
    copy, inner = model(NAMED, special_tokens_map=named), {"extra_special_tokens": {"image_token": "<|pad|>"}}
    assert outcome(tmp_path / "a", copy, model(NAMED)) == {}
    assert outcome(tmp_path / "b", model(NAMED), copy) == {}
    assert outcome(tmp_path / "c", copy, model(NAMED, special_tokens_map={})) == {}
    nested = {"image_token": named["image_token"]}
    assert outcome(tmp_path / "d", model(inner, special_tokens_map=nested), model(inner)) == {}


@pytest.mark.parametrize(
    "other", [{"image_token": "<|eos|>"}, {"additional_special_tokens": ["<img>", "<x>"]}, {"audio_token": "<|pad|>"}]
)
def test_a_map_that_says_something_else_does_not(tmp_path: Path, other: dict[str, Any]) -> None:
    new = model(NAMED, special_tokens_map={**NAMED, **other})
    said = {} if "audio_token" in other else {"TOK-CONF": "unproven"}  # a new name for a token that is there
    assert outcome(tmp_path / "a", model(NAMED, special_tokens_map=NAMED), new) == said
    assert outcome(tmp_path / "b", new, model(NAMED)) == {"FIL-LOST": "unproven"}


def test_a_map_and_a_configuration_that_change_alike_are_told_once(tmp_path: Path) -> None:
    changed = {**NAMED, "image_token": "<|eos|>"}
    old, new = model(NAMED, special_tokens_map=NAMED), model(changed, special_tokens_map=changed)
    report = kit.judge(tmp_path, old, new)
    assert [(f.rule, f.level) for f in report.findings] == [("TOK-CONF", "unproven")]


@pytest.mark.parametrize("key", ["add_bos_token", "add_eos_token", "use_default_system_prompt", "split_special_tokens"])
@pytest.mark.parametrize("kind", ["Qwen2Tokenizer", "PreTrainedTokenizerFast", "GPT2TokenizerFast"])
def test_a_default_that_is_written_out_is_no_change(tmp_path: Path, key: str, kind: str) -> None:
    bare, said = model({"tokenizer_class": kind}), model({"tokenizer_class": kind, key: False})
    assert outcome(tmp_path / "a", bare, said) == {}
    assert outcome(tmp_path / "b", said, bare) == {}
    asked = model({"tokenizer_class": kind, key: True})
    assert outcome(tmp_path / "c", bare, asked)["TOK-CONF"] in ("breaks", "unproven")


@pytest.mark.parametrize(("kind", "post"), [("LlamaTokenizerFast", None), ("Qwen2Tokenizer", BOS), (None, None)])
def test_where_the_class_or_the_file_puts_bos_it_is_one(tmp_path: Path, kind: str | None, post: Any) -> None:
    file = {"tokenizer.json": kit.changed(TOKENIZER, "post_processor", post)}
    old, new = ({**model({"tokenizer_class": kind, **more}), **file} for more in ({}, {"add_bos_token": False}))
    assert outcome(tmp_path, old, new) == {"TOK-CONF": "unproven"}
