"""Settings of tokenizer_config.json that say again what the tokenizer file says: they come and go without an effect."""

from __future__ import annotations

from typing import Any

from ....models.hf_config import token_content
from ....models.strict_json import items_of
from ....models.tokenizer import AddedToken
from ..side import Side

_LISTS = ("added_tokens_decoder", "additional_special_tokens")


def repeated(old: Side, new: Side, key: str) -> bool:
    """Whether a key of tokenizer_config.json says nothing that the tokenizer files of both models do not.

    TOK-ADDED and TOK-PRE judge these. A named token may only come: code may ask for one that was there.
    """
    before, after = ((side.tokenizer_config or {}).get(key) for side in (old, new))
    if key in _LISTS:
        return _says_again(old, key, before) and _says_again(new, key, after)
    if key == "extra_special_tokens" or key.endswith("_token"):
        return not before and _named(new, after)
    if key == "add_prefix_space":
        return _prefix(old, before) and _prefix(new, after)
    if key == "tokenizer_class":
        # Where there is a tokenizer.json, either name stands for the class that reads it.
        fast = all(side.tokenizer is not None and side.tokenizer.format == "tokenizer.json" for side in (old, new))
        return fast and str(before).removesuffix("Fast") == str(after).removesuffix("Fast") and bool(before and after)
    return False


def _says_again(side: Side, key: str, value: Any) -> bool:
    if not value:
        return True
    tokenizer = side.tokenizer
    if tokenizer is None:
        return False
    known = {each.content: each for each in tokenizer.literals}
    match key, value:
        case "added_tokens_decoder", {**entries}:
            return all(_listed(known, entry, number) for number, entry in entries.items())
        case "additional_special_tokens", [*entries]:
            return all(_listed(known, entry) for entry in entries)
        case _:
            return False


def _listed(known: dict[str, AddedToken], entry: Any, number: str | None = None) -> bool:
    """Whether the tokenizer file has a token with this text, id and flags; a text alone stands for a special one."""
    token = known.get(token_content(entry) or "")
    if token is None or (number is not None and number != str(token.id)):
        return False
    match entry:
        case {**flags}:
            special = bool(flags.get("special", number is None))
            asked = (special, *(bool(flags.get(flag, False)) for flag in ("single_word", "lstrip", "rstrip")))
            return (*asked, bool(flags.get("normalized", not special))) == token.flags
        case _:
            return token.special


def _named(side: Side, value: Any) -> bool:
    """Whether names were only given to special tokens that the tokenizer file has."""
    if side.tokenizer is None or not value:
        return False
    known = {each.content: each for each in side.tokenizer.literals}
    match value:
        case {"content": str()}:
            return _listed(known, value)
        case {**names}:
            return all(_listed(known, entry) for entry in names.values())
        case _:
            return all(_listed(known, entry) for entry in items_of(value))


def _prefix(side: Side, value: Any) -> bool:
    """Whether `add_prefix_space` is what the byte-level pre-tokenizer does; missing, classes mean no by it."""
    cut: Any = side.tokenizer.pre_tokenizer if side.tokenizer is not None else None
    if not isinstance(value, bool | None) or cut is None:
        return False
    parts: list[Any] = cut["pretokenizers"] if cut.get("type") == "Sequence" else [cut]
    said = {bool(part.get("add_prefix_space")) for part in parts if part.get("type") == "ByteLevel"}
    return said == {bool(value)} and not any(part.get("type") == "Metaspace" for part in parts)
