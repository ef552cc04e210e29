"""Keyless signatures through a loopback Sigstore: three clients, both Rekor versions, every refusal, and no network."""

from __future__ import annotations

import io
import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from interlock.config.settings import Identity, Trust
from interlock.report.errors import BadInput, NeedsAccess
from interlock.signing.run import sign, verify
from services.sigstore_services import token

ISSUER = "https://token.actions.githubusercontent.com"
SUBJECT = "https://github.com/acme/models/.github/workflows/release.yml@refs/heads/main"
CLAIMS = {
    "repository": "acme/models",
    "ref": "refs/heads/main",
    "workflow": "release",
    "workflow_ref": "acme/models/.github/workflows/release.yml@refs/heads/main",
    "event_name": "push",
}
EXACT = [Identity(issuer=ISSUER, subject=SUBJECT)]


def codes(report: Any) -> list[str]:
    return sorted(finding.rule for finding in report.findings)


@pytest.fixture(params=["v1", "v2"])
def config(request: pytest.FixtureRequest, sigstore: Any) -> Path:
    """A client trust config for each Rekor version."""
    return getattr(sigstore, request.param)


def keyless(model: Path, config: Path, subject: str = SUBJECT, issuer: str = ISSUER, **claims: Any) -> Path:
    sign(model, keyless=True, identity_token=token(subject, issuer, **claims), trust_config=str(config))
    return model / "model.sig"


def test_three_clients_agree(config: Path, model: Path, sigstore: Any, reference: Any) -> None:
    signature = keyless(model, config, **CLAIMS)
    report = verify(model, identities=EXACT, root=str(config))
    assert report.exit_code == 0, report.findings
    signer = report.facts["signer"]
    assert (signer["label"], signer["issuer"], signer["ref"]) == (SUBJECT, ISSUER, "refs/heads/main")
    assert signer["time"]
    theirs = ["--signature", signature, "--identity", SUBJECT, "--identity_provider", ISSUER, "--trust_config", config]
    verdict = reference("verify", "sigstore", model, *theirs)
    assert verdict.code == 0, verdict.text
    assert sigstore.javascript(signature, SUBJECT, ISSUER) == (0, "")
    assert sigstore.javascript(signature, SUBJECT, "https://other")[0] == 1


def test_keyless_bundles_of_the_reference(config: Path, model: Path, reference: Any) -> None:
    signature = model.parent / "theirs.sig"
    done = reference(
        "sign", "sigstore", model, "--signature", signature, "--identity_token", token(SUBJECT, ISSUER),
        "--trust_config", config,
    )  # fmt: skip
    assert done.code == 0, done.text
    assert verify(model, signature=signature, identities=EXACT, root=str(config)).exit_code == 0


def test_bare_trusted_root_is_enough_to_verify(model: Path, sigstore: Any) -> None:
    keyless(model, sigstore.v1)
    assert verify(model, identities=EXACT, root=str(sigstore.root)).exit_code == 0
    with pytest.raises(BadInput, match="does not say where to sign"):
        keyless(model, sigstore.root)


def test_key_bundle_for_javascript(model: Path, sigstore: Any, pair: Any) -> None:
    sign(model, key=pair.private)
    assert sigstore.javascript(model / "model.sig", key=pair.public.read_text()) == (0, "")


WRONG: dict[str, Identity] = {
    "subject": Identity(issuer=ISSUER, subject=SUBJECT + "x"),
    "prefix of the subject": Identity(issuer=ISSUER, subject=SUBJECT[:-1]),
    "issuer": Identity(issuer="https://accounts.google.com", subject=SUBJECT),
    "repository": Identity(issuer=ISSUER, subject=SUBJECT, repository="acme/other"),
    "ref": Identity(issuer=ISSUER, subject=SUBJECT, ref="refs/heads/dev"),
    "workflow": Identity(issuer=ISSUER, subject=SUBJECT, workflow="test"),
    "pattern": Identity(
        issuer=ISSUER, subject_pattern=r"https://github\.com/acme/other/\.github/workflows/release\.yml@refs/heads/main"
    ),
}
RIGHT: dict[str, Identity] = {
    "repository": Identity(issuer=ISSUER, subject=SUBJECT, repository="https://github.com/acme/models"),
    "short repository": Identity(issuer=ISSUER, subject=SUBJECT, repository="acme/models"),
    "ref": Identity(issuer=ISSUER, subject=SUBJECT, ref="refs/heads/main"),
    "workflow": Identity(issuer=ISSUER, subject=SUBJECT, workflow="release"),
    "pattern": Identity(issuer=ISSUER, subject_pattern=r"https://github\.com/acme/models/.*", ref="refs/heads/main"),
}


