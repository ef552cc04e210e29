"""Whether a token is part of what answers show: ordinary text, or a special token that marks something."""

from __future__ import annotations

from typing import Any

from ....models.hf_config import token_content
from ....models.strict_json import items_of
from ..chat.templates import first_literal
from ..side import Side
from ..tokenizer.reserved import is_reserved
from ..tokenizer.special import special


def visible(side: Side, number: int) -> bool | None:
    """True for ordinary text, False for a special token, None where there is no tokenizer to ask."""
    tokenizer = side.tokenizer
    if tokenizer is None:
        return None
    token = tokenizer.tokens.get(number)
    if token is None:
        # Formats without a list of special tokens number them after the vocabulary, in code.
        return False if tokenizer.format == "tiktoken" else None
    if number in tokenizer.controls or any(each.id == number and each.special for each in tokenizer.literals):
        return False
    if any(number in special(side, role).ids for role in ("bos", "pad", "unk")):
        return False
    # A mark such as <|im_end|> is nothing that answers contain, however the tokenizer lists it.
    return not (token in _declared(side) or is_reserved(token) or first_literal(token, ()) == token)


def _declared(side: Side) -> set[str]:
    """What the configuration of the tokenizer lists as special."""
    found: set[str | None] = set()
    for settings in (side.tokenizer_config or {}, side.special_tokens_map or {}):
        values: list[Any] = [value for key, value in settings.items() if key.endswith("_token")]
        values += items_of(settings.get("additional_special_tokens"))
        found.update(token_content(each) for each in values)
    return {each for each in found if each is not None}
