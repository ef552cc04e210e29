"""Metadata of GGUF files that llama.cpp takes from elsewhere where it is not written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.build import folder, gguf

TOKENS = ["<unk>", "<s>", "</s>", *"abcdefghijklmnopqrstuvwxyz", "x1", "x2", "x3"]
PARTS = {
    **{key: [8] for key in ("attn_norm", "ffn_norm")},
    **{key: [8, 8] for key in ("attn_q", "attn_k", "attn_v", "attn_output")},
    **{key: [8, 16] for key in ("ffn_gate", "ffn_up")},
    "ffn_down": [16, 8],
}
TENSORS = {
    "token_embd.weight": (0, [8, 32]),
    "output_norm.weight": (0, [8]),
    **{f"blk.{number}.{part}.weight": (0, dims) for number in range(2) for part, dims in PARTS.items()},
}
L, T = "llama.", "tokenizer.ggml."


def file(fill: int, changes: dict[str, Any], kind: str = "llama") -> dict[str, Any]:
    said = {
        "general.architecture": "llama", f"{L}block_count": 2, f"{L}context_length": 128, f"{L}embedding_length": 8,
        f"{L}feed_forward_length": 16, f"{L}attention.head_count": 2, f"{T}model": kind, f"{T}tokens": TOKENS,
        f"{T}bos_token_id": 1, f"{T}eos_token_id": 2, f"{T}unknown_token_id": 0, **changes,
    }  # fmt: skip
    return {"model.gguf": gguf(said, TENSORS, fill)}


def verdict(path: Path, old: dict[str, Any], new: dict[str, Any], kind: str = "llama") -> str:
    sides = folder(path / "old", file(0, old, kind)), folder(path / "new", file(1, new, kind))
    return str(validate(sides[1], sides[0], contract=Contract()).facts["verdict"])


WRITTEN: list[dict[str, Any]] = [
    {f"{L}attention.head_count_kv": 2},
    {f"{L}attention.key_length": 4, f"{L}attention.value_length": 4},
    {f"{L}rope.dimension_count": 4},
    {f"{L}vocab_size": 32},
    {f"{L}pooling_type": 0},
    {f"{L}rope.scaling.factor": 1.0},
    {f"{L}rope.scaling.original_context_length": 128},
    {f"{L}tensor_data_layout": "Meta AI original pth"},
    {f"{T}add_space_prefix": True},
    {f"{T}remove_extra_whitespaces": False},
]
OTHER: list[dict[str, Any]] = [
    {f"{L}attention.head_count_kv": 1},
    {f"{L}attention.key_length": 8},
    {f"{L}rope.dimension_count": 2},
    {f"{L}vocab_size": 31},
    {f"{L}pooling_type": 1},
    {f"{L}rope.scaling.factor": 2.0},
    {f"{L}rope.scaling.original_context_length": 64},
    {f"{T}add_space_prefix": False},
    {f"{T}remove_extra_whitespaces": True},
]


@pytest.mark.parametrize("said", WRITTEN, ids=str)
@pytest.mark.parametrize("back", [False, True])
def test_defaults_that_are_written_out_are_no_change(tmp_path: Path, said: dict[str, Any], back: bool) -> None:
    assert verdict(tmp_path, *(({}, said), (said, {}))[back]) == "hot"


@pytest.mark.parametrize("said", OTHER, ids=str)
@pytest.mark.parametrize("back", [False, True])
def test_other_values_are_a_change(tmp_path: Path, said: dict[str, Any], back: bool) -> None:
    assert verdict(tmp_path, *(({}, said), (said, {}))[back]) not in ("hot", "equal")


def test_spaces_of_other_kinds_have_other_defaults(tmp_path: Path) -> None:
    assert verdict(tmp_path, {}, {f"{T}add_space_prefix": True}, "t5") != "hot"
