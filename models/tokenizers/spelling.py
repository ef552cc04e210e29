"""The bytes a token stands for. Formats spell them differently; comparing across formats needs one spelling."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from ..strict_json import items_of

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

RANKED = frozenset({"tekken", "tiktoken"})  # formats that list the ranks of byte strings
SPACE = "\u2581"  # SentencePiece writes a space as LOWER ONE EIGHTH BLOCK
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def token_bytes(tokenizer: Tokenizer, token: str) -> bytes:
    """The bytes that a token of the model, not an added one, decodes to inside a text."""
    return speller(tokenizer)(token)


def speller(tokenizer: Tokenizer) -> Callable[[str], bytes]:
    """`token_bytes` for many tokens of one tokenizer."""
    if tokenizer.format in RANKED:
        return _latin
    return unmapped if is_byte_level(tokenizer) else _text


def _latin(token: str) -> bytes:
    return token.encode("latin-1", "ignore")


def _text(token: str) -> bytes:
    byte = _BYTE.fullmatch(token)
    return bytes([int(byte[1], 16)]) if byte else token.replace(SPACE, " ").encode("utf-8", "surrogateescape")


def is_byte_level(tokenizer: Tokenizer) -> bool:
    """Whether tokens are spelled in the printable stand-ins for bytes that GPT-2 introduced."""
    if tokenizer.format in RANKED:
        return True  # in single bytes, which have stand-ins one to one
    if tokenizer.settings.get("byte_level") is not None:
        return bool(tokenizer.settings["byte_level"])
    return any(_has(part, "ByteLevel") for part in (tokenizer.pre_tokenizer, tokenizer.decoder, tokenizer.normalizer))


def _has(part: Any, kind: str) -> bool:
    """Whether a canonical component is of `kind` or, as a flat sequence, holds one."""
    match part:
        case {"type": str(name)} if name == kind:
            return True
        case {"type": "Sequence"}:
            return any(_has(item, kind) for value in part.values() for item in items_of(value))
        case _:
            return False


@cache
def alphabet() -> dict[str, int]:
    """GPT-2's stand-in characters: printable Latin-1 bytes stand for themselves, the others from U+0100 up."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    table.update((chr(0x100 + i), byte) for i, byte in enumerate(b for b in range(256) if b not in printable))
    return table


def unmapped(token: str) -> bytes:
    """The bytes of a byte-level token; a token with a character outside the alphabet is its own UTF-8."""
    try:
        return token.translate(_latin_of()).encode("latin-1")
    except UnicodeEncodeError:
        return token.encode("utf-8", "surrogateescape")


@cache
def _latin_of() -> dict[int, int]:
    """Stand-ins to the Latin-1 characters of their bytes; Latin-1 characters that stand for nothing to none of them."""
    none = dict.fromkeys(range(256), 65535)
    return {**none, **{ord(stand_in): byte for stand_in, byte in alphabet().items()}}


@cache
def _reverse() -> list[str]:
    return [character for character, _ in sorted(alphabet().items(), key=lambda item: item[1])]


def mapped(data: bytes) -> str:
    """Bytes in GPT-2's stand-in characters: the inverse of `unmapped`."""
    table = _reverse()
    return "".join(table[byte] for byte in data)
