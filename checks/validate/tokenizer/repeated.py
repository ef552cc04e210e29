"""Settings of tokenizer_config.json that say again what the tokenizer file says: they come and go without an effect."""

from __future__ import annotations

from typing import Any

from ....models.hf_config import token_content
from ....models.strict_json import items_of
from ....models.tokenizer import AddedToken
from ....models.tokenizers.pipeline import parts
from ..side import Side
from .proofs.template import frames

_MAP = "special_tokens_map.json"
# Classes that put no bos token of their own accord; Llama's, Gemma's and Cohere's do.
_WITHOUT_BOS = frozenset(
    (
        "PreTrainedTokenizer",
        "TokenizersBackend",
        "Qwen2Tokenizer",
        "GPT2Tokenizer",
        "CodeGenTokenizer",
        "GPTNeoXTokenizer",
    )
)
_LISTS = ("added_tokens_decoder", "additional_special_tokens")


def repeated(old: Side, new: Side, key: str, file: str) -> bool:
    """Whether a key of tokenizer_config.json says nothing that the tokenizer files of both models do not.

    TOK-ADDED and TOK-PRE judge these. A named token may only come: code may ask for one that was there.
    special_tokens_map.json may as well say again what tokenizer_config.json does.
    """
    before, after = ((side.json(file) or {}).get(key) for side in (old, new))
    if file == _MAP and all(not value or copied(side, key) for side, value in ((old, before), (new, after))):
        return True
    if key == "add_bos_token":
        return not before and not after and all(_adds_no_bos(side) for side in (old, new))
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


def copied(side: Side, key: str) -> bool:
    """Whether special_tokens_map.json has under `key` what tokenizer_config.json says, there or among its names."""
    said, config = (side.special_tokens_map or {}).get(key), side.tokenizer_config or {}
    match config.get("extra_special_tokens"):
        case {**names}:
            known = [config.get(key), names.get(key)]
        case _:
            known = [config.get(key)]
    return said is not None and any(_plain(said) == _plain(each) for each in known if each is not None)


def _plain(value: Any) -> list[Any]:
    """A token or a list of tokens, each by its text."""
    return [token_content(each) or each for each in items_of(value)]


def _adds_no_bos(side: Side) -> bool:
    """Whether a text gets no bos token, for certain, where the settings do not ask for one."""
    tokenizer, kind = side.tokenizer, str((side.tokenizer_config or {}).get("tokenizer_class"))
    if tokenizer is None or tokenizer.format != "tokenizer.json" or kind.removesuffix("Fast") not in _WITHOUT_BOS:
        return False
    found = frames(tokenizer.post_processor)
    return found is not None and all(frame[0][0] == "A" for frame in found)


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
    said = {bool(part.get("add_prefix_space")) for part in parts(cut) if part.get("type") == "ByteLevel"}
    return said == {bool(value)} and not any(part.get("type") == "Metaspace" for part in parts(cut))
