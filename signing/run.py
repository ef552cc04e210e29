"""The verbs of this room: sign, verify."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..config.settings import Identity, Trust
from ..report.errors import BadInput, Refused
from ..report.exits import PASS
from ..report.report import Report
from . import atomic, beside, bundle, keys, policy, present, reasons, statement, target
from . import verify as verification
from .allow import Allowed
from .choose import Choice
from .hashing import Progress
from .hubcache import open_tree
from .manifest import GIT_PATHS, SIGNATURE, Manifest, build
from .statement import SIGNED_AT, VERSION, Statement
from .tree import Tree

MODEL_SIGNING_1_1 = "model-signing-1.1"
Path_ = str | os.PathLike[str]


def sign(
    model: Path_ | None,
    *,
    key: Path_ | None = None,
    password: str | None = None,
    generate: str | None = None,
    certificates: Sequence[Path_] = (),
    pkcs11: str = "",
    keyless: bool = False,
    identity_token: str = "",
    trust_config: str = "",
    timestamp_url: str = "",
    output: Path_ | None = None,
    ignore: Iterable[str] = (),
    cover_git: bool = False,
    name: str = "",
    version: str = "",
    side_digests: bool = True,
    tensor_digests: bool = False,
    resolve: str = "",
    compat: str = "",
    progress: Progress | None = None,
) -> Report:
    """Sign a model directory or file and write the bundle, by default MODEL/model.sig, or FILE.sig for a single file.

    `generate` first makes a key pair of that name, which signs when `key` is absent; without a model that is all.
    `certificates` (leaf first) make it a certificate-mode signature of `key` or `pkcs11`; `keyless` signs as the holder
    of an OIDC token. `tensor_digests` adds a digest for every tensor of safetensors files, `resolve="hf-cache"` reads a
    snapshot of the Hugging Face cache. Facts hold `root_digest` (`sha256:…`), `signature` and `signer`.

    Raises BadInput on a key or model that cannot be used, NeedsAccess where a token or service does not answer,
    NothingToCheck on an empty model, and Refused where the result could not be verified (links, names that differ
    between systems, files that change meanwhile). Nothing is written then.
    """
    if model is None:
        if not generate:
            raise BadInput("sign", "no model given", hint="interlock sign MODEL --key FILE")
        return present.made(keys.generate(generate, password), bool(password))
    tree = open_tree(model, resolve)
    signature = str(output) if output is not None else target.default(tree)
    # Before a key is made: what is refused here leaves nothing behind.
    target.check(signature, [key, f"{generate}.key" if generate else None])
    if generate:
        private, _ = keys.generate(generate, password)
        key = key or private
    signer = Choice(
        key=key,
        password=password,
        certificates=certificates,
        pkcs11=pkcs11,
        keyless=keyless,
        identity_token=identity_token,
        trust_config=trust_config,
        timestamp_url=timestamp_url,
    ).signer()
    started = time.perf_counter()
    inner, unwanted = verification.inside(tree, signature), _paths(ignore)
    skip = {SIGNATURE, inner, *(() if cover_git else GIT_PATHS), *unwanted}
    annotate = None
    if tensor_digests:
        from .tensors import of_file as annotate
    manifest, listing = build(tree, ignore=skip - {""}, side=side_digests, progress=progress, annotate=annotate)
    two = inner != SIGNATURE and SIGNATURE in manifest.ignored
    if two and SIGNATURE not in unwanted:
        beside.check(tree, manifest, inner)
    if tree.single and compat == MODEL_SIGNING_1_1:
        manifest = _as_dot(manifest)
    notes = {SIGNED_AT: datetime.now(UTC).isoformat(timespec="seconds"), **({VERSION: version} if version else {})}
    payload = statement.encode(Statement(manifest, name or tree.name, notes))
    encoded = signer.bundle(payload)
    # What was just written must be readable: a writer that disagrees with its reader is found here, not by users.
    statement.decode(bundle.decode(encoded, signature).payload, signature)
    atomic.write(signature, encoded)
    facts: dict[str, Any] = {
        "model": tree.path,
        "signature": signature,
        "root_digest": f"sha256:{manifest.root}",
        "signer": signer.describe().facts(),
        "name": name or tree.name,
        "version": version or None,
        "files": len(listing.files),
        "bytes": listing.size,
        "seconds": round(time.perf_counter() - started, 3),
        "not_covered": {"ignored": list(manifest.ignored), "always": present.NOT_COVERED},
        "note": present.inside_another(inner) if two and inner else None,
    }
    return Report(
        command="sign",
        facts=facts,
        inputs=len(listing.files),
        body=[present.table(facts)],
        headline=f"signed: {present.amount(facts)}, root digest sha256:{manifest.root}",
    )


def verify(
    model: Path_,
    *,
    signature: Path_ | None = None,
    key: Path_ | Iterable[Path_] = (),
    ca: Iterable[Path_] = (),
    identities: Sequence[Identity] = (),
    root: str = "",
    trust: Trust | None = None,
    base: Path_ = "",
    allow: Iterable[str] = (),
    strict_sha256: bool = False,
    resolve: str = "",
    into: Path_ | None = None,
    receipt: Path_ | None = None,
    receipt_key: Path_ | None = None,
    password: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Verify a model against its bundle and against who may sign it.

    `key` names trusted public keys, `ca` files with trusted authorities, `identities` trusted keyless signers and
    `root` their trust root file; else `trust` says who may sign, its relative paths starting at `base`. Every refusal
    is a finding with a typed reason (VER-…). Facts hold `root_digest` (`sha256:…`), `signer` and `not_covered`.

    `resolve="hf-cache"` reads a snapshot of the Hugging Face cache. `into` makes a private copy, verifies that, and
    names it `into` only if it passes. `receipt` spares hashing where the file holds this machine's word, signed by the
    private key `receipt_key`, that these very files were hashed before; facts then say `by_receipt`.

    Raises BadInput where something cannot be read, or nobody is trusted.
    """
    allowed = Allowed(allow, trust.allow_ignored if trust else ())
    files = [str(key)] if isinstance(key, str | os.PathLike) else [str(each) for each in key]
    anchors = policy.Anchors(files, [str(each) for each in ca], identities, root)
    rules = policy.make(trust, str(base), anchors=anchors, strict=strict_sha256)
    tree = open_tree(model, resolve)
    note = _Receipt(receipt, receipt_key, password)
    if into is not None and receipt is not None:
        raise BadInput("--into", "makes new files, which no receipt knows", hint="drop --receipt")
    started = time.perf_counter()
    facts: dict[str, Any] = {"model": tree.path, "signature": None, "root_digest": None, "signer": None}
    report = Report(command="verify", facts=facts, inputs=1, rules=reasons.rules())
    try:
        if rules.root:
            facts["trust_root"] = {"file": rules.root, "age_days": verification.root_age(rules).days}
        path = str(signature) if signature is not None else verification.find_signature(tree)
        facts["signature"] = path
        with ExitStack() as stack:
            draft = None
            if into is not None:
                from . import handover

                # A copy is made of what a trusted signer signed, not of anything.
                verification.check_signer(bundle.read(path), rules, allowed)
                draft, path = stack.enter_context(handover.private_copy(tree, path, Path(into)))
                tree = Tree(draft, shown=tree.path)
            outcome = verification.check(
                tree, path, rules, allowed, shown=facts["signature"], receipt=note.known, progress=progress
            )
            present.verified(report, outcome, allowed, time.perf_counter() - started)
            if report.exit_code == PASS:
                note.write(outcome)
                if into is not None and draft is not None:
                    from . import handover

                    handover.publish(draft, Path(into))
                    facts["into"] = str(into)
    except Refused as error:
        report.findings.append(reasons.finding(error.code, error.what, error.reason, hint=error.hint))
        report.headline = f"refused: {error.code}; do not load this model"
    return report


