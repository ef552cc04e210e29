"""Matching GGUF files of two models, and what their metadata says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ....models.gguf import GgufModel
from ..rulebase import Context

_SPLIT = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf")


@dataclass(frozen=True, slots=True)
class Pair:
    """A GGUF file of the old model and the one that takes its place."""

    old: GgufModel
    new: GgufModel


def pairs(ctx: Context) -> Iterator[Pair]:
    """Files of the same name, or the only one left on each side."""
    if ctx.old is None:
        return
    old, new = dict(ctx.old.gguf), dict(ctx.new.gguf)
    for name in [name for name in old if name in new]:
        yield Pair(old.pop(name), new.pop(name))
    if len(old) == len(new) == 1:
        yield Pair(next(iter(old.values())), next(iter(new.values())))


def split(file: str) -> tuple[str, int, int] | None:
    """(stem, number, count) of a file named stem-00001-of-00003.gguf."""
    match = _SPLIT.fullmatch(file)
    return (match[1], int(match[2]), int(match[3])) if match else None