def test_who_is_trusted(model: Path, sigstore: Any) -> None:
    keyless(model, sigstore.v1, **CLAIMS)
    for why, identity in RIGHT.items():
        assert verify(model, identities=[identity], root=str(sigstore.root)).exit_code == 0, why
    for why, identity in WRONG.items():
        assert codes(verify(model, identities=[identity], root=str(sigstore.root))) == ["VER-IDENTITY"], why
    # Any of several will do, from settings too.
    trust = Trust(identities=[*WRONG.values(), RIGHT["ref"]], root="root.json", mode="keyless")
    assert verify(model, trust=trust, base=sigstore.root.parent).exit_code == 0


def test_pull_request_shares_the_repository_but_not_the_ref(model: Path, sigstore: Any) -> None:
    subject = "https://github.com/acme/models/.github/workflows/release.yml@refs/pull/7/merge"
    keyless(model, sigstore.v1, subject, **CLAIMS | {"ref": "refs/pull/7/merge"})
    assert codes(verify(model, identities=[RIGHT["pattern"]], root=str(sigstore.root))) == ["VER-IDENTITY"]


def _mutate(signature: Path, change: Callable[[Any], Any]) -> None:
    document = json.loads(signature.read_text())
    change(document)
    signature.write_text(json.dumps(document))


def test_what_the_log_and_the_authorities_prove(config: Path, model: Path, sigstore: Any) -> None:
    def entry(document: Any) -> Any:
        return document["verificationMaterial"]["tlogEntries"][0]

    def material(document: Any) -> Any:
        return document["verificationMaterial"]

    changes: dict[str, Callable[[Any], Any]] = {
        "no log entry": lambda d: material(d).update(tlogEntries=[]),
        "entry of something else": lambda d: entry(d).update(canonicalizedBody="e30="),
        "root hash": lambda d: entry(d)["inclusionProof"].update(rootHash="AAAA"),
        "no proof": lambda d: entry(d).pop("inclusionProof"),
        "no time": lambda d: (material(d).pop("timestampVerificationData"), entry(d).update(integratedTime="0")),
        "payload": lambda d: d["dsseEnvelope"].update(payload="e30="),
        "signature": lambda d: d["dsseEnvelope"]["signatures"][0].update(sig="MAYCAQECAQE="),
        "second entry": lambda d: material(d).update(tlogEntries=[entry(d), entry(d)]),
    }
    if config.stem == "v1":  # Rekor v2 has no promise that would bind the index in the whole log
        changes["log index"] = lambda d: entry(d).update(logIndex="77")
    signature = keyless(model, config)
    good = signature.read_text()
    for why, change in changes.items():
        signature.write_text(good)
        _mutate(signature, change)
        report = verify(model, identities=EXACT, root=str(sigstore.root))
        assert report.exit_code == 1, why
        assert report.findings[0].rule in {
            "VER-TRANSPARENCY", "VER-TIMESTAMP", "VER-SIGNATURE", "VER-MALFORMED", "VER-STATEMENT-TYPE",
        }, (why, report.findings)  # fmt: skip
    signature.write_text(good)
    (model / "config.json").write_text("[]")
    assert codes(verify(model, identities=EXACT, root=str(sigstore.root))) == ["VER-CHANGED"]


def test_timestamps_can_be_required(model: Path, sigstore: Any) -> None:
    signature = keyless(model, sigstore.v1)
    trust = Trust(identities=EXACT, root=str(sigstore.root), require_timestamp=True)
    assert verify(model, trust=trust).exit_code == 0
    _mutate(signature, lambda d: d["verificationMaterial"].pop("timestampVerificationData"))
    assert codes(verify(model, trust=trust)) == ["VER-TIMESTAMP"]
    trust.require_timestamp = False
    assert verify(model, trust=trust).exit_code == 0


def test_another_sigstore_is_not_trusted(model: Path, sigstore: Any, tmp_path: Path) -> None:
    from services.sigstore_services import Sigstore

    other = Sigstore(sigstore._home, tmp_path / "other")
    try:
        keyless(model, other.v1)
        assert verify(model, identities=EXACT, root=str(other.root)).exit_code == 0
        report = verify(model, identities=EXACT, root=str(sigstore.root))
        assert report.exit_code == 1
        assert report.findings[0].rule in ("VER-TIMESTAMP", "VER-CHAIN", "VER-TRANSPARENCY")
    finally:
        other.close()


