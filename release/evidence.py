"""Evidence: what a gate found, bound to the digest of the version and to the digest of the policy it was judged by.

An in-toto statement with the predicate SLSA Verification Summary v1 in a DSSE envelope, attached to the version. With
a key it is signed; without one it is only as trustworthy as the place it lies in, and is labelled unsigned everywhere.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from ..report.errors import BadInput
from ..version import __version__
from .descriptor import canonical, hexadecimal, parse_json
from .lock import actor, now
from .modelpack import Manifest
from .store import Store

ARTIFACT = "application/vnd.dev.interlock.evidence.v1+json"
ENVELOPE = "application/vnd.dsse.envelope.v1+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/verification_summary/v1"
VERIFIER = "urn:interlock:gate"

# What is unreadable is not passed over: it could be the failure that came after a pass.
_AWAY = (
    "remove this evidence (oci-layout: its entry in index.json; directory: its file below .interlock/attached; "
    "registry: its manifest) and run the gate again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One gate's result. `against` is the digest of the version compared with (empty: none). `signer` is the key file
    that verified the envelope, empty when it is unsigned. `digest` is where the evidence is kept."""

    gate: str
    stage: str
    subject: str
    policy: str
    passed: bool
    reason: str
    time: str = ""
    actor: str = ""
    against: str = ""
    summary: Mapping[str, Any] | None = None
    signer: str = ""
    digest: str = ""

    @property
    def age(self) -> float:
        """Seconds since the gate ran; negative when the clock that wrote it was ahead."""
        return (datetime.now(UTC) - datetime.fromisoformat(self.time)).total_seconds()


def record(store: Store, manifest: Manifest, evidence: Evidence, key: str = "", password: str = "") -> Evidence:
    """Attach evidence to a version, signed when a private key file is given; returns it as it is kept."""
    evidence = replace(evidence, time=now(), actor=actor(), subject=manifest.digest)
    payload = canonical(_statement(evidence, store.name))
    signatures = [_sign(payload, key, password)] if key else []
    envelope = {
        "payloadType": "application/vnd.in-toto+json",
        "payload": base64.b64encode(payload).decode(),
        "signatures": signatures,
    }
    title = f"{evidence.gate} {'passed' if evidence.passed else 'failed'}"
    digest = store.attach(manifest.descriptor, ARTIFACT, ENVELOPE, canonical(envelope), title)
    return replace(evidence, digest=digest, signer=key)


def _statement(evidence: Evidence, place: str) -> dict[str, Any]:
    return {
        "_type": STATEMENT,
        "subject": [{"name": place, "digest": {"sha256": hexadecimal(evidence.subject)}}],
        "predicateType": PREDICATE,
        "predicate": {
            "verifier": {"id": VERIFIER, "version": {"interlock": __version__}},
            "timeVerified": evidence.time,
            "resourceUri": f"{place}@{evidence.subject}",
            "policy": {
                "uri": f"interlock.yaml#/stages/{evidence.stage}/gates/{evidence.gate}",
                "digest": {"sha256": hexadecimal(evidence.policy)},
            },
            "verificationResult": "PASSED" if evidence.passed else "FAILED",
            "verifiedLevels": [f"INTERLOCK_{evidence.gate.upper()}" if evidence.passed else "FAILED"],
            "interlock": {
                "gate": evidence.gate,
                "stage": evidence.stage,
                "actor": evidence.actor,
                "against": evidence.against,
                "reason": evidence.reason,
                "summary": dict(evidence.summary or {}),
            },
        },
    }


def _sign(payload: bytes, key: str, password: str) -> dict[str, str]:
    from ..signing import dsse, keys

    private = keys.load_private(key, password or None)
    signature = private.sign(dsse.pae(payload), keys.ecdsa(private))
    return {"keyid": keys.hint(private.public_key()), "sig": base64.b64encode(signature).decode()}


def evidence_of(store: Store, subject: str, trusted: list[Path]) -> list[Evidence]:
    """All evidence about a version, oldest first. A signature counts only under one of the `trusted` public keys;
    evidence that claims one which does not hold is damaged or forged: BadInput."""
    found: list[Evidence] = []
    for attachment in store.attached(subject, ARTIFACT):
        what = f"{store.name}@{attachment.digest}"
        envelope = parse_json(attachment.payload, what, _AWAY)
        try:
            payload = base64.b64decode(str(envelope.get("payload")), validate=True)
            evidence = _read(parse_json(payload, what, _AWAY), what)
            signer = _signer(payload, envelope.get("signatures"), trusted, what)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise BadInput(what, "not evidence as interlock writes it", hint=_AWAY) from error
        if evidence.subject != subject:
            raise BadInput(what, f"it speaks of {evidence.subject}, not of {subject}", hint=_AWAY)
        found.append(replace(evidence, digest=attachment.digest, signer=signer))
    return sorted(found, key=lambda evidence: evidence.time)


def _read(tree: dict[str, Any], what: str) -> Evidence:
    predicate = tree["predicate"]
    if (tree["_type"], tree["predicateType"]) != (STATEMENT, PREDICATE):
        raise BadInput(what, "another kind of statement", hint=_AWAY)
    ours = predicate["interlock"]
    if datetime.fromisoformat(predicate["timeVerified"]).tzinfo is None:
        raise BadInput(what, "its time has no zone, so its age is not known", hint=_AWAY)
    return Evidence(
        gate=str(ours["gate"]),
        stage=str(ours["stage"]),
        subject=f"sha256:{tree['subject'][0]['digest']['sha256']}",
        policy=f"sha256:{predicate['policy']['digest']['sha256']}",
        passed=predicate["verificationResult"] == "PASSED",
        reason=str(ours["reason"]),
        time=str(predicate["timeVerified"]),
        actor=str(ours["actor"]),
        against=str(ours["against"]),
        summary=cast("dict[str, Any]", ours["summary"]),
    )


def _signer(payload: bytes, signatures: Any, trusted: list[Path], what: str) -> str:
    """The trusted key file that verifies the envelope, or nothing where it is unsigned or by a stranger."""
    from cryptography.exceptions import InvalidSignature

    from ..signing import dsse, keys

    for signature in cast("list[dict[str, str]]", signatures):
        for path in trusted:
            public = keys.load_public(path)
            if keys.hint(public) != signature["keyid"]:
                continue
            try:
                public.verify(base64.b64decode(signature["sig"]), dsse.pae(payload), keys.ecdsa(public))
            except InvalidSignature:
                hint = f"someone changed the evidence: find out who can write there, then {_AWAY}"
                raise BadInput(what, f"the signature by {path} does not hold", hint=hint, code="REL-FORGED") from None
            return str(path)
    return ""


def carry(source: Store, target: Store, manifest: Manifest) -> int:
    """Copy a version's evidence to another place where the same version now is; returns how many were copied."""
    there = {attachment.payload for attachment in target.attached(manifest.digest, ARTIFACT)}
    copied = 0
    for attachment in source.attached(manifest.digest, ARTIFACT):
        if attachment.payload not in there:
            target.attach(manifest.descriptor, ARTIFACT, ENVELOPE, attachment.payload, "evidence")
            copied += 1
    return copied
