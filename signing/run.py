"""The verbs of this room: sign, verify."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..config.settings import Trust
from ..report.blocks import Table
from ..report.errors import BadInput, Refused
from ..report.report import Report, ordered
from . import atomic, bundle, keys, policy, reasons, statement
from . import verify as verification
from .allow import Allowed
from .hashing import Progress
from .keymode import KeySigner
from .manifest import GIT_PATHS, SIGNATURE, Manifest, build
from .signer import Signs
from .statement import SIGNED_AT, VERSION, Statement
from .tree import Tree

NOT_COVERED = "permissions, owners, times, extended attributes and empty directories"
MODEL_SIGNING_1_1 = "model-signing-1.1"


def sign(
    model: str | os.PathLike[str] | None,
    *,
    key: str | os.PathLike[str] | None = None,
    password: str | None = None,
    generate: str | None = None,
    output: str | os.PathLike[str] | None = None,
    ignore: Iterable[str] = (),
    cover_git: bool = False,
    name: str = "",
    version: str = "",
    side_digests: bool = True,
    compat: str = "",
    progress: Progress | None = None,
) -> Report:
    """Sign a model directory or file and write the bundle, by default MODEL/model.sig, or FILE.sig for a single file.

    `generate` first makes a key pair of that name, which signs when `key` is absent; without a model that is all.
    Raises BadInput on a key or model that cannot be used, NothingToCheck on an empty model, and Refused where the
    result could not be verified (links, names that differ between systems, files that change meanwhile).
    """
    made = keys.generate(generate, password) if generate else None
    if made is not None and model is None:
        return _made(made, password)
    if made is not None and key is None:
        key = made[0]
    if model is None:
        raise BadInput("sign", "no model given", hint="interlock sign MODEL --key FILE")
    if key is None:
        raise BadInput("sign", "no key given", hint="--key FILE; make one with interlock sign --generate-key NAME")
    tree = Tree(model)
    signer: Signs = KeySigner(keys.load_private(key, password), str(key))
    target = str(output) if output is not None else default_output(tree)
    started = time.perf_counter()
    skip = {SIGNATURE, verification.inside(tree, target), *(() if cover_git else GIT_PATHS), *_paths(ignore)}
    manifest, listing = build(tree, ignore=skip - {""}, side=side_digests, progress=progress)
    if tree.single and compat == MODEL_SIGNING_1_1:
        manifest = _as_dot(manifest)
    notes = {SIGNED_AT: datetime.now(UTC).isoformat(timespec="seconds"), **({VERSION: version} if version else {})}
    payload = statement.encode(Statement(manifest, name or tree.name, notes))
    encoded = signer.bundle(payload)
    # What was just written must be readable: a writer that disagrees with its reader is found here, not by users.
    statement.decode(bundle.decode(encoded, target).payload, target)
    atomic.write(target, encoded)
    seconds = time.perf_counter() - started
    who = signer.describe()
    facts: dict[str, Any] = {
        "model": tree.path,
        "signature": target,
        "root_digest": f"sha256:{manifest.root}",
        "signer": who.facts(),
        "name": name or tree.name,
        "version": version or None,
        "files": len(listing.files),
        "bytes": listing.size,
        "seconds": round(seconds, 3),
        "not_covered": {"ignored": list(manifest.ignored), "always": NOT_COVERED},
    }
    return Report(
        command="sign",
        facts=facts,
        inputs=len(listing.files),
        body=[_table(facts)],
        headline=f"signed: {_amount(facts)}, root digest sha256:{manifest.root}",
    )


def verify(
    model: str | os.PathLike[str],
    *,
    signature: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    trust: Trust | None = None,
    base: str | os.PathLike[str] = "",
    allow: Iterable[str] = (),
    strict_sha256: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Verify a model against its bundle and against who may sign it.

    `key` names trusted public keys; else `trust` says who may sign, its relative paths starting at `base`. Every
    refusal is a finding with a typed reason (VER-…). Facts hold `root_digest` (`sha256:…`), `signer` and `not_covered`.
    Raises BadInput where something cannot be read, or nobody is trusted.
    """
    allowed = Allowed(allow, trust.allow_ignored if trust else ())
    files = [str(key)] if isinstance(key, str | os.PathLike) else [str(each) for each in key]
    rules = policy.make(trust, str(base), key_files=files, strict=strict_sha256)
    tree = Tree(model)
    started = time.perf_counter()
    facts: dict[str, Any] = {"model": tree.path, "signature": None, "root_digest": None, "signer": None}
    report = Report(command="verify", facts=facts, inputs=1, rules=reasons.rules())
    try:
        path = str(signature) if signature is not None else verification.find_signature(tree)
        facts["signature"] = path
        outcome = verification.check(tree, path, rules, allowed, progress)
    except Refused as error:
        report.findings.append(reasons.finding(error.code, error.what, error.reason, hint=error.hint))
        report.headline = f"refused: {error.code}"
        return report
    _describe(report, outcome, allowed, time.perf_counter() - started)
    return report


