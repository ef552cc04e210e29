"""What the policy limits: identities, age, versions, the deny list. The bundle has no say in any of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from interlock.config.settings import Identity, Trust
from interlock.report.errors import BadInput
from interlock.signing import bundle, statement
from interlock.signing.identity import Named, check_rules, trusted
from interlock.signing.keymode import KeySigner
from interlock.signing.keys import load_private
from interlock.signing.limits import duration
from interlock.signing.manifest import build
from interlock.signing.patterns import weakness
from interlock.signing.run import sign, verify
from interlock.signing.statement import SIGNED_AT, Statement
from interlock.signing.tree import Tree

ISSUER = "https://token.actions.githubusercontent.com"
WEAK = {
    r".*acme\.ai$": "?acme.ai",
    r".*@acme\.ai": "@acme.ai",
    r"[^@/]+@acme.ai": "acmexai",
    r"\S+@acme\.ai": "evil.example",
    r"[a-z.]+@acme\.ai.*": "acme.ai.evil.example",
    r"https://github\.com/acme.*": "/acme-mallory/",
    r"https://github\.com/.*": "/mallory",
    r"https://github\.com/[^/]+/models/.*": "/mallory/models/",
    r"https://github\.com/acme/.*": "@refs/pull/1/merge",
    r"https://github\.com/acme/models/\.github/workflows/release\.yml@.*": "@refs/pull/1/merge",
    r"https://github.com/acme/models/x@refs/heads/main": "githubxcom",
    r"https://ci\.acme\.ai.*": "ci.acme.ai.evil.example",
    r".*": "evil",
    r"ann@acme\.ai|.*@acme\.ai": "evil.example",
}
NOT_JUDGED = [
    r"(?i)ann@acme\.ai",
    r"(ab)+",
    r"a(?=b)",
    r"(a)\1",
    "[",
    "a(b",
    "\\",
    "((a|b)(c|d)(e|f)(g|h)(i|j)(k|l)(m|n))",
]
STRONG = [
    r"[^@/]+@acme\.ai",
    r"(ann|bob)@acme\.ai",
    r"https://github\.com/acme/models/\.github/workflows/release\.yml@refs/(heads/main|tags/v.*)",
    r"https://github\.com/acme/.*@refs/heads/main",
    r"https?://ci\.acme\.ai/jobs/\d+",
    r"^https://gitlab\.com/acme/models//\.gitlab-ci\.yml@refs/heads/main$",
]


@pytest.mark.parametrize("pattern", WEAK)
def test_weak_patterns_are_shown_a_stranger(pattern: str) -> None:
    with pytest.raises(BadInput, match="would slip in") as caught:
        check_rules([Identity(issuer=ISSUER, subject_pattern=pattern)])
    assert caught.value.code == "VER-WEAK-PATTERN"
    assert WEAK[pattern] in caught.value.reason


@pytest.mark.parametrize("pattern", NOT_JUDGED)
def test_patterns_that_cannot_be_judged_are_refused(pattern: str) -> None:
    with pytest.raises(BadInput, match="is weak"):
        check_rules([Identity(issuer=ISSUER, subject_pattern=pattern)])


@pytest.mark.parametrize("pattern", STRONG)
def test_strong_patterns(pattern: str) -> None:
    check_rules([Identity(issuer=ISSUER, subject_pattern=pattern)])


def test_ref_pinned_apart_makes_a_repository_pattern_strong() -> None:
    pattern = r"https://github\.com/acme/models/.*"
    assert weakness(pattern) is not None
    check_rules([Identity(issuer=ISSUER, subject_pattern=pattern, ref="refs/heads/main")])


def test_rules_that_say_too_little() -> None:
    for rule, word in (
        (Identity(subject="a@acme.ai"), "issuer"),
        (Identity(issuer=ISSUER), "either subject"),
        (Identity(issuer=ISSUER, subject="a", subject_pattern="a"), "either subject"),
        (Identity(), "issuer"),
    ):
        with pytest.raises(BadInput, match=word):
            check_rules([rule])


def test_the_whole_subject_has_to_match() -> None:
    rule = Identity(issuer=ISSUER, subject_pattern=r"[^@/]+@acme\.ai")
    assert trusted(Named("ann@acme.ai", ISSUER), [rule])
    for subject in ("ann@acme.ai\n", "ann@acme.ai.evil", "x/ann@acme.ai", "ann@acmexai", "", "ann@acme.ai "):
        assert not trusted(Named(subject, ISSUER), [rule]), subject
    assert not trusted(Named("ann@acme.ai", ISSUER + "/"), [rule])
    assert not trusted(Named("ann@acme.ai", ""), [rule])
    assert not trusted(Named("ann@acme.ai", ISSUER), [])


def codes(report: Any) -> list[str]:
    return sorted(finding.rule for finding in report.findings)


def sign_at(model: Path, pair: Any, when: str | None) -> Path:
    """A signature that claims a time, or says nothing about it."""
    manifest, _ = build(Tree(model))
    notes = {} if when is None else {SIGNED_AT: when}
    path = model.parent / "when.sig"
    encoded = KeySigner(load_private(pair.private), "k").bundle(statement.encode(Statement(manifest, "m", notes)))
    assert bundle.decode(encoded, "x").payload
    path.write_bytes(encoded)
    return path


def test_age(model: Path, pair: Any) -> None:
    trust = Trust(keys=[str(pair.public)], max_age="30d")
    now = datetime.now(UTC)
    for when, expected in (
        (now.isoformat(), []),
        ((now - timedelta(days=29)).isoformat(), []),
        ((now - timedelta(days=31)).isoformat(), ["VER-TOO-OLD"]),
        ((now + timedelta(days=1)).isoformat(), ["VER-TOO-OLD"]),
        (now.replace(tzinfo=None).isoformat(), []),
        ("yesterday", ["VER-TOO-OLD"]),
        (None, ["VER-TOO-OLD"]),
    ):
        assert codes(verify(model, signature=sign_at(model, pair, when), trust=trust)) == expected, when
    report = verify(model, signature=sign_at(model, pair, None), trust=trust, allow=["VER-TOO-OLD"])
    assert (report.exit_code, report.facts["allowed"]) == (0, ["VER-TOO-OLD"])


def test_durations() -> None:
    assert duration("90d", "x") == timedelta(days=90)
    for text in ("", "90", "d", "-1d", "1.5h", "1y", "٣d"):
        with pytest.raises(BadInput):
            duration(text, "x")


@pytest.mark.parametrize(
    ("version", "lowest", "passes"),
    [
        ("1.4.0", "1.4.0", True),
        ("1.4", "1.4.0", True),
        ("v1.10.0", "1.9.9", True),
        ("2.0.0-rc.2", "2.0.0-rc.1", True),
        ("2.0.0-rc.10", "2.0.0-rc.9", True),
        ("1.3.9", "1.4.0", False),
        ("2.0.0-rc.1", "2.0.0", False),
        ("", "1.0", False),
        ("latest", "1.0", False),
    ],
)
def test_rollback(version: str, lowest: str, passes: bool, model: Path, pair: Any) -> None:
    sign(model, key=pair.private, version=version)
    report = verify(model, trust=Trust(keys=[str(pair.public)], minimum_version=lowest))
    assert codes(report) == ([] if passes else ["VER-ROLLBACK"])


def test_minimum_that_is_no_version(model: Path, pair: Any) -> None:
    sign(model, key=pair.private, version="1.0")
    with pytest.raises(BadInput, match="not a version"):
        verify(model, trust=Trust(keys=[str(pair.public)], minimum_version="newest"))


def test_deny_list(model: Path, pairs: Any, tmp_path: Path) -> None:
    operator, pair = pairs["P-384"], pairs["P-256"]
    signed = sign(model, key=pair.private)
    trust = Trust(keys=[str(pair.public)], deny="deny.yaml", deny_key=str(operator.public))
    deny = tmp_path / "deny.yaml"

    def judge(text: str) -> list[str]:
        deny.write_text(text)
        sign(deny, key=operator.private)
        return codes(verify(model, trust=trust, base=tmp_path))

    root = signed.facts["root_digest"]
    hint = signed.facts["signer"]["id"].removeprefix("key:")
    manifest, _ = build(Tree(model), ignore=["model.sig"])
    assert judge("digests: [sha256:" + "0" * 64 + "]") == []
    assert judge(f"digests: ['{root}']") == ["VER-DENIED"]
    assert judge(f"digests: ['sha256:{manifest.resources[0].digest}']") == ["VER-DENIED"]
    assert judge(f"digests: ['{manifest.resources[0].blake3.upper()}']") == ["VER-DENIED"]
    assert judge(f"keys: ['{hint}']") == ["VER-DENIED"]
    assert judge("identities: [nobody]") == []
    assert judge("") == []
    for text in ("digest: []", "keys: all", "- a", "{", "keys: {a: b}"):
        with pytest.raises(BadInput):
            judge(text)
    # A list that is changed, unsigned, signed by another, or gone stops the gate.
    judge("keys: []")
    deny.write_text(f"keys: ['{hint}'] ")
    with pytest.raises(BadInput, match="not the one that was signed"):
        verify(model, trust=trust, base=tmp_path)
    sign(deny, key=pair.private)
    with pytest.raises(BadInput, match="signature is refused"):
        verify(model, trust=trust, base=tmp_path)
    (tmp_path / "deny.yaml.sig").unlink()
    with pytest.raises(BadInput):
        verify(model, trust=trust, base=tmp_path)
    deny.unlink()
    with pytest.raises(BadInput):
        verify(model, trust=trust, base=tmp_path)
    trust.deny_key = ""
    with pytest.raises(BadInput, match="deny_key"):
        verify(model, trust=trust, base=tmp_path)


def test_ignores_allowed_by_the_policy(model: Path, pair: Any) -> None:
    (model / "logs").mkdir()
    (model / "logs" / "run.txt").write_text("x")
    sign(model, key=pair.private, ignore=["logs", "cache"])
    assert codes(verify(model, key=pair.public)) == ["VER-IGNORED"]
    report = verify(model, trust=Trust(keys=[str(pair.public)], allow_ignored=["logs"]))
    assert report.exit_code == 0
    assert report.facts["not_covered"]["ignored"] == ["logs"]
    assert report.facts["allowed"] == ["VER-IGNORED=logs"]
    (model / "logs" / "run.txt").unlink()
    (model / "logs").rmdir()
    report = verify(model, trust=Trust(keys=[str(pair.public)], allow_ignored=["logs"]))
    assert (report.exit_code, report.facts["allowed"]) == (0, [])


def test_digest_algorithms_of_the_policy(model: Path, pair: Any) -> None:
    sign(model, key=pair.private, side_digests=False)
    assert verify(model, trust=Trust(keys=[str(pair.public)], digests=["sha256"])).exit_code == 0
    assert codes(verify(model, trust=Trust(keys=[str(pair.public)], digests=["blake3"]))) == ["VER-ALGORITHM"]
    sign(model, key=pair.private)
    assert verify(model, trust=Trust(keys=[str(pair.public)], digests=["blake3"])).exit_code == 0