def test_services_that_are_away(model: Path, sigstore: Any) -> None:
    for service in ("signingCert", "entries", "timestamp"):
        sigstore.down(service)
        try:
            with pytest.raises(NeedsAccess):
                keyless(model, sigstore.v1)
        finally:
            sigstore.down()
        assert not (model / "model.sig").exists()
    text = sigstore.v1.read_text().replace(sigstore.url, "http://127.0.0.1:9")
    away = model.parent / "away.json"
    away.write_text(text)
    with pytest.raises(NeedsAccess):
        keyless(model, away)


def test_tokens_that_do_not_work(model: Path, sigstore: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ACTIONS_ID_TOKEN_REQUEST_URL", "CI", "GITLAB_CI", "SIGSTORE_ID_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    config = str(sigstore.v1)
    with pytest.raises(NeedsAccess, match="no identity token"):
        sign(model, keyless=True, trust_config=config)
    with pytest.raises(BadInput, match="identity token"):
        sign(model, keyless=True, identity_token="nonsense", trust_config=config)
    with pytest.raises(NeedsAccess, match="expired or is not valid yet"):
        sign(model, keyless=True, identity_token=token(SUBJECT, ISSUER, exp=1, iat=0, nbf=0), trust_config=config)
    with pytest.raises(NeedsAccess, match="expired or is not valid yet"):
        soon = 4_000_000_000
        sign(
            model,
            keyless=True,
            identity_token=token(SUBJECT, ISSUER, exp=soon + 60, iat=soon, nbf=soon),
            trust_config=config,
        )
    monkeypatch.setenv("SIGSTORE_ID_TOKEN", token(SUBJECT, ISSUER))
    assert sign(model, keyless=True, trust_config=config).exit_code == 0


def test_trust_roots_that_cannot_be_used(model: Path, sigstore: Any, tmp_path: Path) -> None:
    keyless(model, sigstore.v1)
    bad = tmp_path / "bad.json"
    for text in (
        "",
        "[]",
        "{}",
        '{"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1", "tlogs": 3}',
    ):
        bad.write_text(text)
        with pytest.raises(BadInput):
            verify(model, identities=EXACT, root=str(bad))
    with pytest.raises(BadInput):
        verify(model, identities=EXACT, root=str(tmp_path / "missing.json"))


def test_age_of_the_trust_root(model: Path, sigstore: Any, tmp_path: Path) -> None:
    import os
    import time

    keyless(model, sigstore.v1)
    root = tmp_path / "root.json"
    shutil.copy(sigstore.root, root)
    trust = Trust(identities=EXACT, root=str(root), root_max_age="90d")
    assert verify(model, trust=trust).exit_code == 0
    os.utime(root, (time.time() - 100 * 86400,) * 2)
    assert codes(verify(model, trust=trust)) == ["VER-ROOT-AGE"]
    report = verify(model, trust=trust, allow=["VER-ROOT-AGE"])
    assert (report.exit_code, report.facts["allowed"]) == (0, ["VER-ROOT-AGE"])


def test_verification_opens_no_connection(model: Path, sigstore: Any, require: Callable[[str, str], NoReturn]) -> None:
    """Any attempt to connect ends the process: verification with a trust root file makes none."""
    keyless(model, sigstore.v2)
    script = """
import socket, sys
def refuse(*args, **kwargs):
    raise SystemExit("connected")
for name in ("connect", "connect_ex", "sendto"):
    setattr(socket.socket, name, refuse)
socket.getaddrinfo = refuse
from interlock.cli.main import main
main(sys.argv[1:])
"""
    command = [sys.executable, "-c", script, "verify", str(model), "--issuer", ISSUER, "--identity", SUBJECT]
    command += ["--trust-root", str(sigstore.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert socket  # the public-good root, in contrast, needs the network
    done = subprocess.run(command[:-2], capture_output=True, text=True, check=False)
    assert "connected" in done.stderr or done.returncode == 4, done.stderr


def test_certificate_and_key_signatures_with_a_timestamp(model: Path, sigstore: Any, pair: Any) -> None:
    url = f"{sigstore.url}/api/v1/timestamp"
    sign(model, key=pair.private, timestamp_url=url)
    trust = Trust(keys=[str(pair.public)], root=str(sigstore.root), require_timestamp=True)
    report = verify(model, trust=trust)
    assert report.exit_code == 0
    assert report.facts["signer"]["time"]
    sigstore.down("timestamp")
    try:
        with pytest.raises(NeedsAccess, match="timestamp authority"):
            sign(model, key=pair.private, timestamp_url=url)
    finally:
        sigstore.down()
    with pytest.raises(BadInput, match="is no timestamp"):
        sign(model, key=pair.private, timestamp_url=f"{sigstore.url}/.well-known/openid-configuration?")
