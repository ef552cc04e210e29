"""Versions of a Triton repository that version_policy does not serve: what cannot be read there stops nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from ....models.errors import UnreadableModel
from ....models.tree import ModelTree, TreeFile
from ..side import Side
from .versions import bare, served_versions

ASIDE = "aside"
_VERSION = re.compile(r"[vV]?\d.*")


class Aside(NamedTuple):
    """A file that was set aside, the model it is of, and why it cannot be read."""

    side: Side
    file: str
    reason: str


def broken(side: Side) -> list[Aside]:
    """The files that nobody reads and nobody could. Files of versions that are served are none of them, nor any
    where it is not known which are."""
    found: list[Aside] = []
    for name in () if side.tree.single else _unserved(side):
        problem = _problem(side, side.tree.files[name])
        if problem is not None:
            at = "" if problem.offset is None else f" at byte {problem.offset}"
            found.append(Aside(side, name, f"{problem.reason}{at}"))
    return found


def without(side: Side, found: list[Aside]) -> Side:
    """The model without these files, and without those of their names that it does not serve."""
    unread = {each.file for each in found if each.side is side}
    unread |= {each.file for each in found}.intersection(_unserved(side) if len(unread) < len(found) else ())
    if not unread:
        return side
    files = {name: file for name, file in side.tree.files.items() if name not in unread}
    return Side(replace(side.tree, files=files), side.name)


def _problem(side: Side, file: TreeFile) -> UnreadableModel | None:
    """Why a file cannot be read by itself."""
    alone = Side(ModelTree(side.tree.root, {file.name: file}), side.name)
    try:
        for fact in ("onnx", "weight_sets", "gguf", "pickles"):
            getattr(alone, fact)
    except UnreadableModel as problem:
        return problem
    return None


def _unserved(side: Side) -> Iterator[str]:
    """The files in folders of versions that are not served, of models of which some version is."""
    try:
        configs = {config.folder: config for config in side.triton.values()}
    except UnreadableModel:
        return  # the rules say so
    for folder in (*configs, *bare(side.tree)):
        prefix, inside = f"{folder}/" if folder else "", side.tree.folders(folder)
        serves = {str(version) for version in served_versions(side.tree, configs.get(folder), folder)}
        if any(inside.get(version) for version in serves):
            for name, files in inside.items():
                if _VERSION.fullmatch(name) and name not in serves:
                    yield from (f"{prefix}{name}/{each}" for each in files)
