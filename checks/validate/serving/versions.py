"""Which versions of a model Triton serves: the folders with numbers beside config.pbtxt, by version_policy."""

from __future__ import annotations

import re
from typing import NamedTuple

from ....models.tree import ModelTree
from .triton import TritonModel

VERSION = re.compile(r"[1-9]\d{0,17}")


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


def present(tree: ModelTree, folder: str) -> list[int]:
    """The versions that have files, oldest first. A number with a zero in front is none."""
    prefix = f"{folder}/" if folder else ""
    rest = (name.removeprefix(prefix) for name in tree.files if name.startswith(prefix))
    return sorted({int(each[0]) for name in rest if len(each := name.split("/")) > 1 and VERSION.fullmatch(each[0])})


def served_versions(tree: ModelTree, config: TritonModel | None, folder: str = "") -> list[int]:
    """The versions that are served, oldest first; requests that name none go to the last."""
    there, which = present(tree, folder if config is None else config.folder), policy(config)
    if which.specific:
        return [version for version in there if version in which.specific]
    return there[-which.latest :] if which.latest else there
