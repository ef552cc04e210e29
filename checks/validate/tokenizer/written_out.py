"""What saving a tokenizer again writes out: settings that tokenizer.json holds, and lists made from its vocabulary."""

from __future__ import annotations

from typing import Any

from ....models.errors import UnreadableModel
from ....models.tokenizer import Tokenizer
from ....models.tokenizers.vocabulary import MAX_BYTES
from ..side import Side

# Settings that `transformers` reads out of tokenizer.json and keeps: (its part, its key there).
_KEPT: dict[str, tuple[str, str]] = {
    "max_length": ("truncation", "max_length"),
    "stride": ("truncation", "stride"),
    "truncation_strategy": ("truncation", "strategy"),
    "pad_token_type_id": ("padding", "pad_type_id"),
    "pad_to_multiple_of": ("padding", "pad_to_multiple_of"),
}
_STRATEGIES = {"longest_first": "LongestFirst", "only_first": "OnlyFirst", "only_second": "OnlySecond"}
_DEFAULTS = {"strategy": "LongestFirst", "stride": 0, "pad_type_id": 0}


def kept(side: Side, key: str) -> bool:
    """Whether `key` is a setting of tokenizer.json, and is missing or the one there, which counts in any case."""
    if key not in _KEPT:
        return False
    value = (side.tokenizer_config or {}).get(key)
    if value is None:
        return True
    tokenizer = side.tokenizer
    if tokenizer is None or tokenizer.format != "tokenizer.json":
        return False
    part, name = _KEPT[key]
    match getattr(tokenizer, part):
        case {**held}:
            return held.get(name, _DEFAULTS.get(name)) == _STRATEGIES.get(str(value), value)
        case _:
            return False


def listed_again(side: Side, name: str) -> bool:
    """Whether vocab.json or merges.txt holds what the BPE of the serving tokenizer.json does."""
    tokenizer = side.tokenizer
    if tokenizer is None or tokenizer.format != "tokenizer.json" or tokenizer.algorithm != "BPE":
        return False
    if name == "vocab.json":
        return _vocabulary(tokenizer) == _listed(side, tokenizer)
    if name != "merges.txt":
        return False
    file = side.tree.files[name]
    if file.size > MAX_BYTES:
        return False
    try:
        lines = file.path.read_bytes().decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise UnreadableModel(file.path, "not UTF-8") from None
    if lines[0].startswith("#version"):
        del lines[0]
    merges = [f"{left} {right}" for left, right in tokenizer.merges.value]
    return merges == [each.rstrip("\r") for each in lines if each.strip()]


def _vocabulary(tokenizer: Tokenizer) -> dict[str, int]:
    """The tokens of tokenizer.json's model that are no added ones: some writers list those with the others."""
    added = {each.content for each in tokenizer.literals}
    return {token: number for token, number in tokenizer.vocab.value.items() if token not in added}


def _listed(side: Side, tokenizer: Tokenizer) -> dict[str, Any]:
    """What vocab.json lists, without the added tokens that it gives their ids."""
    added = {each.content: each.id for each in tokenizer.literals}
    listed = side.json("vocab.json") or {}
    return {token: number for token, number in listed.items() if token not in added or added[token] != number}
