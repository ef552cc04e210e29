"""Start-up: `--help`, one-file lint and others against the floor of an empty interpreter, interleaved in one run."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 25
MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: model}
spec:
  selector: {matchLabels: {app: model}}
  template:
    metadata: {labels: {app: model}}
    spec:
      containers:
        - name: server
          image: vllm/vllm-openai:v0.9.0
          readinessProbe: {httpGet: {path: /health, port: 8000}}
"""
# name -> (arguments, target in ms on two cores)
CASES: dict[str, tuple[list[str], float | None]] = {
    "python -c pass": (["-c", "pass"], None),
    "interlock --help": (["-m", "interlock", "--help"], 120),
    "interlock --version": (["-m", "interlock", "--version"], 120),
    "interlock lint --help": (["-m", "interlock", "lint", "--help"], None),
    "interlock lint one file": (["-m", "interlock", "lint", "MANIFEST"], 150),
}


def once(arguments: list[str]) -> tuple[float, float]:
    """Wall and CPU milliseconds of one interpreter; the CPU time is less at the mercy of busy neighbours."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return (time.perf_counter() - start) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def main() -> int:
    """Print medians, their ratio to the floor, and whether the targets hold."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users run what an installer compiled
    with tempfile.TemporaryDirectory() as folder:
        manifest = Path(folder) / "deployment.yaml"
        manifest.write_text(MANIFEST)
        cases = {
            name: [str(manifest) if word == "MANIFEST" else word for word in words]
            for name, (words, _) in CASES.items()
        }
        for words in cases.values():
            once(words)  # byte code and page cache
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
        for _ in range(ROUNDS):
            for name, words in cases.items():
                times[name].append(once(words))
    medians = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in times.items()}
    floor, cpu_floor = medians["python -c pass"]
    print(f"{'':28}    wall ms   x floor     cpu ms   x floor   target")
    missed = False
    for name, (wall, cpu) in medians.items():
        target = CASES[name][1]
        missed |= target is not None and wall > target
        aim = "" if target is None else f"{target:.0f} ms {'ok' if wall <= target else 'MISSED'}"
        print(f"{name:28} {wall:10.1f} {wall / floor:9.2f} {cpu:10.1f} {cpu / cpu_floor:9.2f}   {aim}".rstrip())
    if missed:
        print("a target was missed: on a busy machine compare the ratios, not the milliseconds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