class _Receipt:
    """The receipt that a run may use and renew; both files are needed for either."""

    def __init__(self, file: Path_ | None, key: Path_ | None, password: str | None) -> None:
        if (file is None) != (key is None):
            raise BadInput("--receipt", "needs --receipt-key, and the other way round", hint="give both")
        self._given = None
        self.known = None
        if file is not None and key is not None:
            from . import receipt

            self._given = Path(file), keys.load_private(key, password)
            self.known = receipt.read(*self._given)

    def write(self, outcome: verification.Outcome) -> None:
        """Renew the receipt after hashing."""
        if self._given is not None and not outcome.comparison.by_receipt:
            from . import receipt

            receipt.write(*self._given, outcome.bundle, outcome.statement, outcome.comparison)


def _paths(ignore: Iterable[str]) -> set[str]:
    paths: set[str] = set()
    for path in ignore:
        name = Path(path).as_posix()
        if name in (".", "") or name.startswith(("/", "../")) or name == ".." or set("*?[") & set(name):
            raise BadInput(
                f"--ignore {path}",
                "not a path below the model",
                hint="give it relative to the model, without wildcards",
            )
        paths.add(name)
    return paths


def _as_dot(manifest: Manifest) -> Manifest:
    """model_signing 1.1 names a single-file model `.`; the specification names it by its basename."""
    from dataclasses import replace

    return replace(manifest, resources=(replace(manifest.resources[0], name="."),))
