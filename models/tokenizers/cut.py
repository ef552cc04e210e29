r"""Cut vocabulary and merges out of a tokenizer.json as raw bytes, so that equal ones need no parsing.

Why the cut is sound for a valid document: an unescaped `"vocab"` followed by `: {` can only be a key, because inside
a string the quotes would be `\"`. If that key occurs once, and `}, "merges": [` (again a real key) once after it,
and the file ends with the merges list, then nothing but these two sections was taken out. The remainder must parse,
and must hold them empty at `/model/vocab` and `/model/merges`; otherwise the caller parses the whole file.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..errors import UnreadableModel
from ..strict_json import loads

_OPEN_VOCAB = re.compile(rb'"vocab"\s*:\s*\{')
_BEFORE_MERGES = re.compile(rb"\}\s*,\s*\Z")
_OPEN_MERGES = re.compile(rb'"merges"\s*:\s*\[')
_END = re.compile(rb"\]\s*\}\s*\}\s*\Z")
_MARGIN = 256  # white space between the parts that are looked at: more than this and the whole file is parsed


class Cut(NamedTuple):
    """The document without its sections, and the half-open byte spans of their contents (brackets left out)."""

    rest: dict[str, Any]
    vocab: tuple[int, int]
    merges: tuple[int, int]


def cut(data: bytes, what: object) -> Cut | None:
    """The sections of a tokenizer.json with a BPE model, None where they cannot be cut out with certainty."""
    vocab = _only_key(data, b'"vocab"', _OPEN_VOCAB)
    merges = _only_key(data, b'"merges"', _OPEN_MERGES)
    if vocab is None or merges is None or merges.start() < vocab.end():
        return None
    floor = max(vocab.end(), merges.start() - _MARGIN)
    before = _BEFORE_MERGES.search(data[floor : merges.start()])
    end = _END.search(data, max(merges.end(), len(data) - _MARGIN))
    if before is None or end is None:
        return None
    close = floor + before.start()
    rest = data[: vocab.end()] + data[close : merges.end()] + data[end.start() :]
    try:
        document = loads(rest, what)
    except UnreadableModel:
        return None  # the whole file is parsed instead, and its error has the right position
    match document:
        case {"model": {"vocab": empty, "merges": []}} if empty == {}:
            return Cut(document, (vocab.end(), close), (merges.end(), end.start()))
        case _:
            return None


def _only_key(data: bytes, quoted: bytes, opening: re.Pattern[bytes]) -> re.Match[bytes] | None:
    """The key `quoted` with its opening bracket, if it is in `data` once. Inside a string the quotes are escaped."""
    found: list[re.Match[bytes]] = []
    at = data.find(quoted)
    while at >= 0:
        match = opening.match(data, at)
        if match is not None and data[at - 1 : at] != b"\\":
            found.append(match)
        at = data.find(quoted, at + 1)
    return found[0] if len(found) == 1 else None


_ENTRY = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"\s*+:\s*+(\d{1,10})')


def highest(section: bytes) -> int:
    """The largest id in the contents of a vocabulary, -1 for none."""
    return max(map(int, _ENTRY.findall(section)), default=-1)
