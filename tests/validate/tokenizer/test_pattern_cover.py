"""Patterns that match every character: then it is all the same whether a split keeps only matches or everything."""

from __future__ import annotations

import unicodedata
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interlock.checks.validate.tokenizer.proofs import onig, pretokens
from tokenizers import Regex, pre_tokenizers
from validate.tokenizer import kit

COVERING = [
    kit.LLAMA3,
    pretokens.GPT2,
    r"\p{L}+|[^\p{L}]",
    r"a|[^a]",
    r"\s+(?!\S)|\s+|\S+",
    r"\p{L}|\p{M}|\p{N}|\p{P}|\p{S}|\p{Z}|\p{C}",
]
LEAVING = [
    r"\p{L}+",
    r"\p{L}+|\p{N}+",
    r"\s+(?!\S)|\S+",  # white space before a word
    r"a*|[^a]",  # may match nothing
    r"(?=a)|.|\n",
    r"\w+|[^\w\s]+",
    r"\p{L}|\p{M}|\p{N}|\p{P}|\p{S}|\p{Z}",  # control characters
    r"^a|[^a]",
    r"\S++|\s",
]


def split(pattern: str, behaviour: str, *, invert: bool = False) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behaviour, "invert": invert}


def atoms(pattern: str) -> str:
    return pretokens._representatives(onig.classes(pattern))  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("pattern", COVERING)
def test_keeping_matches_is_keeping_everything(pattern: str) -> None:
    found = pretokens.search(split(pattern, "Removed", invert=True), split(pattern, "Isolated"))
    assert found.proof
    kept = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    both = pre_tokenizers.Split(Regex(pattern), "isolated")
    for text in map("".join, product(atoms(pattern)[:14], repeat=3)):
        assert kept.pre_tokenize_str(text) == both.pre_tokenize_str(text), text


@pytest.mark.parametrize("pattern", LEAVING)
def test_patterns_that_leave_something_out_are_not_proven(pattern: str) -> None:
    assert not pretokens.search(split(pattern, "Removed", invert=True), split(pattern, "Isolated")).proof


def test_every_category_is_represented() -> None:
    present = {unicodedata.category(c) for c in pretokens._UNIVERSE}  # pyright: ignore[reportPrivateUsage]
    assert present | {"Cs"} == {unicodedata.category(chr(n)) for n in range(0x110000)}


BRANCHES = [
    r"\p{L}+", r"\p{N}{1,2}", r"\s+", r"\s+(?!\S)", r"[^\s\p{L}\p{N}]+", r" ?\p{L}", r"a*", r"\S", r"(?i:'s)", r"[^a]",
    r"b|c",
]  # fmt: skip


@given(st.lists(st.sampled_from(BRANCHES), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_a_proof_holds_in_the_library(branches: list[str]) -> None:
    pattern = "|".join(branches)
    if pretokens.search(split(pattern, "Removed", invert=True), split(pattern, "Isolated")).proof:
        kept = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
        for text in map("".join, product("aZ1 \n.\u0301", repeat=3)):
            assert "".join(piece for piece, _ in kept.pre_tokenize_str(text)) == text
