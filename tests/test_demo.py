"""`make demo` does what it says, leaves nothing outside its folder, and the README's transcript is what it prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.alone]


def normalised(line: str) -> str:
    """A line without what differs from run to run: digests, numbers, column widths."""
    line = re.sub(r"sha256:[0-9a-f]+", "sha256:X", line.strip())
    line = re.sub(r"directory:\S+", "directory:X", line)
    return re.sub(r"[-+]?\d+(\.\d+)?", "N", re.sub(r"\s+", " ", line))


@pytest.fixture(scope="module")
def transcript(root: Path) -> list[str]:
    """What the demo prints."""
    before = untracked(root)
    environment = {**os.environ, "NO_COLOR": "1"}
    line = [sys.executable, str(root / "examples" / "demo.py")]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment, cwd=root)
    if "pip could not download" in done.stderr and not os.environ.get("INTERLOCK_REQUIRE_SERVICES"):
        pytest.skip(f"the demo's models cannot be downloaded: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert untracked(root) == before
    return done.stdout.splitlines()


def untracked(root: Path) -> str:
    """What git sees as new or changed."""
    return subprocess.run(["git", "status", "--short"], cwd=root, capture_output=True, text=True, check=True).stdout


def readme_lines(root: Path) -> list[str]:
    """The lines of the README's transcripts, make's own left out."""
    blocks = re.findall(r"```console\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip() and "$ make" not in line]


def test_demo_shows_every_line_of_the_readme(root: Path, transcript: list[str]) -> None:
    printed = [normalised(line) for line in transcript]
    missing: list[str] = []
    for line in readme_lines(root):
        if line.endswith("…"):
            found = any(each.startswith(normalised(line[:22])) for each in printed)
        else:
            found = any(each.startswith(normalised(line)) for each in printed)
        if not found:
            missing.append(line)
    assert not missing


def test_demo_refuses_what_it_promises_to_refuse(transcript: list[str]) -> None:
    refused = [line for line in transcript if line.startswith("Refused:")]
    assert len(refused) == 5
    exits = [transcript[i:] for i, line in enumerate(transcript) if line.startswith("Refused:")]
    assert all(next(line for line in rest if line.startswith("exit ")) == "exit 1" for rest in exits)
