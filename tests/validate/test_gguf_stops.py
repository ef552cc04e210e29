"""Where llama.cpp ends an answer: eot_token_id and eom_token_id, and what it ends at whatever they say."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.build import folder

TOKENS = ["<unk>", "<s>", "</s>", "a", "b", "<stop>", "<|im_end|>"]
TYPES = [2, 3, 3, 1, 1, 3, 3]
T = "tokenizer.ggml."


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def file(templates: list[str] | None = None, **ids: int) -> dict[str, Any]:
    keys = [text("general.architecture") + struct.pack("<I", 8) + text("llama")]
    keys += [text(f"{T}model") + struct.pack("<I", 8) + text("llama")]
    for name, words in (("ggml.tokens", TOKENS), ("chat_templates", templates or [])):
        if words:
            keys += [text(f"tokenizer.{name}") + struct.pack("<IIQ", 9, 8, len(words)) + b"".join(map(text, words))]
    keys += [text(f"{T}token_type") + struct.pack(f"<IIQ{len(TYPES)}i", 9, 5, len(TYPES), *TYPES)]
    for name, number in {"eos": 2, **ids}.items():
        keys += [text(f"{T}{name}_token_id") + struct.pack("<II", 4, number)]
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)) + b"".join(keys)
    return {"model.gguf": head + bytes(-len(head) % 32)}


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        ({"eot": 5}, {}, "breaks"),
        ({"eot": 5}, {"eot": 6}, "breaks"),
        ({}, {"eot": 5}, "hot"),
        ({}, {"eot": 4}, "breaks"),
        ({}, {"eom": 4}, "breaks"),
        ({"eom": 5}, {"eot": 5}, None),
        ({}, {"eot": 6}, None),  # ends answers by its text
        ({"eot": 6}, {}, None),
        ({}, {"eot": 2}, None),  # the eos
    ],
)
def test_ends_of_answers(tmp_path: Path, old: dict[str, int], new: dict[str, int], level: str | None) -> None:
    report = validate(folder(tmp_path / "new", file(**new)), folder(tmp_path / "old", file(**old)), contract=Contract())
    found = {each.level for each in report.findings if each.rule == "GGF-META"}
    assert (level in found) if level else not found
    assert report.facts["verdict"] == (level or "hot")


def test_texts_are_shown_as_texts(tmp_path: Path) -> None:
    new, old = folder(tmp_path / "new", file(["tool_use"])), folder(tmp_path / "old", file())
    messages = [each.message for each in validate(new, old, contract=Contract()).findings if each.rule == "GGF-META"]
    assert messages == ["tokenizer.chat_templates changed: none → ['tool_use']"]
