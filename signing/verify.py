"""Verification of a model against its bundle: signature, then signer, then statement, then every byte on disk."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from . import bundle as bundles
from . import keymode, statement
from .allow import Allowed
from .compare import Comparer, Comparison
from .hashing import Progress
from .manifest import SIGNATURE
from .policy import Policy
from .reasons import refusal
from .signer import Signer
from .statement import Statement
from .tree import Tree


@dataclass(frozen=True, slots=True)
class Outcome:
    """What verification established. It passed when `comparison.findings` is empty."""

    signature: str
    signer: Signer
    statement: Statement
    comparison: Comparison


def check(tree: Tree, signature: str, policy: Policy, allowed: Allowed, progress: Progress | None = None) -> Outcome:
    """Verify a model. Raises Refused with a typed reason that ends it, BadInput on what cannot be read."""
    signed = bundles.read(signature)
    signer = check_signer(signed, policy)
    decoded = statement.decode(signed.payload, signature)
    files = statement.check_names(decoded.manifest, tree.single, allowed, signature)
    comparer = Comparer(
        tree=tree,
        manifest=decoded.manifest,
        files=files,
        signature=inside(tree, signature),
        accepted=policy.digests,
        allowed=allowed,
    )
    return Outcome(signature, signer, decoded, comparer.run(progress))


def check_signer(signed: bundles.Bundle, policy: Policy) -> Signer:
    """The signer of a bundle, by the mode that the policy asks for. Raises Refused."""
    policy.check_mode(signed)
    return keymode.verify(signed, policy.keys)


def find_signature(tree: Tree) -> str:
    """Where the signature of a model is by default. Raises Refused (VER-UNSIGNED) where there is none."""
    path = Path(tree.path)
    places = [path.with_name(f"{tree.name}.sig"), path.with_name(SIGNATURE)]
    if not tree.single:
        places = [path / SIGNATURE, path.with_name(f"{tree.name}.sig")]
    for place in places:
        if place.exists():
            return str(place)
    raise refusal("VER-UNSIGNED", tree.path, f"no signature at {places[0]} or {places[1]}")


def inside(tree: Tree, path: str) -> str:
    """The name of a file below the tree's root, or empty where it is elsewhere; its own folder may be a link."""
    if tree.single:
        return ""
    folder, leaf = os.path.split(os.path.abspath(path))  # noqa: PTH100 - the leaf must not be resolved
    place = Path(os.path.realpath(folder), leaf)
    root = Path(tree.path).resolve()
    return place.relative_to(root).as_posix() if place.is_relative_to(root) else ""
