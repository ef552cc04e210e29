"""--draft: a draft model whose ids are other tokens, or whose head reads other states, does not speculate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.build import folder, gguf, llama, safetensors

WORDS = ["<unk>", "<s>", "</s>", *"abcdefghijklmnopqrstuvwxyzABC"]


def model(words: list[str] = WORDS, fill: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "config.json": llama(**changes),
        "model.safetensors": safetensors({"model.embed_tokens.weight": ("F32", [32, 8])}, fill=fill),
        "tokenizer.json": {
            "model": {"type": "WordLevel", "vocab": {word: n for n, word in enumerate(words)}, "unk_token": "<unk>"},
            "added_tokens": [],
        },
    }


def file(words: list[str] = WORDS, **changes: Any) -> dict[str, Any]:
    said = {"model": "llama", "tokens": words, "bos_token_id": 1, "eos_token_id": 2, **changes}
    keys = {f"tokenizer.ggml.{key}": value for key, value in said.items()}
    return {"model.gguf": gguf({"general.architecture": "llama", **keys}, {"token_embd.weight": (0, [8, len(words)])})}


def swapped(words: list[str]) -> list[str]:
    return [*words[:8], words[9], words[8], *words[10:]]


EAGLE = {"architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 16}


@pytest.mark.parametrize(
    ("target", "draft", "verdict"),
    [
        (model(), model(fill=2), "equal"),
        (model(), model(fill=2, num_hidden_layers=2, hidden_size=4), "equal"),
        (model(), model(swapped(WORDS)), "restart"),
        (model(), model(**EAGLE), "equal"),
        (model(), model(**EAGLE, hidden_size=16), "restart"),
        (model(), model(**EAGLE, hidden_size=16, target_hidden_size=8), "equal"),
        (file(), file(), "equal"),
        (file(), file(swapped(WORDS)), "restart"),
        (file(), file(bos_token_id=2), "restart"),
        (file(), file(add_bos_token=False), "restart"),
        (file(), file(add_bos_token=True), "equal"),
    ],
    ids=range(11),
)
def test_drafts(tmp_path: Path, target: dict[str, Any], draft: dict[str, Any], verdict: str) -> None:
    new, old = folder(tmp_path / "new", target), folder(tmp_path / "old", target)
    report = validate(new, old, draft=folder(tmp_path / "draft", draft), contract=Contract())
    assert report.facts["verdict"] == verdict, report.findings
    assert {each.rule for each in report.findings if each.level not in ("equal", "hot")} == (
        {"SPC-VOCAB"} if verdict == "restart" else set[str]()
    )
