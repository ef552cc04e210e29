"""promote, rollback and status: the pair moves together, drift is named, the order of stages holds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import Any

import pytest
from interlock.release.directory import Directory
from interlock.release.ledger import Ledger, Pair
from interlock.release.ocilayout import OciLayout
from interlock.release.run import gate, history, promote, publish, rollback, status
from interlock.report.errors import BadInput, InterlockError, NothingToCheck, Refused


def anchors(project: Any) -> tuple[str, str]:
    return OciLayout(project.layout).tag("prod"), project.pointer().get("digest", "")


def test_both_anchors_move_and_move_back(live: Any, helpers: Any) -> None:
    assert anchors(live) == (live.one, live.one)
    pointer = live.pointer()
    assert pointer["path"] == f"versions/{live.one[7:]}" and pointer["stage"] == "prod"
    assert helpers.tree(live.served / pointer["path"]) == helpers.tree(live.root / "model")
    report = helpers.passed(promote("2.0", "prod", config=live.config, reason="release 2"))
    assert report.facts["digest"] == live.two and report.facts["from"] == live.one and report.facts["changed"]
    assert anchors(live) == (live.two, live.two)
    assert helpers.tree(live.served / "versions" / live.two[7:]) == helpers.tree(live.root / "next")
    helpers.passed(status(config=live.config, verify=True))
    report = helpers.passed(rollback("prod", config=live.config, reason="p99 doubled"))
    assert report.facts["digest"] == live.one and anchors(live) == (live.one, live.one)
    helpers.passed(status(config=live.config))
    assert not helpers.drafts(live.root)
    # The old folder was never touched, so a server that had it open noticed nothing.
    assert helpers.tree(live.served / pointer["path"]) == helpers.tree(live.root / "model")


def test_what_was_rolled_back_is_held(live: Any, helpers: Any) -> None:
    promote("2.0", "prod", config=live.config)
    rollback("prod", config=live.config, reason="p99 doubled")
    with pytest.raises(Refused, match="rolled back from prod: p99 doubled") as caught:
        promote("2.0", "prod", config=live.config)
    assert "--lift-hold" in caught.value.hint and anchors(live) == (live.one, live.one)
    helpers.passed(promote("2.0", "prod", config=live.config, lift_hold=True))
    assert anchors(live) == (live.two, live.two)


def test_a_second_rollback_goes_further_back(live: Any, helpers: Any) -> None:
    helpers.make_model(live.root / "third", 3)
    three = publish(str(live.root / "third"), f"{live.place}:3.0").facts["digest"]
    live.judge("3.0")
    for version in ("2.0", "3.0"):
        helpers.passed(promote(version, "staging", config=live.config))
        helpers.passed(promote(version, "prod", config=live.config))
    assert anchors(live) == (three, three)
    assert rollback("prod", config=live.config).facts["digest"] == live.two
    assert rollback("prod", config=live.config).facts["digest"] == live.one
    with pytest.raises(Refused, match="no good version before"):
        rollback("prod", config=live.config)


def test_rollback_to_a_chosen_version(live: Any, helpers: Any) -> None:
    helpers.make_model(live.root / "third", 3)
    publish(str(live.root / "third"), f"{live.place}:3.0")
    live.judge("3.0")
    for version in ("2.0", "3.0"):
        promote(version, "staging", config=live.config)
        promote(version, "prod", config=live.config)
    with pytest.raises(Refused, match="no earlier good version"):
        rollback("prod", to="3.0", config=live.config)
    assert rollback("prod", to="1.0", config=live.config).facts["digest"] == live.one
    assert anchors(live) == (live.one, live.one)


def test_stages_have_an_order(published: Any) -> None:
    with pytest.raises(Refused, match="has not been in staging") as caught:
        promote("1.0", "prod", config=published.config)
    assert "--to staging" in caught.value.hint
    assert anchors(published) == ("", "")
    assert not (published.layout / ".interlock" / "ledger").exists()


def test_promoting_again_changes_nothing(live: Any, helpers: Any) -> None:
    before = helpers.tree(live.layout)
    report = helpers.passed(promote("1.0", "prod", config=live.config))
    assert not report.facts["changed"] and helpers.tree(live.layout) == before


def test_the_same_request_never_moves_twice(live: Any, helpers: Any) -> None:
    first = helpers.passed(promote("2.0", "prod", request_id="release-7", config=live.config))
    assert first.facts["changed"] and first.facts["request"] == "release-7"
    rollback("prod", config=live.config)
    again = helpers.passed(promote("2.0", "prod", request_id="release-7", config=live.config))
    assert not again.facts["changed"] and anchors(live) == (live.one, live.one)
    with pytest.raises(BadInput, match="'release-7' of stage prod was to promote"):
        promote("1.0", "prod", request_id="release-7", config=live.config)


def test_references_of_every_kind(live: Any, helpers: Any, tmp_path: Any) -> None:
    for text in (live.two, f"{live.place}:2.0", str(live.root / "next"), f"{live.place}@{live.two}"):
        helpers.passed(promote(text, "prod", config=live.config))
        assert anchors(live) == (live.two, live.two)
        rollback("prod", config=live.config)
        promote(live.two, "prod", config=live.config, lift_hold=True)
    (live.root / "next" / "changed").write_text("x")
    with pytest.raises(BadInput, match="is not in the registry") as caught:
        promote(str(live.root / "next"), "prod", config=live.config)
    assert "interlock publish" in caught.value.hint


def test_status_names_the_side_that_moved(live: Any, helpers: Any) -> None:
    promote("2.0", "prod", config=live.config)
    OciLayout(live.layout).point("prod", live.one)
    report = status(config=live.config)
    assert report.exit_code == 1 and "the tag moved behind the ledger" in helpers.said(report)
    assert "serving side" not in helpers.said(report)
    assert report.facts["stages"]["prod"] == report.facts["stages"]["prod"] | {"state": "drift", "tag": live.one}
    assert report.facts["stages"]["staging"]["state"] == "ok"
    OciLayout(live.layout).point("prod", live.two)
    Directory(live.served).serve(live.one)
    report = status("prod", config=live.config)
    assert report.exit_code == 1 and "the serving side moved behind the ledger" in helpers.said(report)
    assert "the tag moved" not in helpers.said(report) and f"interlock promote {live.two}" in helpers.said(report)


def test_promoting_the_last_good_version_repairs_drift_without_gates(live: Any, helpers: Any) -> None:
    stages = """
  staging: {}
  prod: {from: staging, gates: [verify], serving: {directory: served}}
