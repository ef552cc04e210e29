"""Matching GGUF files of two models, and what their metadata says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ....models.gguf import GgufModel
from ..rulebase import Context
from ..side import Side

_ENCODERS = re.compile(r"(?i)(\w+-)?(bert|embedding)(-\w+)*")
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


def counterpart(name: str, before: dict[str, GgufModel], after: dict[str, GgufModel]) -> GgufModel | None:
    """The old model that the new one of a name takes the place of: of its name, or the only one there was."""
    return before.get(name) or (next(iter(before.values())) if len(before) == len(after) == 1 else None)


def encoder(model: GgufModel) -> bool:
    """Whether the architecture is one of llama.cpp's that read a text in one pass and keep no cache."""
    return _ENCODERS.fullmatch(model.architecture) is not None


def split(file: str) -> tuple[str, int, int] | None:
    """(stem, number, count) of a file named stem-00001-of-00003.gguf."""
    match = _SPLIT.fullmatch(file)
    return (match[1], int(match[2]), int(match[3])) if match else None


def whole(side: Side) -> dict[str, GgufModel]:
    """GGUF models by name; parts of a split one merged, where all of them are there."""
    found: dict[str, list[GgufModel]] = {}
    for file, model in side.gguf.items():
        part = split(file)
        found.setdefault(part[0] if part else file, []).append(model)
    merged: dict[str, GgufModel] = {}
    for name, parts in found.items():
        first = parts[0]
        count = first.metadata.get("split.count", 1)
        if len(parts) != (count or 1):
            continue  # a part given alone; and what is missing of a folder is GGF-SPLIT's
        tensors = {key: tensor for part in parts for key, tensor in part.tensors.items()}
        merged[name] = GgufModel(
            first.file, first.size, first.version, first.little, first.metadata, tensors, first.data_begin
        )
    return merged
