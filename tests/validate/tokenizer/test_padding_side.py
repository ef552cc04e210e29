"""TOK-SIDE: the side on which a tokenizer pads where its configuration does not say, by class, family and release."""

from __future__ import annotations

from pathlib import Path

import pytest
from interlock.config.settings import Contract
from validate.tokenizer import kit

LLAMA, GEMMA, COHERE, PLAIN = "LlamaTokenizerFast", "GemmaTokenizer", "CohereTokenizerFast", "PreTrainedTokenizerFast"
SPACED = kit.unigram()
BYTES = kit.byte_level()


def model(side: str | None, kind: str | None, family: str = "llama", tokenizer: kit.Json | None = SPACED) -> kit.Json:
    said = {key: value for key, value in (("padding_side", side), ("tokenizer_class", kind)) if value}
    files: kit.Json = {"config.json": {"model_type": family}, "tokenizer_config.json": said}
    return files if tokenizer is None else {"tokenizer.json": tokenizer} | files


def level(folder: Path, old: kit.Json, new: kit.Json, contract: Contract | None = None) -> str | None:
    return kit.levels(kit.judge(folder, old, new, contract or Contract())).get("TOK-SIDE")


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        (LLAMA, "llama"),
        ("LlamaTokenizer", "llama"),
        ("CodeLlamaTokenizer", "code_llama"),
        (GEMMA, "gemma2"),
        (GEMMA, "paligemma"),
        (COHERE, "cohere"),
        ("XLNetTokenizer", "xlnet"),
        (None, "gemma"),
        (None, "xlnet"),
    ],
)
def test_classes_that_pad_left(tmp_path: Path, kind: str | None, family: str) -> None:
    none, left, right = (model(side, kind, family) for side in (None, "left", "right"))
    assert level(tmp_path / "1", none, left) is None
    assert level(tmp_path / "2", left, none) is None
    assert level(tmp_path / "3", none, right) == "breaks"
    assert level(tmp_path / "4", right, none) == "breaks"
    assert level(tmp_path / "5", left, right) == "breaks"


@pytest.mark.parametrize(
    ("kind", "family"), [(PLAIN, "llama"), ("Qwen2Tokenizer", "qwen2"), (None, "bert"), ("X", "x")]
)
def test_classes_that_pad_right(tmp_path: Path, kind: str | None, family: str) -> None:
    none, left, right = (model(side, kind, family) for side in (None, "left", "right"))
    assert level(tmp_path / "1", none, right) is None
    assert level(tmp_path / "2", right, none) is None
    assert level(tmp_path / "3", none, left) == "breaks"
    assert level(tmp_path / "4", left, none) == "unproven"  # a class of its own may pad left


@pytest.mark.parametrize(
    ("kind", "family", "tokenizer"),
    [
        (LLAMA, "mistral", SPACED),  # which releases 5 read with the plain class
        (LLAMA, "qwen2", SPACED),
        (LLAMA, "llama", BYTES),
        (None, "llama", SPACED),
        (LLAMA, "llama", None),
    ],
)
def test_where_releases_differ_the_contract_decides(
    tmp_path: Path, kind: str | None, family: str, tokenizer: kit.Json | None
) -> None:
    none, left, right = (model(side, kind, family, tokenizer) for side in (None, "left", "right"))
    assert level(tmp_path / "1", none, right) == "unproven"
    assert level(tmp_path / "2", none, left) == "unproven"
    assert level(tmp_path / "3", left, none) == "unproven"
    if tokenizer is not None:
        old = Contract(runtimes={"transformers": "4.46.3"})
        assert level(tmp_path / "4", none, left, old) is None
        assert level(tmp_path / "5", none, right, old) == "breaks"
    if tokenizer is BYTES:
        new = Contract(runtimes={"transformers": "5.24"})
        assert level(tmp_path / "6", none, right, new) is None
        assert level(tmp_path / "7", none, left, new) == "breaks"
