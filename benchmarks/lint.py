"""How fast lint is: 1,000 manifests against bare YAML parsing and against checkov, one file, and growth to 20,000.

Every run is a process of its own on warm caches, so start-up counts. Ratios are of medians of interleaved runs.
checkov takes part when it is there: `python -m venv .cache/checkov && .cache/checkov/bin/pip install checkov==3.3.30`.

    python benchmarks/lint.py [--growth] [--no-checkov]
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus" / "lint" / "files"
CHECKOV = ROOT / ".cache" / "checkov" / "bin" / "checkov"
MANIFESTS = 1000
RUNS = 5

FLOOR = """
import sys, os, yaml
for base, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(base, name), "rb") as stream:
            loader = yaml.CSafeLoader(stream.read())
        try:
            while loader.check_node():
                loader.get_node()
        except yaml.YAMLError:
            pass
"""


class Run(NamedTuple):
    wall: float
    cpu: float
    peak: float  # MiB


def manifests(folder: Path, count: int) -> int:
    """Fill `folder` with `count` manifests: the corpus as often as needed, each time as a tree of its own."""
    base = CORPUS if CORPUS.is_dir() else ROOT / "tests" / "corpus" / "lint"
    sources = sorted(path for path in base.rglob("*.y*ml") if path.is_file())
    size = 0
    for number in range(count):
        source = sources[number % len(sources)]
        target = folder / f"copy{number // len(sources)}" / source.relative_to(base)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
        size += source.stat().st_size
    return size


def run(command: list[str], environment: dict[str, str]) -> Run:
    """One process: wall and CPU seconds, peak resident memory."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if process.returncode not in (0, 1):
        sys.exit(f"{command[0]} exited with {process.returncode}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def medians(commands: dict[str, list[str]], environment: dict[str, str], runs: int) -> dict[str, Run]:
    """Median runs of several commands, interleaved so that a busy machine is busy for all of them."""
    for command in commands.values():
        run(command, environment)
    taken: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            taken[name].append(run(command, environment))
    return {name: Run(*map(statistics.median, zip(*each, strict=True))) for name, each in taken.items()}


def show(name: str, value: Run, note: str = "") -> None:
    print(f"{name:34}{value.wall:8.2f} s wall{value.cpu:8.2f} s CPU{value.peak:8.0f} MiB  {note}".rstrip())


def main() -> int:
    with tempfile.TemporaryDirectory() as temporary:
        # As installed: compiled modules are kept, whatever the caller's environment says.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = f"{temporary}/pyc"
        tree = Path(temporary, "tree")
        size = manifests(tree, MANIFESTS)
        lint = [sys.executable, "-m", "interlock", "lint"]
        quiet = ["--output-format", "json"]
        single = Path(temporary, "one.yaml")
        shutil.copy(next((ROOT / "tests/corpus/lint/HU102/bad").glob("triton*.yaml")), single)
        many = {
            "floor: python, yaml, compose": [sys.executable, "-c", FLOOR, str(tree)],
            "interlock lint": [*lint, *quiet, str(tree)],
        }
        few = {"python -c pass": [sys.executable, "-c", "pass"], "interlock lint FILE": [*lint, str(single)]}
        print(f"{MANIFESTS} manifests, {size / 1e6:.2f} MB; medians of {RUNS} runs")
        taken = medians(many, environment, RUNS)
        floor, ours = taken.values()
        show("floor: python, yaml, compose", floor)
        show(
            "interlock lint",
            ours,
            f"{ours.cpu / floor.cpu:.1f}x the floor by CPU, {ours.wall / floor.wall:.1f}x by wall",
        )
        for name, value in medians(few, environment, 2 * RUNS).items():
            show(name, value)
        if "--no-checkov" not in sys.argv:
            checkov(tree, many["interlock lint"], environment)
        if "--growth" in sys.argv:
            growth(Path(temporary), lint + quiet, environment, ours)
    return 0


def checkov(tree: Path, command: list[str], environment: dict[str, str]) -> None:
    """checkov between two runs of ours, so that both saw the machine equally busy."""
    if not CHECKOV.exists():
        print("checkov is not there: see the top of this file")
        return
    before = run(command, environment)
    theirs = run([str(CHECKOV), "-d", str(tree), "--framework", "kubernetes", "--quiet", "--compact"], environment)
    after = run(command, environment)
    wall, cpu = (before.wall + after.wall) / 2, (before.cpu + after.cpu) / 2
    note = f"interlock is {theirs.wall / wall:.0f}x faster by wall, {theirs.cpu / cpu:.0f}x by CPU"
    show("checkov --framework kubernetes", theirs, note)


def growth(folder: Path, command: list[str], environment: dict[str, str], base: Run) -> None:
    """Cost per manifest at 20 times the number."""
    tree = folder / "large"
    manifests(tree, 20 * MANIFESTS)
    large = run([*command, str(tree)], environment)
    show(f"interlock lint, {20 * MANIFESTS} manifests", large, f"{large.cpu / base.cpu / 20:.2f}x the cost of each")


if __name__ == "__main__":
    sys.exit(main())
