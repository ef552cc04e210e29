"""Special tokens' ids in the text part of a configuration, where transformers 5 saves those of multimodal models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from validate.tokenizer import kit

TOKENIZER = kit.byte_level(specials=("<|bos|>", "<|eos|>", "<|pad|>", "<|eot|>"))
IDS: dict[str, int] = {each["content"]: each["id"] for each in TOKENIZER["added_tokens"]}
BOS, EOS, PAD, EOT = IDS.values()
TOP = {"bos_token_id": BOS, "eos_token_id": [EOS, EOT], "pad_token_id": PAD}
PARTS = ("text_config", "llm_config", "decoder_config", "decoder")


def model(top: dict[str, Any], part: dict[str, Any], name: str = "text_config", **files: Any) -> dict[str, Any]:
    config = {"model_type": "qwen2_vl", name: {"hidden_size": 8, **part}, **top}
    settings = {"tokenizer_config.json": {"eos_token": "<|eos|>", "bos_token": None}}
    return {"config.json": config, "tokenizer.json": TOKENIZER, **settings, **files}


def levels(tmp_path: Path, old: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    found = kit.levels(kit.judge(tmp_path, old, new))
    return {rule: level for rule, level in found.items() if level != "hot" and rule in RULES}


RULES = ("GEN-EOS", "TOK-EOS", "TOK-BOS", "TOK-PADTOK")


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("bare", [True, False])
def test_a_move_is_no_change(tmp_path: Path, name: str, bare: bool) -> None:
    old, new = model(TOP, {}, name), model({}, TOP, name)
    for each in (old, new) if bare else ():
        del each["tokenizer.json"], each["tokenizer_config.json"]
    assert levels(tmp_path / "there", old, new) == {}
    assert levels(tmp_path / "back", new, old) == {}
    both = model(TOP, TOP, name)
    if not bare:
        assert levels(tmp_path / "both", old, both) == {}


def test_beside_a_generation_config_too(tmp_path: Path) -> None:
    files = {"generation_config.json": TOP}
    assert levels(tmp_path / "a", model(TOP, {}, **files), model({}, TOP, **files)) == {}
    # The top level wins, and so does generation_config.json: what the text part says there nobody reads.
    stale = {"eos_token_id": 1, "bos_token_id": 2, "pad_token_id": 3}
    assert levels(tmp_path / "b", model(TOP, stale), model(TOP, {})) == {}
    assert levels(tmp_path / "c", model({}, stale, **files), model({}, {}, **files)) == {}


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("eos_token_id", EOS, "GEN-EOS"),
        ("eos_token_id", None, "GEN-EOS"),
        ("bos_token_id", EOT, "TOK-BOS"),
        ("pad_token_id", EOT, "TOK-PADTOK"),
    ],
)
@pytest.mark.parametrize("was_nested", [True, False])
def test_another_id_breaks_wherever_it_stands(
    tmp_path: Path, key: str, value: Any, rule: str, was_nested: bool
) -> None:
    old = model({}, TOP) if was_nested else model(TOP, {})
    assert levels(tmp_path, old, model({}, {**TOP, key: value})).get(rule) == "breaks"


def test_a_stop_id_of_ordinary_text_in_the_text_part_breaks(tmp_path: Path) -> None:
    new = model({}, {**TOP, "eos_token_id": [EOS, EOT, TOKENIZER["model"]["vocab"]["a"]]})
    assert levels(tmp_path, model(TOP, {}), new)["GEN-EOS"] == "breaks"


def test_defaults_that_are_spelled_out_are_no_change(tmp_path: Path) -> None:
    assert levels(tmp_path, model({"eos_token_id": [EOS, EOT]}, {}), model({}, TOP)) == {}
