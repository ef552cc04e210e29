"""Whether files of two models hold the same bytes, in bounded time."""

from __future__ import annotations

import os
from typing import Literal

from ...models.tree import ModelTree, TreeFile

Same = Literal["same", "different", "unknown"]

# Files up to this many bytes are compared whole; of larger ones, samples can only prove a difference.
WHOLE = 128 << 20
SAMPLES = 16
_SAMPLE = 4096
_CHUNK = 1 << 20


def same_bytes(old: TreeFile, new: TreeFile) -> Same:
    """`same` or `different` where that is known, `unknown` for large files whose samples agree."""
    if old.size != new.size:
        return "different"
    if old.digest and new.digest:
        return "same" if old.digest == new.digest else "different"
    if old.partial or new.partial:
        return "unknown"
    if old.path.samefile(new.path):
        return "same"
    with old.path.open("rb", buffering=0) as a, new.path.open("rb", buffering=0) as b:
        fa, fb = a.fileno(), b.fileno()
        # Retrained weights differ nearly everywhere: one sample usually settles it without reading the file.
        for index in range(SAMPLES):
            at = (new.size - _SAMPLE) * index // max(1, SAMPLES - 1)
            if os.pread(fa, _SAMPLE, max(0, at)) != os.pread(fb, _SAMPLE, max(0, at)):
                return "different"
        if new.size > WHOLE:
            return "unknown"
        for at in range(0, new.size, _CHUNK):
            if os.pread(fa, _CHUNK, at) != os.pread(fb, _CHUNK, at):
                return "different"
    return "same"


def identical(old: ModelTree, new: ModelTree) -> bool:
    """Whether the two models are known to be the same, byte for byte. A model given as one file has no name."""
    olds, news = ({n: f for n, f in tree.files.items() if f.kind != "signature"} for tree in (old, new))
    if (old.single or new.single) and len(olds) == len(news) == 1:
        pairs = list(zip(olds.values(), news.values(), strict=True))
    elif olds.keys() == news.keys():
        pairs = [(olds[name], file) for name, file in news.items()]
    else:
        return False
    # Small files first: they are cheap, and differ as often.
    pairs.sort(key=lambda pair: pair[1].size)
    return all(a.size == b.size for a, b in pairs) and all(same_bytes(a, b) == "same" for a, b in pairs)
