"""GGF-LOAD: what llama.cpp refuses for its header, alone and against the live version."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.report.report import Report
from validate.build import folder, gguf

TOKENS = ["<unk>", "<s>", "</s>", *"abcdefghijklmnopqrstuvwxyz", "x1", "x2", "x3"]
PARTS = {
    **{key: [8] for key in ("attn_norm", "ffn_norm")},
    **{key: [8, size] for key, size in (("attn_q", 8), ("attn_k", 4), ("attn_v", 4), ("attn_output", 8))},
    **{key: [8, 16] for key in ("ffn_gate", "ffn_up")},
    "ffn_down": [16, 8],
}
L, T = "llama.", "tokenizer.ggml."
SAID: dict[str, Any] = {
    "general.architecture": "llama", f"{L}block_count": 2, f"{L}context_length": 128, f"{L}embedding_length": 8,
    f"{L}feed_forward_length": 16, f"{L}attention.head_count": 2, f"{L}attention.head_count_kv": 1,
    f"{T}model": "llama", f"{T}tokens": TOKENS, f"{T}bos_token_id": 1, f"{T}eos_token_id": 2,
}  # fmt: skip


def file(fill: int = 0, parts: dict[str, list[int]] = PARTS, **changes: Any) -> dict[str, Any]:
    said = {key: value for key, value in {**SAID, **changes}.items() if value is not None}
    blocks = {f"blk.{number}.{part}.weight": (0, dims) for number in range(2) for part, dims in parts.items()}
    tensors = {"token_embd.weight": (0, [8, 32]), "output_norm.weight": (0, [8]), **blocks}
    return {"model.gguf": gguf(said, tensors, fill)}


def levels(report: Report) -> list[str | None]:
    return [each.level for each in report.findings if each.rule == "GGF-LOAD"]


REFUSED: list[dict[str, Any]] = [
    {f"{L}context_length": None},
    {f"{L}embedding_length": None},
    {f"{L}attention.head_count": None},
    {f"{L}block_count": None},
    {f"{L}feed_forward_length": None},
    {f"{T}tokens": [*TOKENS, "y", "z"]},
    {f"{L}embedding_length": 16},
    {f"{L}feed_forward_length": 8},
    {f"{L}attention.head_count_kv": 2},
    {f"{L}attention.key_length": 8},
]


@pytest.mark.parametrize("changes", REFUSED, ids=str)
def test_what_llama_cpp_refuses(tmp_path: Path, changes: dict[str, Any]) -> None:
    new, old = folder(tmp_path / "new", file(1, **changes)), folder(tmp_path / "old", file())
    assert "breaks" in levels(validate(new, old, contract=Contract()))
    assert not validate(new, contract=Contract()).facts["consistent"]
    retrained = folder(tmp_path / "more", file(2, **changes))  # somebody serves it, patched or not
    assert set(levels(validate(retrained, new, contract=Contract()))) == {"hot"}


TAKEN: list[dict[str, Any]] = [
    {},
    {f"{L}attention.key_length": 4, f"{L}attention.value_length": 4},
    {f"{L}vocab_size": 32},
]


@pytest.mark.parametrize("changes", TAKEN, ids=str)
def test_what_llama_cpp_takes(tmp_path: Path, changes: dict[str, Any]) -> None:
    new, old = folder(tmp_path / "new", file(1, **changes)), folder(tmp_path / "old", file())
    report = validate(new, old, contract=Contract())
    assert report.facts["verdict"] == "hot", report.findings
    assert validate(new, contract=Contract()).facts["verdict"] == "equal"


def test_sizes_that_mean_something_else_elsewhere(tmp_path: Path) -> None:
    recurrent = {"ssm_in": [8, 32], "attn_norm": [8]}
    names = {key.replace("llama.", "mamba."): value for key, value in SAID.items() if "head_count" not in key}
    said = {**dict.fromkeys(SAID), **names, "general.architecture": "mamba"}
    assert not levels(validate(folder(tmp_path / "a", file(parts=recurrent, **said)), contract=Contract()))
    fused = {**{key: dims for key, dims in PARTS.items() if key != "ffn_gate"}, "ffn_up": [8, 32]}
    assert not levels(validate(folder(tmp_path / "b", file(parts=fused)), contract=Contract()))
    experts = {**PARTS, "ffn_gate": [8, 8], "ffn_up": [8, 8], "ffn_gate_exps": [8, 16, 2]}
    assert not levels(validate(folder(tmp_path / "c", file(parts=experts)), contract=Contract()))


def test_the_other_byte_order(tmp_path: Path) -> None:
    key, value = b"general.architecture", b"llama"
    head = b"GGUF" + struct.pack(">IQQQ", 3, 0, 1, len(key)) + key + struct.pack(">IQ", 8, len(value)) + value
    big = {"model.gguf": head + bytes(-len(head) % 32)}
    new, same = folder(tmp_path / "new", big), folder(tmp_path / "same", {**big, "README.md": "more"})
    assert levels(validate(new, contract=Contract())) == ["unproven"]
    assert levels(validate(new, folder(tmp_path / "old", file()), contract=Contract())) == ["breaks"]
    assert not levels(validate(same, new, contract=Contract()))
