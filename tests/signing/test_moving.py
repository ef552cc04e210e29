"""Models that change while they are read, and bundles that cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from interlock.report.errors import BadInput, Refused
from interlock.signing import atomic
from interlock.signing.run import sign, verify

BIG = 40 << 20


@pytest.fixture
def large(model: Path) -> Path:
    """A model with one file large enough to be read ahead, and small ones."""
    with (model / "big.bin").open("wb") as stream:
        stream.truncate(BIG)
    return model


def once(action: Callable[[], Any]) -> Callable[[int, int], None]:
    """A progress callback that acts at the first bytes read."""
    done: list[int] = []

    def progress(_count: int, _total: int) -> None:
        if not done:
            done.append(1)
            action()

    return progress


def _flip(path: Path, position: int) -> None:
    with path.open("r+b") as stream:
        stream.seek(position)
        stream.write(b"\x01")


ACTIONS: dict[str, Callable[[Path], None]] = {
    "byte already hashed": lambda m: _flip(m / "big.bin", 0),
    "byte not hashed yet": lambda m: _flip(m / "big.bin", BIG - 1),
    "grown": lambda m: os.truncate(m / "big.bin", BIG + 1),
    "truncated": lambda m: os.truncate(m / "big.bin", 10),
    "replaced by an equal file": lambda m: (m / "copy").write_bytes(b"dash") and (m / "copy").replace(m / "a-b.bin"),
    "file added": lambda m: (m / "late.py").touch(),
    "link added": lambda m: (m / "late").symlink_to("config.json"),
    "file removed": lambda m: (m / "empty.txt").unlink(),
    "folder swapped for a link": lambda m: (
        (m / "a").rename(m.parent / "moved") and (m / "a").symlink_to(m.parent / "moved")
    ),
}


@pytest.mark.parametrize("what", ACTIONS)
def test_change_while_signing(what: str, pair: Any, large: Path) -> None:
    with pytest.raises(Refused) as caught:
        sign(large, key=pair.private, progress=once(lambda: ACTIONS[what](large)))
    assert caught.value.code == "VER-CHANGED-WHILE-READING"
    assert not (large / "model.sig").exists()


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("what", ACTIONS)
def test_change_while_verifying(what: str, strict: bool, pair: Any, large: Path) -> None:
    sign(large, key=pair.private)
    progress = once(lambda: ACTIONS[what](large))
    report = verify(large, key=pair.public, strict_sha256=strict, progress=progress)
    assert report.exit_code == 1
    assert "VER-CHANGED-WHILE-READING" in [finding.rule for finding in report.findings]


def test_change_within_the_tick_of_creation(pair: Any, model: Path) -> None:
    """A file written just now and again while it is read, within one clock tick, still shows that it changed."""
    sign(model, key=pair.private)
    for _ in range(20):
        (model / "config.json").write_text("{}")
        report = verify(model, key=pair.public, progress=once(lambda: (model / "config.json").write_text("[]")))
        assert report.exit_code == 1


def test_disk_full(pair: Any, model: Path) -> None:
    """A bundle that does not fit leaves the old one whole and no draft; the size limit stands in for a full disk."""
    sign(model, key=pair.private)
    before = (model / "model.sig").read_bytes()
    script = """
        import resource, signal, sys
        from interlock.cli.main import main
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        main(["sign", sys.argv[1], "--key", sys.argv[2]])
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(model), str(pair.private)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "cannot be written: file too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert (model / "model.sig").read_bytes() == before
    assert sorted(p.name for p in model.iterdir() if p.name.startswith(".")) == []


def test_output_that_cannot_be_written(pair: Any, model: Path, tmp_path: Path) -> None:
    for target in (tmp_path / "no" / "such.sig", tmp_path):
        with pytest.raises(BadInput, match="cannot be written"):
            sign(model, key=pair.private, output=target)
    with pytest.raises(BadInput):
        atomic.write(pair.public, b"", replace=False)


PEAK = """
import re, sys
from interlock.cli.main import main
try:
    main(sys.argv[1:])
finally:
    status = open("/proc/self/status").read()
    print(int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) // 1024, file=sys.stderr)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_memory_stays_constant(pair: Any, tmp_path: Path) -> None:
    """Signing and verifying 1.5 GB that take no disk: the peak is that of a small model plus a few buffers."""
    model = tmp_path / "sparse"
    model.mkdir()
    with (model / "weights.bin").open("wb") as stream:
        stream.truncate(1_500_000_000)
    (model / "config.json").write_text("{}")
    for command in (["sign", model, "--key", pair.private], ["verify", model, "--key", pair.public]):
        line = [sys.executable, "-c", PEAK, *map(str, command)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert int(done.stderr.split()[-1]) <= 72
