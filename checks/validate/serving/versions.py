"""Which versions of a model Triton serves: the folders with numbers beside config.pbtxt, by version_policy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ....models.tree import ModelTree
from .triton import TritonModel

VERSION = re.compile(r"0|[1-9]\d{0,17}")
# Triton takes the digits that a name begins with (`2.bak` counts as 2), and ignores a zero with more behind it.
_BEGINS = re.compile(r"0\Z|[1-9]\d{0,17}(?!\d)")


class Policy(NamedTuple):
    """The `latest` versions, those of `specific`, or all of them where both are empty; by default the latest one."""

    latest: int
    specific: tuple[int, ...]


def policy(config: TritonModel | None) -> Policy:
    """What version_policy says; the last of its choices counts."""
    said = config.root.messages("version_policy") if config is not None else []
    for field in reversed(said[-1].fields if said else []):
        inner = said[-1].messages(field.name)
        if field.name == "all":
            return Policy(0, ())
        if field.name == "specific" and inner:
            found = {each.value for each in inner[-1].all("versions") if isinstance(each.value, int)}
            return Policy(0, tuple(sorted(found)))
        if field.name == "latest" and inner:
            count = inner[-1].scalar("num_versions")
            return Policy(count if isinstance(count, int) and count > 0 else 1, ())
    return Policy(1, ())


def taken_for(name: str) -> int | None:
    """The version that Triton takes a folder for, None where it ignores the folder."""
    match = _BEGINS.match(name)
    return None if match is None else int(match[0])


def present(tree: ModelTree, folder: str) -> list[int]:
    """The versions that Triton sees, oldest first, whether or not their folders hold anything."""
    return sorted({version for name in tree.folders(folder) if (version := taken_for(name)) is not None})


def served_versions(tree: ModelTree, config: TritonModel | None, folder: str = "") -> list[int]:
    """The versions that are served, oldest first; requests that name none go to the last."""
    there, which = present(tree, folder if config is None else config.folder), policy(config)
    if which.specific:
        return [version for version in there if version in which.specific]
    return there[-which.latest :] if which.latest else there


def bare(tree: ModelTree) -> Iterator[str]:
    """Folders of models without a config.pbtxt, which Triton completes from a model.onnx."""
    found: dict[str, None] = {}
    for file in tree.of("onnx"):
        above, _, version = file.name.removesuffix("/model.onnx").rpartition("/")
        if file.name.endswith("/model.onnx") and VERSION.fullmatch(version):
            found[above] = None
    for folder in found:
        if f"{folder}/config.pbtxt".lstrip("/") not in tree.files:
            yield folder
