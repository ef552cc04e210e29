"""Gates run the real rooms on the published bytes; promote wants their evidence, fresh, for exactly this digest."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from interlock.release.descriptor import canonical
from interlock.release.evidence import evidence_of
from interlock.release.ocilayout import OciLayout
from interlock.release.run import gate, promote, publish, pull, status
from interlock.report.errors import BadInput, NothingToCheck, Refused
from interlock.signing.limits import duration
from interlock.signing.run import sign

VERIFY = """
  staging: {gates: [verify]}
  prod: {from: staging, gates: [verify], serving: {directory: served}}
"""
TRUST = "trust: {keys: [release.pub]}"


@pytest.fixture
def signed(project: Any) -> Any:
    """Both versions signed with one key, published; every stage wants the signature verified."""
    from interlock.signing.keys import generate

    generate(str(project.root / "release"))
    generate(str(project.root / "stranger"))
    for name in ("model", "next"):
        sign(project.root / name, key=project.root / "release.key")
    project.write(VERIFY, TRUST)
    project.publish()
    return project


def subjects(project: Any) -> list[Any]:
    return evidence_of(OciLayout(project.layout), project.one, [project.root / "release.pub"])


def test_no_evidence_no_promotion(signed: Any, helpers: Any) -> None:
    with pytest.raises(Refused, match="verify has not run on this version") as caught:
        promote("1.0", "staging", config=signed.config)
    assert caught.value.exit_code == 1 and "interlock gate --stage staging" in caught.value.hint
    assert OciLayout(signed.layout).tags() == ["1.0", "2.0"]
    report = helpers.passed(gate("staging", "1.0", config=signed.config))
    assert report.facts["digest"] == signed.one and report.facts["gates"]["verify"]["passed"]
    done = helpers.passed(promote("1.0", "staging", config=signed.config))
    assert done.facts["evidence"] == [report.facts["gates"]["verify"]["evidence"]]
    # Evidence speaks of one digest only.
    with pytest.raises(Refused, match="has not run on this version"):
        promote("2.0", "staging", config=signed.config)


def test_a_pulled_version_still_verifies(signed: Any, helpers: Any) -> None:
    out = signed.root / "out"
    report = helpers.passed(pull(f"{signed.place}:1.0", str(out), verify=True, config=signed.config))
    assert "verified" in report.facts["signature"] and (out / "model.sig").is_file()


@pytest.mark.parametrize("how", ["unsigned", "changed", "stranger"])
def test_what_does_not_verify_is_neither_pulled_nor_promoted(signed: Any, helpers: Any, how: str) -> None:
    model = signed.root / "model"
    if how == "unsigned":
        (model / "model.sig").unlink()
    elif how == "changed":
        (model / "weights.bin").write_bytes(b"other")
    else:
        sign(model, key=signed.root / "stranger.key")
    publish(str(model), f"{signed.place}:bad")
    with pytest.raises(Refused, match="signature not accepted") as caught:
        pull(f"{signed.place}:bad", str(signed.root / "out"), verify=True, config=signed.config)
    assert not (signed.root / "out").exists() and not helpers.drafts(signed.root)
    report = gate("staging", "bad", config=signed.config)
    assert report.exit_code == 1 and "verify" in helpers.said(report)
    # What they say is about the version, not about a folder that is gone by now; and it says what exactly is wrong.
    name = f"{signed.place}@{report.facts['digest']}"
    file, code, more = {
        "unsigned": ("", "VER-UNSIGNED", ""),
        "changed": ("weights.bin", "VER-CHANGED", ""),
        "stranger": ("model.sig", "VER-KEY", str(signed.root / "release.pub")),
    }[how]
    for text in (caught.value.reason, report.refused, report.facts["gates"]["verify"]["reason"]):
        assert file in text and code in text and more in text
        assert ".draft-" not in text and "views" not in text
    assert caught.value.what == name and caught.value.hint and name in report.headline
    assert report.findings[0].where.path == (f"{name}/{file}" if file else name)
    with pytest.raises(Refused, match="verify did not pass"):
        promote("bad", "staging", config=signed.config)


def test_the_newest_evidence_counts(signed: Any, helpers: Any) -> None:
    helpers.passed(gate("staging", "1.0", config=signed.config))
    (signed.root / "release.pub").rename(signed.root / "kept.pub")
    shutil.copy(signed.root / "stranger.pub", signed.root / "release.pub")
    with pytest.raises(Refused, match="ran under other settings"):
        promote("1.0", "staging", config=signed.config)
    assert gate("staging", "1.0", config=signed.config).exit_code == 1
    (signed.root / "kept.pub").replace(signed.root / "release.pub")
    helpers.passed(promote("1.0", "staging", config=signed.config))


def test_a_gate_that_cannot_run_has_not_passed(signed: Any, helpers: Any) -> None:
    signed.write(VERIFY)  # nobody is trusted
    report = gate("staging", "1.0", config=signed.config)
    assert (
        report.exit_code == 1
        and "could not run" in helpers.said(report)
        and "nobody is trusted" in helpers.said(report)
    )
    with pytest.raises(Refused, match="did not pass: could not run"):
        promote("1.0", "staging", config=signed.config)


def test_old_evidence_and_evidence_from_the_future(signed: Any, helpers: Any, monkeypatch: Any) -> None:
    import interlock.release.evidence as module

    signed.write(VERIFY.replace("gates: [verify]}", "gates: [verify], max_age: 1h}", 1), TRUST)
    for time, reason in (("2020-01-01T00:00:00.000Z", "more than 1h"), ("2999-01-01T00:00:00.000Z", "in the future")):
        monkeypatch.setattr(module, "now", lambda time=time: time)
        helpers.passed(gate("staging", "1.0", config=signed.config))
        with pytest.raises(Refused, match=reason):
            promote("1.0", "staging", config=signed.config)
    monkeypatch.undo()
    assert [one.passed for one in subjects(signed)] == [True, True]


def test_signed_evidence(signed: Any, helpers: Any) -> None:
    stages = VERIFY.replace("gates: [verify]", "signed_evidence: true, gates: [verify]")
    signed.write(stages, TRUST)
    report = helpers.passed(gate("staging", "1.0", config=signed.config))
    assert report.facts["evidence"] == "unsigned" and "unsigned" in str(report.body)
    with pytest.raises(Refused, match="no evidence signed by a trusted key"):
        promote("1.0", "staging", config=signed.config)
    helpers.passed(gate("staging", "1.0", key=str(signed.root / "stranger.key"), config=signed.config))
    with pytest.raises(Refused, match="no evidence signed by a trusted key"):
        promote("1.0", "staging", config=signed.config)
    helpers.passed(gate("staging", "1.0", key=str(signed.root / "release.key"), config=signed.config))
    helpers.passed(promote("1.0", "staging", config=signed.config))
    assert [bool(one.signer) for one in subjects(signed)] == [False, False, True]


def forge(project: Any, change: Any) -> None:
    """Change the statement in the newest evidence and store it well formed, keeping the old signature."""
    layout = OciLayout(project.layout)
    entry = json.loads((project.layout / "index.json").read_bytes())["manifests"][-1]
    manifest = json.loads((project.layout / "blobs" / "sha256" / entry["digest"][7:]).read_bytes())
    envelope = json.loads((project.layout / "blobs" / "sha256" / manifest["layers"][0]["digest"][7:]).read_bytes())
    statement = json.loads(base64.b64decode(envelope["payload"]))
    change(statement)
    envelope["payload"] = base64.b64encode(canonical(statement)).decode()
    from interlock.release.evidence import ARTIFACT, ENVELOPE
    from interlock.release.store import load

    layout.attach(load(layout, project.one).descriptor, ARTIFACT, ENVELOPE, canonical(envelope), "forged")


def test_forged_evidence_stops_everything(signed: Any) -> None:
    gate("staging", "1.0", key=str(signed.root / "release.key"), config=signed.config)
    forge(signed, lambda statement: statement["predicate"].update(timeVerified="2999-01-01T00:00:00Z"))
    with pytest.raises(BadInput, match="does not hold") as caught:
        promote("1.0", "staging", config=signed.config)
    assert caught.value.code == "REL-FORGED"


def test_evidence_about_another_digest_is_refused(signed: Any) -> None:
    gate("staging", "1.0", config=signed.config)
    forge(signed, lambda statement: statement["subject"][0]["digest"].update(sha256="0" * 64))
    with pytest.raises(BadInput, match="it speaks of sha256:000"):
        promote("1.0", "staging", config=signed.config)


def test_evidence_is_a_summary_attestation_in_an_envelope(signed: Any) -> None:
    gate("staging", "1.0", key=str(signed.root / "release.key"), config=signed.config)
    index = json.loads((signed.layout / "index.json").read_bytes())["manifests"]
    (entry,) = [item for item in index if item.get("artifactType", "").endswith("evidence.v1+json")]
    manifest = json.loads((signed.layout / "blobs" / "sha256" / entry["digest"][7:]).read_bytes())
    assert manifest["subject"]["digest"] == signed.one
    assert manifest["config"]["mediaType"] == "application/vnd.oci.empty.v1+json"
    envelope = json.loads((signed.layout / "blobs" / "sha256" / manifest["layers"][0]["digest"][7:]).read_bytes())
    assert envelope["payloadType"] == "application/vnd.in-toto+json" and len(envelope["signatures"]) == 1
    statement = json.loads(base64.b64decode(envelope["payload"]))
    assert statement["subject"][0]["digest"] == {"sha256": signed.one[7:]}
    assert statement["predicateType"] == "https://slsa.dev/verification_summary/v1"
    assert statement["predicate"]["verificationResult"] == "PASSED"
    assert statement["predicate"]["policy"]["digest"]["sha256"]


@pytest.mark.parametrize(
    ("gate", "before", "after"),
    [
        ("bench", "contract: {domains: {sr: [8000]}}", "contract: {domains: {sr: [16000]}}"),
        ("bench", "bench: {rounds: 3}", "bench: {rounds: 4}"),
        ("validate", "contract: {level: wire}", "contract: {level: strict}"),
        ("verify", "trust: {deny_key: model/config.json}", "trust: {deny_key: next/config.json}"),
    ],
)
def test_evidence_counts_for_all_that_a_gate_reads(project: Any, gate: str, before: str, after: str) -> None:
    from interlock.config.load import load
    from interlock.release.policy import policy_digest

    digests: list[str] = []
    for extra in (before, after, before):
        project.write(extra=extra)
        digests.append(policy_digest(gate, load(project.config), "sha256:0"))
    assert digests[0] == digests[2] != digests[1]


def test_the_key_of_the_deny_list_is_read(project: Any) -> None:
    """The file itself, not only its name."""
    from interlock.config.load import load
    from interlock.release.policy import policy_digest

    project.write(extra="trust: {deny_key: deny.pub}")
    found: set[str] = set()
    for text in ("one", "two"):
        (project.root / "deny.pub").write_text(text)
        found.add(policy_digest("verify", load(project.config), ""))
    assert len(found) == 2


def test_a_live_version_elsewhere_goes_by_its_own_name(published: Any) -> None:
    (published.root / "next" / "more.txt").write_text("of a version that is not in the registry")
    publish(str(published.root / "next"), f"oci-layout:{published.root / 'elsewhere'}:old")
    for live in (f"oci-layout:{published.root / 'elsewhere'}:old", f"{published.place}:1.0"):
        published.write(extra=f"live: {live}")
        desk = published.desk("staging")
        digest = desk.live(desk.position())
        with desk.open_live(digest) as model:
            assert model.name == (live if digest != published.one else f"{published.place}@{digest}")
            assert model.digest == digest and (model.path / "more.txt").exists() is (digest != published.one)


def test_evidence_goes_with_a_version_to_another_place(signed: Any, tmp_path: Path, helpers: Any) -> None:
    gate("staging", "1.0", config=signed.config)
    for target in (f"directory:{tmp_path / 'copy'}:1.0", f"oci-layout:{tmp_path / 'layout'}:1.0"):
        assert helpers.passed(publish(f"{signed.place}:1.0", target)).facts["digest"] == signed.one
        publish(f"{signed.place}:1.0", target)
        from interlock.release.reference import open_store, parse

        assert len(evidence_of(open_store(parse(target)), signed.one, [])) == 1


def test_gates_of_a_model_directory_are_those_of_what_was_published(signed: Any, helpers: Any) -> None:
    helpers.passed(gate("staging", config=signed.config))  # the model of the settings, by its files
    (signed.root / "model" / "extra").write_text("x")
    with pytest.raises(BadInput, match="is not in the registry"):
        gate("staging", config=signed.config)


@pytest.mark.parametrize("stage", ["{}", "{gates: []}"])
def test_a_stage_without_gates_lets_nothing_in(published: Any, helpers: Any, stage: str) -> None:
    published.write(f"\n  staging: {stage}")
    for act, error in (
        (gate, NothingToCheck),
        (lambda to, version, config: promote(version, to, config=config), Refused),
    ):
        with pytest.raises(error, match="names no gates") as caught:
            act("staging", "1.0", config=published.config)
        assert "gates: [verify, validate]" in caught.value.hint and caught.value.code == "REL-GATES"
    assert OciLayout(published.layout).tags() == ["1.0", "2.0"]
    report = helpers.passed(status(config=published.config))
    assert "names no gates" in helpers.said(report) and report.facts["stages"]["staging"]["state"] == "empty"


def test_an_interrupted_promotion_looks_at_the_evidence_again(signed: Any, helpers: Any) -> None:
    """A promotion that was killed before it was gated does not go on when the evidence has gone."""
    from interlock.config.load import load
    from interlock.release.desk import open_desk
    from interlock.release.movement import Movement, pair_of

    helpers.passed(gate("staging", "1.0", config=signed.config))
    desk = open_desk("staging", load(signed.config))
    Movement.start(
        desk, desk.position(), "promote", request="r", target=pair_of(desk, signed.one), reason=""
    )  # and the process dies here
    signed.write(VERIFY, "trust: {keys: [stranger.pub]}")
    with pytest.raises(Refused, match="ran under other settings"):
        promote("1.0", "staging", config=signed.config)
    report = status("staging", config=signed.config)
    assert report.facts["stages"]["staging"]["state"] == "empty"
    signed.write(VERIFY, TRUST)
    helpers.passed(promote("1.0", "staging", config=signed.config))


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("5m", 300), ("12h", 43200), ("7d", 604800), ("2w", 1209600)]
)
def test_durations(text: str, seconds: int) -> None:
    assert duration(text, "x").total_seconds() == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "7 d", "-1d", "1.5h", "7x", "٣d", "9999999d"])
def test_not_durations(text: str) -> None:
    with pytest.raises(BadInput, match="not a duration"):
        duration(text, "x")


def onnx_model(folder: Path, scale: float, shape: int = 4, name: str = "x") -> None:
    """A one-operator model that can be run."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper

    folder.mkdir()
    value = helper.make_tensor("w", TensorProto.FLOAT, [shape], [scale] * shape)
    graph = helper.make_graph(
        [helper.make_node("Mul", [name, "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, shape])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, shape])],
        [value],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "model.onnx")


@pytest.mark.slow
def test_all_four_gates_on_real_models(project: Any, helpers: Any, root: Path) -> None:
    pytest.importorskip("onnxruntime")
    from interlock.signing.keys import generate

    generate(str(project.root / "release"))
    for name, scale, tensor in (("a", 1.0, "x"), ("b", 1.25, "x"), ("broken", 1.25, "renamed")):
        onnx_model(project.root / name, scale, name=tensor)
        sign(project.root / name, key=project.root / "release.key")
        publish(str(project.root / name), f"{project.place}:{name}")
    stages = """
  prod: {gates: [lint, verify, validate, bench], serving: {directory: served}}
"""
    bench = "bench: {providers: [cpu], rounds: 3, max_regression: {p50: 400%}}"
    project.write(stages, f"{TRUST}\n{bench}")
    first = gate("prod", "a", config=project.config)
    helpers.passed(first)
    assert set(first.facts["gates"]) == {"lint", "verify", "validate", "bench"} and first.facts["against"] is None
    helpers.passed(promote("a", "prod", config=project.config))
    broken = gate("prod", "broken", config=project.config)
    assert broken.exit_code == 1 and "validate" in helpers.said(broken)
    assert [f.rule for f in broken.findings if f.level == "breaks"]
    with pytest.raises(Refused, match="validate did not pass"):
        promote("broken", "prod", config=project.config)
    # Evidence for the same bytes against another live version does not count.
    second = gate("prod", "b", config=project.config)
    assert second.facts["against"] == first.facts["digest"]
    assert second.facts["gates"]["validate"]["passed"]
    (project.root / "deploy" / "service.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: b}\n")
    with pytest.raises(Refused, match="lint ran under other settings, files"):
        promote("b", "prod", config=project.config)
