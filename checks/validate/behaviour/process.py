"""Runs graphs in a process with limits: a model is code that came with a download, and native code at that.

The child says on a pipe what it is about to do, so that whoever stops it, or finds it dead, knows which graph it was.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....config.settings import Contract
from ....models.tree import ModelTree
from ....report.errors import BadInput
from .measured import Measured

# NEW is blamed for a time-out where it took this many times as long as the old graph did.
_SLOWER = 5


@dataclass(frozen=True, slots=True)
class Job:
    """What to run: a file of NEW, and the file of OLD that it replaces where there is one."""

    new: ModelTree
    new_file: str
    old: ModelTree | None
    old_file: str
    contract: Contract
    shapes: dict[str, list[int]]
    providers: tuple[str, ...]


def supervise(job: Job) -> Measured:
    """What running showed. A crash or a time-out is a result, too. Raises BadInput where no provider runs."""
    path = [each for each in sys.path if each]
    request = pickle.dumps({"path": path, "package": __package__, "job": pickle.dumps(job)})
    begin = time.monotonic()
    said, code = _child(request, max(1, job.contract.run_seconds))
    lines = list(_lines(said))
    for line in lines:
        if "measured" in line:
            return Measured.of(line["measured"])
        if "unavailable" in line:
            hint = "declare bench.providers in the order in which they may be used, such as [cuda, cpu]"
            raise BadInput("--run", str(line["unavailable"]), hint=hint)
    stages = [(str(line["who"]), str(line["does"]), float(line["at"]) - begin) for line in lines if "who" in line]
    result = Measured(job.new_file, next((str(line["provider"]) for line in lines if "provider" in line), "cpu"))
    wrong = next((str(line["error"]) for line in lines if "error" in line), "")
    if wrong:
        result.skipped = f"comparing failed: {wrong}"
        return result
    how = f"takes longer than {job.contract.run_seconds} seconds" if code is None else _death(code)
    return _ended(result, stages, time.monotonic() - begin, how)


def _child(request: bytes, seconds: int) -> tuple[bytes, int | None]:
    """What the process said and its exit code, None where it was stopped for its time."""
    command = [sys.executable, "-I", str(Path(__file__).with_name("child.py"))]
    try:
        done = subprocess.run(
            command, input=request, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as late:
        return late.stdout or b"", None
    return done.stdout, done.returncode


def _lines(said: bytes) -> Iterator[dict[str, Any]]:
    """Whole lines only: the last one may be cut."""
    for line in said.split(b"\n")[:-1]:
        yield json.loads(line)


def _death(code: int) -> str:
    """How a process ended that gave no result."""
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        memory = ": out of memory?" if -code == signal.SIGKILL else ""
        return f"crashes the runtime ({name}{memory})"
    return f"ends the runtime (exit {code})"


def _ended(result: Measured, stages: list[tuple[str, str, float]], end: float, how: str) -> Measured:
    """Whose fault it was. A slow machine is no fault: a time-out counts where the old graph was much faster."""
    if not stages:
        result.skipped = f"the process that runs the graphs {how}"
        return result
    who, does, _ = stages[-1]
    verb = "while it loads" if does == "loads" else "while it runs"
    spent = {"old": 0.0, "new": 0.0}
    for (owner, doing, at), after in zip(stages, [*(at for _, _, at in stages[1:]), end], strict=True):
        spent[owner] += after - at if doing == does else 0.0
    if who == "old":
        result.skipped = f"the old graph {how} {verb}"
    elif how.startswith("takes") and not 0 < spent["old"] * _SLOWER < spent["new"]:
        result.skipped = f"{how} {verb}"
    else:
        old = f", the old graph took {spent['old']:.1f}" if how.startswith("takes") else ""
        result.failed = f"{how} {verb}{old}"
    return result


def memory() -> int:
    """Bytes of memory of this machine; 0 where it does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 0
