"""What sign and verify show: one table of facts, one headline."""

from __future__ import annotations

from typing import Any

from ..report.blocks import Table
from ..report.report import Report, ordered
from .allow import Allowed
from .manifest import SIGNATURE
from .statement import SIGNED_AT, VERSION
from .verify import Outcome

NOT_COVERED = "permissions, owners, times, extended attributes and empty directories"


def verified(report: Report, outcome: Outcome, allowed: Allowed, seconds: float) -> None:
    """Fill a report with what verification established."""
    comparison, decoded = outcome.comparison, outcome.statement
    report.findings = ordered(comparison.findings)
    # A file that was let pass was not verified.
    report.inputs = len(comparison.listing.files.keys() - set(comparison.uncovered))
    report.facts.update(
        root_digest=f"sha256:{decoded.manifest.root}",
        signer=outcome.signer.facts(),
        name=decoded.subject,
        version=decoded.annotations.get(VERSION),
        signed_at=decoded.annotations.get(SIGNED_AT),
        files=report.inputs,
        bytes=comparison.bytes,
        hashed_with=comparison.hashed,
        by_receipt=comparison.by_receipt,
        seconds=round(seconds, 3),
        not_covered={
            "ignored": comparison.uncovered,
            "empty_directories": comparison.listing.empty,
            "always": NOT_COVERED,
        },
        allowed=allowed.used,
    )
    report.body = [table(report.facts)]
    failing = sum(map(report.fails, report.findings))
    if failing:
        report.headline = f"refused: {failing} {'problem' if failing == 1 else 'problems'}; do not load this model"
    elif comparison.by_receipt:
        report.headline = f"verified: {amount(report.facts)}, hashed before and unchanged since, by receipt"
    else:
        rate = comparison.bytes / max(seconds, 1e-9) / 1e9
        report.headline = f"verified: {amount(report.facts)} in {seconds:.2f} s ({rate:.1f} GB/s)"


def made(pair: tuple[str, str], encrypted: bool) -> Report:
    """The report of a key pair that was made."""
    private, public = pair
    sealed = "encrypted" if encrypted else "not encrypted; set INTERLOCK_SIGN_PASSWORD to have it encrypted"
    rows = [["private key", f"{private} ({sealed})"], ["public key", f"{public} (give it to verifiers)"]]
    return Report(
        command="sign",
        facts={"private_key": private, "public_key": public, "encrypted": encrypted},
        inputs=1,
        body=[Table(("", ""), rows)],
        headline=f"made: {private} and {public}",
    )


def inside_another(name: str) -> str:
    """What to know about a second bundle inside a model, where the first one meets it as a file it does not cover."""
    return f"{SIGNATURE} no longer verifies the model with {name} inside; keep one of them beside the model instead"


def table(facts: dict[str, Any]) -> Table:
    """Who, what and how much, for people."""
    signer, uncovered = facts["signer"], facts["not_covered"]
    rows = [
        ["signature", facts["signature"]],
        ["signer", f"{signer['label']} ({signer['id']})"],
        ["name", " ".join(str(facts[key]) for key in ("name", "version") if facts[key])],
        ["root digest", facts["root_digest"]],
        ["not covered", ", ".join([*uncovered["ignored"], uncovered["always"]])],
    ]
    if signer["time"]:
        rows.insert(2, ["signed", signer["time"]])
    if facts.get("trust_root"):
        rows.append(["trust root", f"{facts['trust_root']['file']}, {facts['trust_root']['age_days']} days old"])
    if facts.get("note"):
        rows.append(["note", facts["note"]])
    if facts.get("allowed"):
        rows.append(["allowed", ", ".join(facts["allowed"])])
    return Table(("", ""), rows)


def amount(facts: dict[str, Any]) -> str:
    """Files and bytes in words."""
    size = float(facts["bytes"])
    unit = "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    files = facts["files"]
    return f"{files:,} {'file' if files == 1 else 'files'}, {size:.3g} {unit}"
