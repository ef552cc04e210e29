"""The reference verifies what we sign, and we verify what it signs: same files, same keys, both directions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from interlock.signing.manifest import root_digest
from interlock.signing.run import sign, verify

CURVES = ("P-256", "P-384", "P-521")


def passes(report: Any) -> bool:
    return report.verdict == "pass" and report.exit_code == 0


@pytest.mark.parametrize("curve", CURVES)
def test_reference_verifies_ours(curve: str, pairs: Any, model: Path, reference: Any) -> None:
    sign(model, key=pairs[curve].private)
    signature = model / "model.sig"
    verdict = reference("verify", "key", model, "--signature", signature, "--public_key", pairs[curve].public)
    assert verdict.code == 0, verdict.text
    (model / "a" / "b.bin").write_bytes(b"other")
    verdict = reference("verify", "key", model, "--signature", signature, "--public_key", pairs[curve].public)
    assert verdict.code == 1


@pytest.mark.parametrize("curve", CURVES)
def test_we_verify_the_references(curve: str, pairs: Any, model: Path, reference: Any) -> None:
    signature = model.parent / "theirs.sig"
    done = reference("sign", "key", model, "--signature", signature, "--private_key", pairs[curve].private)
    assert done.code == 0, done.text
    report = verify(model, signature=signature, key=pairs[curve].public)
    assert passes(report), report.findings
    assert report.facts["hashed_with"] == {"sha256": 5}
    (model / "a" / "b.bin").write_bytes(b"other")
    report = verify(model, signature=signature, key=pairs[curve].public)
    assert [f.rule for f in report.findings] == ["VER-CHANGED"]


def test_signature_of_the_reference_inside_the_model(pair: Any, model: Path, reference: Any) -> None:
    signature = model / "model.sig"
    assert reference("sign", "key", model, "--signature", signature, "--private_key", pair.private).code == 0
    assert passes(verify(model, key=pair.public))


def test_path_order_of_both_kinds(pair: Any, model: Path, reference: Any) -> None:
    """`a/b.bin` stands before `a-b.bin` component-wise and after it by code point: two root digests, both pass."""
    theirs = model.parent / "theirs.sig"
    ours = model.parent / "ours.sig"
    reference("sign", "key", model, "--signature", theirs, "--private_key", pair.private)
    sign(model, key=pair.private, output=ours)
    reports = [verify(model, signature=path, key=pair.public) for path in (ours, theirs)]
    assert all(map(passes, reports))
    assert reports[0].facts["root_digest"] != reports[1].facts["root_digest"]
    assert reports[0].facts["root_digest"] == root_digest(model)


def test_single_file(pair: Any, tmp_path: Path, reference: Any) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(os.urandom(5000))
    key, public = pair
    sign(file, key=key)
    assert passes(verify(file, key=public))
    # The reference accepts only '.', the specification asks for the basename.
    sign(file, key=key, compat="model-signing-1.1")
    signature = tmp_path / "model.gguf.sig"
    verdict = reference("verify", "key", file, "--signature", signature, "--public_key", public)
    assert verdict.code == 0, verdict.text
    assert passes(verify(file, key=public))
    assert reference("sign", "key", file, "--signature", signature, "--private_key", key).code == 0
    assert passes(verify(file, key=public))


@pytest.mark.parametrize("size", [1000, 70_000, 1_000_000_000])
def test_shards_of_the_reference(size: int, pair: Any, model: Path, reference: Any) -> None:
    (model / "empty.txt").unlink()
    signature = model.parent / "shards.sig"
    done = reference.sign_with(
        method="shards", hash="sha256", shard_size=size, key=pair.private, model=model, signature=signature
    )
    assert done.code == 0, done.text
    report = verify(model, signature=signature, key=pair.public)
    assert passes(report), report.findings
    # Shards leave empty files out, so nobody signed this one.
    (model / "__init__.py").touch()
    assert [f.rule for f in verify(model, signature=signature, key=pair.public).findings] == ["VER-EXTRA"]


def test_blake3_of_the_reference(pair: Any, model: Path, reference: Any) -> None:
    signature = model.parent / "blake3.sig"
    done = reference.sign_with(method="files", hash="blake3", key=pair.private, model=model, signature=signature)
    assert done.code == 0, done.text
    report = verify(model, signature=signature, key=pair.public)
    assert passes(report), report.findings
    refused = verify(model, signature=signature, key=pair.public, strict_sha256=True)
    assert [f.rule for f in refused.findings] == ["VER-ALGORITHM"]


def test_git_files_are_left_out_by_both(pair: Any, model: Path, reference: Any) -> None:
    (model / ".git").mkdir()
    (model / ".git" / "HEAD").write_text("ref: refs/heads/main")
    (model / ".gitattributes").write_text("*.safetensors filter=lfs")
    sign(model, key=pair.private)
    signature = model / "model.sig"
    verdict = reference("verify", "key", model, "--signature", signature, "--public_key", pair.public)
    assert verdict.code == 0, verdict.text
    report = verify(model, key=pair.public)
    assert sorted(f.rule for f in report.findings) == ["VER-IGNORED", "VER-IGNORED"]
    report = verify(model, key=pair.public, allow=["VER-IGNORED=.git", "VER-IGNORED=.gitattributes"])
    assert passes(report)
    assert report.facts["not_covered"]["ignored"] == [".git", ".gitattributes"]
    assert report.facts["allowed"] == ["VER-IGNORED=.git", "VER-IGNORED=.gitattributes"]


def test_git_files_can_be_covered(pair: Any, model: Path) -> None:
    (model / ".gitattributes").write_text("*.safetensors filter=lfs")
    sign(model, key=pair.private, cover_git=True)
    assert passes(verify(model, key=pair.public))
