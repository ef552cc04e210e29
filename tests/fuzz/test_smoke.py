"""A little of the fuzzer in every run, always on the same inputs: `tests/fuzz/run.py` goes on from here."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from fuzz.commands import TARGETS
from fuzz.engine import Result, fuzz

# Beyond the seeds; the verbs take longer for each.
INPUTS, OF_VERBS = 150, 30


@pytest.mark.parametrize("name", TARGETS)
def test_readers_read_or_refuse(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    seeds = len(target.seeds(tmp_path))
    most = seeds + (OF_VERBS if name.startswith(("lint-", "validate")) else INPUTS)

    def go_on(result: Result) -> bool:
        return result.executions < most

    folder = tmp_path / "m"
    folder.mkdir()
    result = fuzz(target, Random(name), folder, go_on, guided=False)
    assert result.executions >= most
    assert not result.findings, "\n".join(f"{each.data[:300]!r}\n{each.text}" for each in result.findings.values())
