"""Two at once: exactly one promotion wins a stage, and publishers do not lose each other's work."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from interlock.release.ocilayout import OciLayout
from interlock.release.run import history, promote, publish, pull, rollback, status
from interlock.report.errors import InterlockError

CRASH = Path(__file__).with_name("crash.py")


def stopped(number: int, project: Any, verb: str, *args: str) -> subprocess.Popen[str]:
    """A verb that stands still in the middle, as one on a slow disk does."""
    arguments = json.dumps({"args": args, "config": project.config})
    command = [sys.executable, str(CRASH), str(number), str(project.root), verb, arguments, "SIGSTOP"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _, state = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(state), process.communicate()
    return process


@pytest.mark.parametrize("number", [10, 30, 45])
def test_the_second_promotion_is_told_who_is_at_work(live: Any, helpers: Any, number: int) -> None:
    process = stopped(number, live, "promote", "2.0", "prod")
    try:
        before = helpers.tree(live.served)
        for act in (lambda: promote("1.0", "prod", config=live.config), lambda: rollback("prod", config=live.config)):
            with pytest.raises(InterlockError) as caught:
                act()
            assert caught.value.code == "REL-BUSY" and caught.value.exit_code == 2
            assert f"process {process.pid}" in caught.value.reason and "promote sha256:" in caught.value.reason
            assert "wait until it is done" in caught.value.hint
        assert helpers.tree(live.served) == before
        report = status("prod", config=live.config)
        assert report.exit_code == 1 and "under way" in helpers.said(report)
        if number == 10:  # Another stage is not in its way; only for the moment that a tag moves it would wait.
            helpers.passed(promote("1.0", "staging", config=live.config))
    finally:
        process.send_signal(signal.SIGCONT)
    process.communicate(timeout=60)
    helpers.passed(status(config=live.config, verify=True))
    assert live.pointer()["digest"] == live.two


def test_a_killed_holder_leaves_no_lock_but_an_open_request(live: Any, helpers: Any) -> None:
    process = stopped(30, live, "promote", "2.0", "prod")
    process.kill()
    process.wait()
    with pytest.raises(InterlockError, match="has been unfinished since") as caught:
        promote("1.0", "prod", config=live.config)
    assert caught.value.code == "REL-OPEN"
    assert f"interlock promote {live.two} --to prod" in caught.value.hint and "rollback --in prod" in caught.value.hint
    helpers.passed(rollback("prod", config=live.config))
    helpers.passed(promote("1.0", "prod", config=live.config))


def test_many_promotions_at_once_leave_one_winner_each_time(live: Any, helpers: Any) -> None:
    digests = {"1.0": live.one, "2.0": live.two}
    for number in range(3, 6):
        helpers.make_model(live.root / f"m{number}", number, size=1 << 20)
        digests[f"{number}.0"] = publish(str(live.root / f"m{number}"), f"{live.place}:{number}.0").facts["digest"]
    live.judge("3.0", "4.0", "5.0")
    for version in digests:
        helpers.passed(promote(version, "staging", config=live.config))
    versions = ["2.0", "3.0", "4.0", "5.0"]
    command = [sys.executable, "-m", "interlock", "promote", "--to", "prod"]
    processes = {
        version: subprocess.Popen([*command, version], cwd=live.root, stderr=subprocess.PIPE, text=True)
        for version in versions
    }
    results = {
        version: (process.communicate(timeout=120)[1], process.returncode) for version, process in processes.items()
    }
    winners = [version for version, (_, code) in results.items() if code == 0]
    assert winners
    for stderr, code in results.values():
        assert code == 0 or (code == 2 and ("busy" in stderr or "unfinished" in stderr)), stderr
        assert "Traceback" not in stderr
    report = helpers.passed(status(config=live.config, verify=True))
    done = [e for e in history("prod", config=live.config).facts["stages"]["prod"] if e["op"] == "done"]
    assert len(done) == 1 + len(winners)
    assert {e["to"]["registry"] for e in done[1:]} == {digests[version] for version in winners}
    assert report.facts["stages"]["prod"]["tag"] == live.pointer()["digest"] == done[-1]["to"]["registry"]


def test_gates_at_once_do_not_disturb_each_other(project: Any) -> None:
    """They read the same blobs through the same links: nobody sees a file change while it is hashed."""
    from interlock.signing.keys import generate
    from interlock.signing.run import sign

    generate(str(project.root / "release"))
    (project.root / "model" / "weights.bin").write_bytes(os.urandom(32 << 20))
    sign(project.root / "model", key=project.root / "release.key")
    publish(str(project.root / "model"), f"{project.place}:1.0")
    project.write("\n  staging: {gates: [verify]}\n", "trust: {keys: [release.pub]}")
    command = [sys.executable, "-m", "interlock", "gate", "--stage", "staging", "1.0"]
    processes = [
        subprocess.Popen(command, cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(4)
    ]
    for process in processes:
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0, output


def test_publishers_at_once_lose_nothing(project: Any, helpers: Any) -> None:
    processes: list[subprocess.Popen[str]] = []
    for number in range(6):
        helpers.make_model(project.root / f"m{number}", number)
        command = [sys.executable, "-m", "interlock", "publish", f"m{number}", f"oci-layout:registry:{number}.0"]
        processes.append(subprocess.Popen(command, cwd=project.root, stderr=subprocess.PIPE, text=True))
    for process in processes:
        _, stderr = process.communicate(timeout=120)
        assert process.returncode == 0, stderr
    assert OciLayout(project.layout).tags() == [f"{number}.0" for number in range(6)]
    for number in range(6):
        helpers.passed(pull(f"{project.place}:{number}.0", str(project.root / f"out{number}")))
        assert helpers.tree(project.root / f"out{number}") == helpers.tree(project.root / f"m{number}")


def test_a_file_that_changes_while_it_is_published_is_refused(project: Any) -> None:
    target = project.root / "model" / "weights.bin"
    target.write_bytes(b"\0" * (128 << 20))
    command = [sys.executable, "-m", "interlock", "publish", "model", "oci-layout:registry:1.0"]
    process = subprocess.Popen(command, cwd=project.root, stderr=subprocess.PIPE, text=True)
    while process.poll() is None:
        with target.open("r+b") as stream:
            stream.write(b"x")
        time.sleep(0.01)
    _, stderr = process.communicate()
    assert process.returncode == 2 and "weights.bin: changed while it was read" in stderr
    assert OciLayout(project.layout).tags() == []
