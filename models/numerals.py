"""Numbers as names of files, keys and options spell them."""

from __future__ import annotations

_LONGEST = 18  # digits, which 64 bits hold


def whole(text: str) -> int | None:
    """The number of a few ASCII digits, None for any other text.

    `str.isdigit` alone also takes superscripts, which `int` does not read, and `int` refuses thousands of digits.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST else None
