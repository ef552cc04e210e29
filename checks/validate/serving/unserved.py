"""Versions of a Triton repository that version_policy does not serve: what cannot be read there stops nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from ....models.errors import UnreadableModel
from ....models.tree import ModelTree, TreeFile
from ..side import Side
from .versions import bare, folders, served_versions

ASIDE = "aside"
_VERSION = re.compile(r"[vV]?\d.*")


class Aside(NamedTuple):
    """A file that was set aside, the model it is of, and why it cannot be read."""

    side: Side
    file: str
    reason: str


def set_aside(side: Side, other: Side | None = None) -> tuple[Side, list[Aside]]:
    """The model without the files that nobody reads and nobody could: such ones of `other`, too, are left out.

    Files of versions that are served stay, and so do all where it is not known which are.
    """
    broken = {name: reason for name, reason in _broken(side) if not side.tree.single}
    found = [Aside(side, name, reason) for name, reason in broken.items()]
    if other is not None:
        theirs = {name for name, _ in _broken(other)}
        broken.update((name, "") for name in _unserved(side) if name in theirs)
    if not broken:
        return side, []
    files = {name: file for name, file in side.tree.files.items() if name not in broken}
    return Side(replace(side.tree, files=files), side.name), found


def _broken(side: Side) -> Iterator[tuple[str, str]]:
    for name in _unserved(side):
        problem = _problem(side, side.tree.files[name])
        if problem is not None:
            at = "" if problem.offset is None else f" at byte {problem.offset}"
            yield name, f"{problem.reason}{at}"


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
        prefix, inside = f"{folder}/" if folder else "", folders(side.tree, folder)
        serves = {str(version) for version in served_versions(side.tree, configs.get(folder), folder)}
        if any(inside.get(version) for version in serves):
            for name, files in inside.items():
                if _VERSION.fullmatch(name) and name not in serves:
                    yield from (f"{prefix}{name}/{each}" for each in files)
