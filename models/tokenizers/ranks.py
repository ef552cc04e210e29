"""What tekken and tiktoken share: tokens are bytes with a rank, and merges follow from the ranks.

A token's bytes are spelled as Latin-1 characters, one each. Every split of a token into two tokens is a merge of
that token's rank, and a word that is a token is taken whole.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from collections.abc import Mapping

from ..errors import UnreadableModel
from ..tokenizer import Format, Part, Tokenizer


def decoded(text: str | bytes, what: str, where: str) -> str:
    """The Latin-1 spelling of base64 bytes."""
    try:
        data = b64decode(text, validate=True)
    except (Error, ValueError):
        raise UnreadableModel(what, f"{where} is not base64") from None
    if not data:
        raise UnreadableModel(what, f"{where} is empty")
    return data.decode("latin-1")


def ranked(
    path: str, kind: Format, tokens: Mapping[int, str], *, specials: list[str], pattern: str | None
) -> Tokenizer:
    """A tokenizer whose first ids are `specials`; after them come the `tokens`, by rank."""
    first = len(specials)
    vocab = {token: first + rank for rank, token in sorted(tokens.items())}
    if len(vocab) != len(tokens):
        raise UnreadableModel(path, f"holds {len(tokens) - len(vocab)} tokens twice")
    missing = next((byte for byte in range(256) if chr(byte) not in vocab), None)
    if missing is not None:
        raise UnreadableModel(path, f"has no token for the byte 0x{missing:02X}", hint="is the file complete?")
    # Specials never match text; where one is spelled like a token, the prefix keeps both.
    names = {name if name not in vocab else f"\0{name}": number for number, name in enumerate(specials)}
    scores = {first + rank: -float(rank) for rank in tokens}
    controls = frozenset(range(first))
    split = None
    if pattern is not None:
        split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return Tokenizer(
        path=path,
        format=kind,
        algorithm="BPE",
        vocab=Part(lambda: {**names, **vocab}),
        scores=Part(lambda: scores),
        settings={"ignore_merges": True},
        pre_tokenizer=split,
        controls=controls,
        unmatched=controls,
    )
