"""Merges of pieces that are no tokens: the library takes no such tokenizer, so nothing is replayed, and all is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from interlock.checks.validate.run import validate
from interlock.checks.validate.tokenizer.library import Library, library
from interlock.models.tokenizer import read_tokenizer
from interlock.models.tree import read_tree
from validate.tokenizer import kit
from validate.tokenizer.test_formats import bpe_tokens, write_gguf
from validate.tokenizer.test_incidents import BASE

MERGES: list[str] = BASE["model"]["merges"]


def written(path: Path, merges: list[str], pre: str | None) -> Path:
    tokens, types = bpe_tokens()
    return write_gguf(path, "gpt2", tokens, types, merges=merges, pre=pre)


@pytest.mark.parametrize("extra", ["zq zq", "a zq", "t z"])
@pytest.mark.parametrize("pre", ["qwen2", None])
def test_they_are_told_without_a_replay(tmp_path: Path, extra: str, pre: str | None) -> None:
    old = written(tmp_path / "old.gguf", [*MERGES, extra], "llama-bpe")
    new = written(tmp_path / "new.gguf", [*MERGES, extra], pre)
    assert kit.verdict(validate(str(new), against=str(old))) in ("unproven", "restart", "breaks")
    tokenizer = read_tokenizer(read_tree(old))
    assert tokenizer is not None
    found = library(tokenizer)
    assert isinstance(found, str)
    assert "which is no token" in found


def test_without_them_a_library_replays(tmp_path: Path) -> None:
    tokenizer = read_tokenizer(read_tree(written(tmp_path / "m.gguf", MERGES, "llama-bpe")))
    assert tokenizer is not None
    assert isinstance(library(tokenizer), Library)
