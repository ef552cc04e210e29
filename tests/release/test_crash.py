"""SIGKILL before every single change that a verb makes to the file system: the old version stays whole and served,
and running the command again finishes the job."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from interlock.release.directory import Directory
from interlock.release.ocilayout import OciLayout
from interlock.release.run import history, promote, publish, pull, rollback, status
from interlock.release.store import load
from interlock.report.errors import BadInput

CRASH = Path(__file__).with_name("crash.py")


@pytest.fixture(scope="module")
def crash() -> Generator[Callable[..., tuple[int, int]]]:
    """`crash(n, folder, verb, ...)` kills the verb before its n-th change below the folder: (status, changes)."""
    process = subprocess.Popen([sys.executable, str(CRASH)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin and process.stdout
    write, read = process.stdin, process.stdout

    def run(number: int, folder: Path, verb: str, *args: Any, **options: Any) -> tuple[int, int]:
        write.write(json.dumps([number, str(folder), verb, {"args": args, **options}]) + "\n")
        write.flush()
        status, count = json.loads(read.readline())
        return status, count

    yield run
    write.close()
    process.wait(timeout=30)
    read.close()


@pytest.fixture
def base(tmp_path: Path) -> Generator[Path]:
    """A folder in memory where there is one: these tests kill processes, not power, and fsync is what takes long."""
    memory = Path("/dev/shm")
    if not (memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 1 << 26):
        yield tmp_path / "crash"
        return
    with tempfile.TemporaryDirectory(prefix="interlock-", dir=memory) as name:
        yield Path(name)


KILLED = (-signal.SIGKILL, 0)


def changes(crash: Any, folder: Path, verb: str, *args: Any, **options: Any) -> int:
    """How many changes a whole run makes; it must pass."""
    status, count = crash(0, folder, verb, *args, **options)
    assert status == 0 and count > 5
    return count


def whole(project: Any) -> tuple[str, str]:
    """Both anchors; fails unless each names a version that is there byte for byte, and the chains hold."""
    layout, served = OciLayout(project.layout), Directory(project.served)
    tag, digest = layout.tag("prod"), served.current()["digest"]
    served.check(load(layout, digest), verify=True)
    with layout.view(load(layout, tag)):
        pass
    history(config=project.config)
    return tag, digest


def clone(project: Any, target: Path) -> Any:
    shutil.copytree(project.root, target, symlinks=True)
    return type(project)(target, project.one, project.two)


@pytest.mark.slow
def test_promote_survives_sigkill_at_every_change(crash: Any, live: Any, base: Path, helpers: Any) -> None:
    probe = clone(live, base / "probe")
    total = changes(crash, probe.root, "promote", "2.0", "prod", config=probe.config)
    assert total > 30
    seen: set[tuple[str, str]] = set()
    for number in range(1, total + 1):
        project = clone(live, base / str(number))
        assert crash(number, project.root, "promote", "2.0", "prod", config=project.config) == KILLED
        tag, served = whole(project)
        seen.add((tag, served))
        assert {tag, served} <= {live.one, live.two}
        # Serving never runs ahead of a ledger that can explain it; a half moved pair is said to be unfinished.
        if tag != served:
            report = status("prod", config=project.config)
            assert report.exit_code == 1 and "unfinished" in helpers.said(report)
        problems = status("prod", config=project.config).facts["stages"]["prod"]["problems"]
        if any("unfinished" in problem for problem in problems) and number % 2:
            helpers.passed(rollback("prod", config=project.config))
            assert whole(project) == (live.one, live.one)
        else:
            helpers.passed(promote("2.0", "prod", config=project.config))
            assert whole(project) == (live.two, live.two)
            again = helpers.passed(promote("2.0", "prod", config=project.config))
            assert not again.facts["changed"]
        helpers.passed(status(config=project.config, verify=True))
        shutil.rmtree(project.root)
    assert seen == {(live.one, live.one), (live.two, live.one), (live.two, live.two)}


@pytest.mark.slow
def test_rollback_survives_sigkill_at_every_change(crash: Any, live: Any, base: Path, helpers: Any) -> None:
    helpers.passed(promote("2.0", "prod", config=live.config))
    probe = clone(live, base / "probe")
    total = changes(crash, probe.root, "rollback", "prod", config=probe.config)
    for number in range(1, total + 1):
        project = clone(live, base / str(number))
        assert crash(number, project.root, "rollback", "prod", config=project.config) == KILLED
        tag, served = whole(project)
        assert {tag, served} <= {live.one, live.two}
        stage = status("prod", config=project.config).facts["stages"]["prod"]
        if stage["good"] == live.two:
            helpers.passed(rollback("prod", config=project.config))
        assert whole(project) == (live.one, live.one)
        helpers.passed(status(config=project.config, verify=True))
        shutil.rmtree(project.root)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["oci-layout", "directory"])
def test_publish_survives_sigkill_at_every_change(
    crash: Any, project: Any, base: Path, helpers: Any, kind: str
) -> None:
    shutil.rmtree(project.root / "model" / "sub")
    (project.root / "model" / "empty.txt").unlink()
    first = clone(project, base / "first")
    place = f"{kind}:{first.root / 'place'}:1.0"
    total = changes(crash, first.root, "publish", str(first.root / "model"), place)
    digest = publish(str(first.root / "model"), place).facts["digest"]
    for number in range(1, total + 1):
        copy = clone(project, base / str(number))
        place = f"{kind}:{copy.root / 'place'}:1.0"
        assert crash(number, copy.root, "publish", str(copy.root / "model"), place) == KILLED
        # Whatever can be read by its name now is whole.
        try:
            pull(place, str(copy.root / "early"))
        except BadInput:
            assert not (copy.root / "early").exists()
        else:
            assert helpers.tree(copy.root / "early") == helpers.tree(copy.root / "model")
        assert helpers.passed(publish(str(copy.root / "model"), place)).facts["digest"] == digest
        helpers.passed(pull(place, str(copy.root / "out")))
        assert helpers.tree(copy.root / "out") == helpers.tree(copy.root / "model")
        shutil.rmtree(copy.root)


@pytest.mark.slow
def test_pull_survives_sigkill_at_every_change(crash: Any, published: Any, base: Path, helpers: Any) -> None:
    total = changes(crash, base, "pull", f"{published.place}:1.0", str(base / "probe"))
    for number in range(1, total + 1):
        target = base / f"out-{number}"
        assert crash(number, base, "pull", f"{published.place}:1.0", str(target)) == KILLED
        assert not target.exists()
        helpers.passed(pull(f"{published.place}:1.0", str(target)))
        assert helpers.tree(target) == helpers.tree(published.root / "model")


@pytest.mark.slow
def test_random_kills_while_versions_alternate(live: Any, helpers: Any) -> None:
    """Kills at random times under a reader that opens version.json anew each time, as servers do."""
    chance = random.Random(7)
    killed = 0
    for turn in range(12):
        version, stage_version = ("2.0", live.two) if turn % 2 == 0 else ("1.0", live.one)
        helpers.passed(promote(version, "staging", config=live.config, lift_hold=True))
        command = [sys.executable, "-m", "interlock", "promote", version, "--to", "prod", "--lift-hold"]
        process = subprocess.Popen(command, cwd=live.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + chance.uniform(0.1, 0.5)
        while time.monotonic() < deadline and process.poll() is None:
            pointer = json.loads((live.served / "version.json").read_bytes())
            config = json.loads((live.served / pointer["path"] / "config.json").read_bytes())
            assert config["seed"] == (1 if pointer["digest"] == live.one else 2)
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        whole(live)
        helpers.passed(promote(version, "prod", config=live.config, lift_hold=True))
        assert whole(live) == (stage_version, stage_version)
    assert killed