def _made(pair: tuple[str, str], password: str | None) -> Report:
    private, public = pair
    sealed = "encrypted" if password else "not encrypted; set INTERLOCK_SIGN_PASSWORD to have it encrypted"
    rows = [["private key", f"{private} ({sealed})"], ["public key", f"{public} (give it to verifiers)"]]
    return Report(
        command="sign",
        facts={"private_key": private, "public_key": public, "encrypted": bool(password)},
        inputs=1,
        body=[Table(("", ""), rows)],
        headline=f"made: {private} and {public}",
    )


def _describe(report: Report, outcome: verification.Outcome, allowed: Allowed, seconds: float) -> None:
    comparison, decoded = outcome.comparison, outcome.statement
    report.findings = ordered(comparison.findings)
    report.inputs = len(comparison.listing.files)
    report.facts.update(
        root_digest=f"sha256:{decoded.manifest.root}",
        signer=outcome.signer.facts(),
        name=decoded.subject,
        version=decoded.annotations.get(VERSION),
        signed_at=decoded.annotations.get(SIGNED_AT),
        files=len(comparison.listing.files),
        bytes=comparison.bytes,
        hashed_with=comparison.hashed,
        seconds=round(seconds, 3),
        not_covered={
            "ignored": comparison.uncovered,
            "empty_directories": comparison.listing.empty,
            "always": NOT_COVERED,
        },
        allowed=allowed.used,
    )
    report.body = [_table(report.facts)]
    count = len(report.findings)
    if count:
        report.headline = f"refused: {count} {'problem' if count == 1 else 'problems'}; do not load this model"
    else:
        rate = comparison.bytes / max(seconds, 1e-9) / 1e9
        report.headline = f"verified: {_amount(report.facts)} in {seconds:.2f} s ({rate:.1f} GB/s)"


def _table(facts: dict[str, Any]) -> Table:
    signer, uncovered = facts["signer"], facts["not_covered"]
    rows = [
        ["signature", facts["signature"]],
        ["signer", f"{signer['label']} ({signer['id']})"],
        ["name", " ".join(str(facts[k]) for k in ("name", "version") if facts[k])],
        ["root digest", facts["root_digest"]],
        ["not covered", ", ".join([*uncovered["ignored"], uncovered["always"]])],
    ]
    if facts.get("allowed"):
        rows.append(["allowed", ", ".join(facts["allowed"])])
    return Table(("", ""), rows)


def _amount(facts: dict[str, Any]) -> str:
    size = float(facts["bytes"])
    unit = "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    files = facts["files"]
    return f"{files:,} {'file' if files == 1 else 'files'}, {size:.3g} {unit}"


def default_output(tree: Tree) -> str:
    """Where the bundle goes unless told: inside a model directory, beside a single file."""
    path = Path(tree.path)
    return str(path.with_name(f"{path.name}.sig") if tree.single else path / SIGNATURE)


def _paths(ignore: Iterable[str]) -> set[str]:
    paths: set[str] = set()
    for path in ignore:
        name = Path(path).as_posix()
        if name in (".", "") or name.startswith(("/", "../")) or name == "..":
            raise BadInput(f"--ignore {path}", "not a path below the model", hint="give it relative to the model")
        paths.add(name)
    return paths


def _as_dot(manifest: Manifest) -> Manifest:
    """model_signing 1.1 names a single-file model `.`; the specification names it by its basename."""
    from dataclasses import replace

    return replace(manifest, resources=(replace(manifest.resources[0], name="."),))