"""
    live.write(stages, "trust: {keys: [absent.pub]}")
    (live.served / "version.json").unlink()
    OciLayout(live.layout).point("prod", live.two)
    assert status("prod", config=live.config).exit_code == 1
    helpers.passed(promote(live.one, "prod", config=live.config))
    helpers.passed(status("prod", config=live.config))
    assert anchors(live) == (live.one, live.one)


@pytest.mark.parametrize("damage", ["flip", "remove", "extra", "folder"])
def test_status_finds_damage_behind_the_pointer_and_promote_repairs_it(live: Any, helpers: Any, damage: str) -> None:
    folder = live.served / "versions" / live.one[7:]
    target = folder / "weights.bin"
    if damage == "flip":
        data = target.read_bytes()
        target.chmod(0o644)
        target.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    elif damage == "remove":
        target.unlink()
    elif damage == "extra":
        (folder / "evil.py").write_text("import os")
    else:
        shutil.rmtree(folder)
    report = status("prod", verify=True, config=live.config)
    assert report.exit_code == 1 and "damaged" in helpers.said(report)
    assert (status("prod", config=live.config).exit_code == 0) is (damage == "flip")
    helpers.passed(promote("2.0", "prod", config=live.config))
    helpers.passed(rollback("prod", config=live.config))
    helpers.passed(status("prod", verify=True, config=live.config))
    assert not helpers.drafts(live.served)


def test_a_corrupt_version_is_not_promoted(live: Any, helpers: Any) -> None:
    manifest = json.loads((live.layout / "blobs" / "sha256" / live.two[7:]).read_bytes())
    layer = next(x for x in manifest["layers"] if x["annotations"]["org.cncf.model.filepath"] == "weights.bin")
    path = live.layout / "blobs" / "sha256" / layer["digest"][7:]
    path.chmod(0o644)
    path.write_bytes(b"\0" * layer["size"])
    with pytest.raises(BadInput, match="corrupt blob"):
        promote("2.0", "prod", config=live.config)
    assert anchors(live) == (live.one, live.one) and not helpers.drafts(live.served)
    helpers.passed(status("prod", verify=True, config=live.config))
    last = history("prod", config=live.config).facts["stages"]["prod"][-1]
    assert last["op"] == "abort" and "corrupt blob" in last["reason"]
    # A stage that serves nowhere verifies what its tag would name, too.
    OciLayout(live.layout).point("staging", live.one)
    with pytest.raises(BadInput, match="corrupt blob"):
        promote("2.0", "staging", config=live.config)


def test_a_pointer_that_cannot_move_takes_the_tag_back(live: Any, helpers: Any, unprivileged: list[str]) -> None:
    """The tag moves first; then version.json cannot be replaced, because the folder belongs to someone else."""
    if not unprivileged:
        pytest.skip("needs root to give a folder to someone else")
    subprocess.run(["chown", "65534:65534", str(live.served)], check=True)
    command = [*unprivileged, sys.executable, "-m", "interlock", "promote", "2.0", "--to", "prod"]
    done = subprocess.run(command, cwd=live.root, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "cannot move the pointer: permission denied" in done.stderr, done.stderr
    assert anchors(live) == (live.one, live.one)
    helpers.passed(status("prod", config=live.config))
    last = history("prod", config=live.config).facts["stages"]["prod"][-2:]
    assert [event["op"] for event in last] == ["loaded", "abort"] and "permission denied" in last[1]["reason"]
    helpers.passed(promote("2.0", "prod", config=live.config))
    assert anchors(live) == (live.two, live.two)


def test_who_loses_a_race_moves_nothing(live: Any, helpers: Any) -> None:
    """Where a lock does not hold (some network file systems), the ledger is what tells two writers apart."""
    from interlock.release.movement import Movement, pair_of

    desk = live.desk()
    movements = [
        Movement.start(desk, desk.position(), "promote", request="mine", target=pair_of(desk, live.two), reason="")
    ]
    movements.append(Movement(desk, [movements[0].begin]))
    movements[0].run()
    with pytest.raises(InterlockError, match="another writer was first"):
        movements[1].run()
    assert anchors(live) == (live.two, live.two)
    helpers.passed(status(config=live.config, verify=True))


def test_stage_tags_move_by_promote_only(live: Any, tmp_path: Any) -> None:
    with pytest.raises(BadInput, match="belongs to a stage"):
        publish(str(live.root / "next"), f"{live.place}:prod", config=live.config)
    with pytest.raises(BadInput, match="belongs to a stage"):
        publish(str(live.root / "next"), f"{live.place}:3.0", tags=["staging"])
    with pytest.raises(BadInput, match="stage prod serves from this directory"):
        publish(str(live.root / "next"), f"directory:{live.served}")
    assert anchors(live) == (live.one, live.one)
    publish(str(live.root / "next"), f"oci-layout:{tmp_path / 'other'}:prod", config=live.config)


def test_a_stage_that_left_the_settings_keeps_its_tag(published: Any) -> None:
    """Its ledger tells, wherever that is."""
    Ledger(published.root / "audit", "prod").append(
        None, request="r", kind="promote", op="begin", source=None, target=Pair(published.one)
    )
    published.write(" {}", extra="ledger: audit")
    with pytest.raises(BadInput, match="belongs to a stage"):
        publish(str(published.root / "next"), f"{published.place}:prod", config=published.config)
    assert OciLayout(published.layout).tags() == ["1.0", "2.0"]


def test_two_stages_cannot_serve_from_one_directory(live: Any) -> None:
    live.write("""
  staging: {gates: [lint]}
  prod: {from: staging, gates: [lint], serving: {directory: served}}
  canary: {gates: [lint], serving: {directory: served}}
