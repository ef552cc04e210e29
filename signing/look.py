"""The verbs that only look: the digests of a model, and what a bundle claims, unverified."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..report.blocks import Table
from ..report.errors import BadInput, Refused
from ..report.report import Report
from . import bundle as bundles
from . import statement
from .hashing import Progress
from .hubcache import open_tree
from .manifest import GIT_PATHS, SIGNATURE, build
from .present import amount
from .statement import SIGNED_AT, VERSION
from .tree import Tree
from .verify import find_signature

_SHOWN = 20


def digest(
    model: str | os.PathLike[str],
    *,
    ignore: Iterable[str] = (),
    cover_git: bool = False,
    resolve: str = "",
    progress: Progress | None = None,
) -> Report:
    """The OMS root digest of a model, and SHA-256 and BLAKE3 of each file, in one read.

    A file's SHA-256 is also its digest as an OCI blob. Facts hold `root_digest` and `files`. Raises as `sign`.
    """
    tree = open_tree(model, resolve)
    skip = {SIGNATURE, *(() if cover_git else GIT_PATHS), *ignore}
    manifest, listing = build(tree, ignore=skip, progress=progress)
    files = {
        resource.name: {"sha256": resource.digest, "blake3": resource.blake3, "size": resource.size}
        for resource in manifest.resources
    }
    root = f"sha256:{manifest.root}"
    facts: dict[str, Any] = {
        "model": tree.path,
        "root_digest": root,
        "files": files,
        "ignored": list(manifest.ignored),
        "bytes": listing.size,
    }
    rows = [[name, f"{each['size']:,}", f"sha256:{each['sha256']}"] for name, each in list(files.items())[:_SHOWN]]
    if len(files) > _SHOWN:
        rows.append([f"and {len(files) - _SHOWN} more", "", "see --output-format json"])
    return Report(
        command="digest",
        facts=facts,
        inputs=len(files),
        body=[Table(("file", "bytes", "digest"), rows, right=frozenset({"bytes"}))],
        headline=f"{root} ({amount({'files': len(files), 'bytes': listing.size})})",
    )


def inspect(path: str | os.PathLike[str]) -> Report:
    """What a bundle claims: who, what and when, without verifying any of it. `path` is a bundle or a signed model.

    Raises BadInput where it is no bundle.
    """
    try:
        file = str(path) if Path(path).is_file() and not _is_model(Path(path)) else find_signature(Tree(path))
        signed = bundles.read(file)
        decoded = statement.decode(signed.payload, file)
    except Refused as error:
        raise BadInput(error.what, error.reason, hint=error.hint, code=error.code) from error
    manifest = decoded.manifest
    facts: dict[str, Any] = {
        "signature": file,
        "verified": False,
        "mode": signed.mode,
        "claims": _claims(signed),
        "name": decoded.subject,
        "version": decoded.annotations.get(VERSION),
        "signed_at": decoded.annotations.get(SIGNED_AT),
        "root_digest": f"sha256:{manifest.root}",
        "method": manifest.method,
        "algorithm": manifest.algorithm,
        "side_digests": sum(bool(resource.blake3) for resource in manifest.resources),
        "files": [resource.name for resource in manifest.resources],
        "ignored": list(manifest.ignored),
        "timestamps": len(signed.timestamps),
    }
    shown = [key for key in facts if key not in ("files", "claims", "verified") and facts[key] not in (None, [], 0)]
    rows = [[key.replace("_", " "), _text(facts[key])] for key in shown]
    rows += [[key.replace("_", " "), _text(value)] for key, value in facts["claims"].items() if value]
    rows.append(["files", f"{len(manifest.resources):,}: {_text(facts['files'][:5])}"])
    return Report(
        command="inspect",
        facts=facts,
        inputs=1,
        body=[Table(("", ""), rows)],
        headline="not verified: these are the bundle's own claims; interlock verify checks them",
    )


def _is_model(path: Path) -> bool:
    """A single-file model has its bundle beside it."""
    return bool(path.name) and path.with_name(f"{path.name}.sig").exists()


def _claims(signed: bundles.Bundle) -> dict[str, Any]:
    if signed.mode == bundles.KEY:
        return {"key_hint": signed.hint}
    from cryptography import x509

    try:
        leaf = x509.load_der_x509_certificate(signed.certificates[0])
        names = [str(n.value) for n in _alternative_names(leaf)]
    except ValueError as error:
        raise BadInput(signed.path, f"a certificate cannot be read: {error}") from error
    return {
        "subject": leaf.subject.rfc4514_string(),
        "issuer": leaf.issuer.rfc4514_string(),
        "identities": names,
        "valid_from": leaf.not_valid_before_utc.isoformat(),
        "valid_until": leaf.not_valid_after_utc.isoformat(),
        "expired": leaf.not_valid_after_utc < datetime.now(UTC) and signed.mode == bundles.CERTIFICATE,
    }


def _alternative_names(leaf: Any) -> Any:
    from cryptography import x509

    try:
        return leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
