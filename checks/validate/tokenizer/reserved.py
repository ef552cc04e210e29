"""Slots that publishers keep free in a vocabulary; renaming one activates it, which moves no other id."""

from __future__ import annotations

import re

_PATTERNS = (
    r"<\|reserved_special_token_\d+\|>",
    r"<\|reserved_\d+\|>",
    r"<\|(?:unused|extra|placeholder|dummy)_?\d+\|>",
    r"\[control_\d+\]",
    r"\[unused_?\d+\]",
    r"<unused_?\d+>",
    r"<special_\d+>",
    r"<reserved_?\d+>",
    r"<extra_id_\d+>",
    r"<pad_?\d+>",
)
_RESERVED = re.compile("|".join(_PATTERNS), re.IGNORECASE)


def is_reserved(token: str) -> bool:
    """Whether a token's name says that it stands for nothing yet."""
    return _RESERVED.fullmatch(token) is not None