""")
    with pytest.raises(BadInput, match="stage prod serves from this directory, not canary"):
        promote("2.0", "canary", config=live.config)
    assert anchors(live) == (live.one, live.one)


@pytest.mark.parametrize(
    ("stages", "reason"),
    [
        ("\n  prod: {serving: {kubernetes: deploy/}}", "does not move Kubernetes workloads"),
        ("\n  prod: {serving: {directory: a, triton: b}}", "one serving side"),
        ("\n  prod: {serving: {s3: b}}", "one serving side"),
        ("\n  production: {}", "no stage 'prod'"),
    ],
)
def test_settings_that_cannot_be_served(published: Any, stages: str, reason: str) -> None:
    published.write(stages)
    with pytest.raises(BadInput, match=reason) as caught:
        promote("1.0", "prod", config=published.config)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("stages", "reason", "hint"),
    [
        ("{prod: {from: stagging}, staging: {}}", "stages.prod.from: no stage 'stagging'", "did you mean 'staging'"),
        ("{prod: {from: elsewhere}}", "stages.prod.from: no stage 'elsewhere'", "stages: prod"),
        ("{prod: {from: prod}}", "wait for each other: prod <- prod", "drop from"),
        ("{a: {from: prod}, prod: {from: b}, b: {from: prod}}", "each other: prod <- b <- prod", "drop from"),
    ],
)
def test_an_order_that_no_version_can_follow(published: Any, stages: str, reason: str, hint: str) -> None:
    published.write(f" {stages}")
    config = published.config
    for act in (
        lambda: publish(str(published.root / "model"), f"{published.place}:3.0", config=config),
        lambda: gate("prod", "1.0", config=config),
        lambda: promote("1.0", "prod", config=config),
        lambda: rollback("prod", config=config),
        lambda: status(config=config),
        lambda: history(config=config),
    ):
        with pytest.raises(BadInput, match=reason) as caught:
            act()
        assert caught.value.exit_code == 2 and hint in caught.value.hint and caught.value.line is None


def test_a_serving_side_that_is_declared_later(judged: Any, helpers: Any) -> None:
    """Versions that were promoted before there was a serving side are rolled back to with it."""
    judged.write("\n  prod: {gates: [lint]}\n")
    for version in ("1.0", "2.0"):
        helpers.passed(promote(version, "prod", config=judged.config))
    judged.write("\n  prod: {gates: [lint], serving: {directory: served}}\n")
    report = status(config=judged.config)
    assert report.exit_code == 1 and "it serves none" in helpers.said(report)
    helpers.passed(promote("2.0", "prod", config=judged.config))
    assert anchors(judged) == (judged.two, judged.two)
    helpers.passed(rollback("prod", config=judged.config))
    assert anchors(judged) == (judged.one, judged.one)
    helpers.passed(status(config=judged.config))


def test_no_registry_and_no_stages(published: Any) -> None:
    published.write(registry='""')
    with pytest.raises(BadInput, match="no registry is set"):
        promote("1.0", "prod", config=published.config)
    published.write(" {}")
    with pytest.raises(NothingToCheck):
        status(config=published.config)


def test_rollback_of_nothing(published: Any) -> None:
    with pytest.raises(Refused, match="nothing was ever promoted"):
        rollback("prod", config=published.config)


def test_a_ledger_of_its_own_place(judged: Any, helpers: Any) -> None:
    judged.write(extra="ledger: audit")
    helpers.passed(promote("1.0", "staging", config=judged.config))
    assert (judged.root / "audit" / "ledger" / "staging").is_dir()
    assert not (judged.layout / ".interlock" / "ledger").exists()
    helpers.passed(status(config=judged.config))


def test_a_directory_as_registry(project: Any, helpers: Any) -> None:
    project.write(registry="directory:versions")
    place = f"directory:{project.root / 'versions'}"
    one = publish(str(project.root / "model"), f"{place}:1.0", config=project.config).facts["digest"]
    two = publish(str(project.root / "next"), f"{place}:2.0", config=project.config).facts["digest"]
    project.judge("1.0", "2.0")
    for version, stage in (("1.0", "staging"), ("1.0", "prod"), ("2.0", "staging"), ("2.0", "prod")):
        helpers.passed(promote(version, stage, config=project.config))
    assert project.pointer()["digest"] == two
    helpers.passed(rollback("prod", config=project.config))
    assert project.pointer()["digest"] == one
    helpers.passed(status(config=project.config, verify=True))


def test_a_directory_that_is_registry_and_serving_side_at_once(project: Any, helpers: Any) -> None:
    project.write("\n  prod: {gates: [lint], serving: {directory: served}}\n", registry="directory:served")
    place = f"directory:{project.served}"
    one = publish(str(project.root / "model"), f"{place}:1.0", config=project.config).facts["digest"]
    project.judge("1.0", stage="prod")
    helpers.passed(promote("1.0", "prod", config=project.config))
    report = helpers.passed(publish(str(project.root / "next"), f"{place}:2.0", config=project.config))
    assert "stage prod keeps its pointer" in report.headline and project.pointer()["digest"] == one
    project.judge("2.0", stage="prod")
    helpers.passed(promote("2.0", "prod", config=project.config))
    helpers.passed(rollback("prod", config=project.config))
    helpers.passed(status(config=project.config, verify=True))


def test_the_command_line(judged: Any) -> None:
    judged.cli("promote", "1.0", "--to", "staging")
    done = judged.cli("promote", "1.0", "--to", "prod", "-f", "json")
    assert done.returncode == 0 and json.loads(done.stdout)["facts"]["digest"] == judged.one
    done = judged.cli("status")
    assert done.returncode == 0 and "ok" in done.stdout and judged.one[:19] in done.stdout
    done = judged.cli("history", "--stage", "prod", "-n", "1")
    assert done.returncode == 0 and "promote" in done.stdout
    done = judged.cli("rollback", "--in", "prod")
    assert done.returncode == 1 and "no good version before" in done.stderr
    done = judged.cli("promote", "9.9", "--to", "prod")
    assert done.returncode == 2 and "no such tag" in done.stderr
    done = judged.cli("promote", "1.0", "--to", "prd")
    assert done.returncode == 2 and "did you mean 'prod'" in done.stderr
