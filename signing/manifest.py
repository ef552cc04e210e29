"""The manifest of a model: its files, their digests, and the root digest that names the whole (OMS v1.0)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ..report.errors import NothingToCheck
from . import names
from .hashing import Job, Progress, differences, hash_tree
from .reasons import refusal
from .tree import Listing, Tree

# What OMS leaves out at the top level; the verifier insists that nothing stands there.
GIT_PATHS = (".git", ".gitattributes", ".github", ".gitignore")


@dataclass(frozen=True, slots=True)
class Resource:
    """One signed file, or one shard [start, end) of it; `digest` is hexadecimal, `size` is -1 where unknown."""

    name: str
    algorithm: str
    digest: str
    blake3: str = ""
    size: int = -1
    start: int = -1
    end: int = -1
    annotations: dict[str, Any] = field(default_factory=dict[str, Any], compare=False)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The resources in their signed order, and what the signer left out."""

    resources: tuple[Resource, ...]
    ignored: tuple[str, ...] = ()
    method: str = "files"
    algorithm: str = "sha256"
    shard_size: int = 0

    @property
    def root(self) -> str:
        """SHA-256 (always), in hexadecimal, over the raw digests in listed order: OMS v1.0 section 5."""
        return root_of(resource.digest for resource in self.resources)


def root_of(digests: Iterable[str]) -> str:
    """The root digest over hexadecimal digests in order."""
    root = hashlib.sha256()
    for digest in digests:
        root.update(bytes.fromhex(digest))
    return root.hexdigest()


def build(
    tree: Tree,
    *,
    ignore: Iterable[str] = (),
    side: bool = True,
    progress: Progress | None = None,
    annotate: Callable[[Tree, Listing, str], dict[str, Any]] | None = None,
) -> tuple[Manifest, Listing]:
    """Hash a model into a manifest of whole files under SHA-256, each with a BLAKE3 side digest when `side`.

    `annotate` adds to a file's entry. Only the paths of `ignore` that exist are recorded as ignored.

    Raises NothingToCheck on a model without files and Refused on links, special files, names that are not portable, and
    changes while reading.
    """
    skip = sorted(set(ignore))
    listing = tree.scan(skip)
    check_signable(tree, listing)
    listing.settle()
    algorithms = ("sha256", "blake3") if side else ("sha256",)
    notes = {name: annotate(tree, listing, name) for name in listing.files} if annotate else {}
    result = hash_tree(tree, listing, [Job(name, algorithms) for name in listing.files], progress)
    for name, reason in differences(listing, tree.scan(skip)).items():
        raise refusal("VER-CHANGED-WHILE-READING", tree.locate(name), reason, hint="stop the writer first")
    resources: list[Resource] = []
    for name, stamp in listing.files.items():
        (digests,) = result[name]
        resource = Resource(name, "sha256", digests[0], digests[1] if side else "", stamp.size)
        resources.append(replace(resource, annotations=notes[name]) if notes.get(name) else resource)
    return Manifest(tuple(resources), tuple(listing.ignored)), listing


def check_signable(tree: Tree, listing: Listing) -> None:
    """Refuse what a verifier would refuse: better at the signer's desk than at every consumer's."""
    for name, kind in listing.odd.items():
        code = "VER-SYMLINK" if kind == "symlink" else "VER-SPECIAL-FILE"
        raise refusal(code, tree.locate(name))
    if not listing.files:
        raise NothingToCheck(tree.path, "holds no file", hint="name the directory that holds the model")
    for name in listing.files:
        if found := names.problem(name):
            raise refusal(found[0], tree.locate(name), f"the name {found[1]}", hint="rename the file")
    if twins := names.twins(listing.files):
        raise refusal("VER-TWINS", tree.path, f"'{twins[0]}' and '{twins[1]}' are one file on some systems")


def root_digest(path: str | os.PathLike[str]) -> str:
    """The OMS root digest of a model directory or file, as `sha256:<hex>`: the name that everything else binds to.

    A signature inside the model (`model.sig`) and the paths that OMS leaves out by default are not part of it.
    Raises as `build`.
    """
    manifest, _ = build(Tree(path), ignore=default_ignores(), side=False)
    return f"sha256:{manifest.root}"


def default_ignores() -> tuple[str, ...]:
    """The paths that a signature leaves out unless told otherwise: the signature itself and git's own files."""
    return (SIGNATURE, *GIT_PATHS)


SIGNATURE = "model.sig"
