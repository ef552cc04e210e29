"""Verification of a model against its bundle: signature, then signer, then statement, then every byte on disk."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ..report.errors import BadInput
from . import bundle as bundles
from . import keymode, limits, statement
from .allow import Allowed
from .compare import Comparer, Comparison
from .content.check import Weights
from .content.check import check as check_content
from .hashing import Progress
from .manifest import SIGNATURE
from .policy import Policy
from .reasons import refusal
from .signer import Signer
from .statement import Statement
from .tree import Tree

if TYPE_CHECKING:
    from .receipt import Receipt


@dataclass(frozen=True, slots=True)
class Outcome:
    """What verification established. It passed when `comparison.findings` is empty."""

    bundle: bundles.Bundle
    signer: Signer
    statement: Statement
    comparison: Comparison


def check(
    tree: Tree,
    signature: str,
    policy: Policy,
    allowed: Allowed,
    *,
    shown: str = "",
    receipt: Receipt | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Verify a model; `shown` is what messages call the bundle.

    Raises Refused with a typed reason that ends it, BadInput on what cannot be read.
    """
    weights = Weights(policy.content)
    signed = bundles.read(signature, shown)
    signer = check_signer(signed, policy, allowed)
    decoded = statement.decode(signed.payload, signed.path)
    check_limits(signer, decoded, policy, allowed, signed.path)
    files = statement.check_names(decoded.manifest, tree.single, allowed, signed.path)
    comparer = Comparer(
        tree=tree,
        manifest=decoded.manifest,
        files=files,
        signature=inside(tree, signature),
        accepted=policy.digests,
        allowed=allowed,
        look=lambda tree, listing: check_content(tree, listing, weights, allowed),
        hashed_before=lambda listing: receipt is not None and receipt.covers(signed, decoded, policy.digests, listing),
    )
    return Outcome(signed, signer, decoded, comparer.run(progress))


def check_signer(signed: bundles.Bundle, policy: Policy, allowed: Allowed) -> Signer:
    """The signer of a bundle, by a mode that the policy accepts. Raises Refused, BadInput or NeedsAccess."""
    policy.check_mode(signed)
    check_root_age(policy, allowed)
    if signed.mode == bundles.KEYLESS:
        from . import keyless

        return keyless.verify(signed, policy.identities, policy.root, need_timestamp=policy.require_timestamp)
    time = _proven_time(signed, policy)
    if signed.mode == bundles.KEY:
        return keymode.verify(signed, policy.keys, time)
    from . import certmode

    return certmode.verify(signed, policy.authorities, time, allow_expired=lambda: allowed("VER-EXPIRED"))


def _proven_time(signed: bundles.Bundle, policy: Policy) -> datetime | None:
    """When a trusted authority saw the signature; a stamp nobody can check proves nothing and is no harm."""
    time = None
    if signed.timestamps and policy.root:
        from . import timestamp, trustroot

        time = timestamp.proven(signed.timestamps, signed.signature, trustroot.load(policy.root))
    if policy.require_timestamp and time is None:
        raise refusal("VER-TIMESTAMP", signed.path, "no timestamp of a trusted authority")
    return time


def check_root_age(policy: Policy, allowed: Allowed) -> None:
    """Raises Refused (VER-ROOT-AGE) where the trust root file is older than the policy allows."""
    if policy.root and policy.root_max_age is not None:
        age = root_age(policy)
        if age > policy.root_max_age and not allowed("VER-ROOT-AGE"):
            raise refusal("VER-ROOT-AGE", policy.root, f"written {age.days} days ago")


def root_age(policy: Policy) -> timedelta:
    """How long ago the trust root file was written. Raises BadInput where there is none."""
    try:
        written = Path(policy.root).stat().st_mtime
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadInput(policy.root, f"the trust root cannot be read: {reason}", hint="check the path") from error
    return timedelta(seconds=max(0.0, time.time() - written))


def check_limits(signer: Signer, decoded: Statement, policy: Policy, allowed: Allowed, what: str) -> None:
    """Raises Refused where the policy's limits on age, version or denied signers and models are broken."""
    policy.deny.check(signer, decoded.manifest, what)
    if policy.max_age is not None:
        limits.check_age(signer, decoded, policy.max_age, allowed, what)
    if policy.minimum_version:
        limits.check_version(decoded, policy.minimum_version, what)


def find_signature(tree: Tree) -> str:
    """Where the signature of a model is by default. Raises Refused (VER-UNSIGNED) where there is none."""
    path = Path(tree.path)
    beside = path.resolve().parent if path.name in ("", "..") else path.parent  # `.` has no name of its own
    places = [beside / f"{tree.name}.sig", beside / SIGNATURE]
    if not tree.single:
        places = [path / SIGNATURE, places[0]]
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
