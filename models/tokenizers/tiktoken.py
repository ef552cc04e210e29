"""Read tiktoken's rank files: one line a token, its bytes in base64, a space and its rank."""

from __future__ import annotations

from ..errors import UnreadableModel
from ..tokenizer import MAX_TOKENS, Tokenizer
from ..tree import ModelTree, TreeFile
from .ranks import decoded, ranked

MAX_BYTES = 128 << 20
# Whisper's files give their last rank to no bytes at all; tiktoken reads that, and no text ever becomes this token.
_EMPTY = b"="
# Ids that a file leaves to special tokens, which are code: p50k_base has one amidst its ranks.
MAX_LEFT_OUT = 64


def read(file: TreeFile, tree: ModelTree) -> Tokenizer:  # noqa: ARG001 - the signature of all readers
    """The tokenizer of a .tiktoken file. Pattern and special tokens are code, not data, in this format."""
    what = str(file.path)
    if file.size > MAX_BYTES:
        raise UnreadableModel(what, f"{file.size} bytes is more than the {MAX_BYTES} a tokenizer may have")
    tokens: dict[int, str] = {}
    data = file.path.read_bytes()
    if data.count(b"\n") + data.count(b"\r") > MAX_TOKENS:
        raise UnreadableModel(what, f"has more than {MAX_TOKENS:,} lines")
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        text, _, rank = line.partition(b" ")
        if not rank.isdigit() or len(rank) > 9:
            raise UnreadableModel(what, f"line {number} is not base64, a space and a rank")
        if int(rank) in tokens:
            raise UnreadableModel(what, f"line {number} has the rank {int(rank)} of an earlier line")
        tokens[int(rank)] = "" if text == _EMPTY else decoded(text, what, f"line {number}")
    left_out = max(tokens, default=0) + 1 - len(tokens)
    if not tokens or left_out > MAX_LEFT_OUT:
        raise UnreadableModel(what, f"ranks have gaps, {left_out} in all", hint="is the file complete?")
    return ranked(what, "tiktoken", tokens, specials=[], pattern=None)
