"""Signing and verification against the bare hash and against the reference, paired in one run.

Every row runs our command line, the reference's and plain hashing in turn on the same warm files, several rounds, and
prints medians as ratios; with a small model the rows show start-up. Peak memory is of the whole process.

    python benchmarks/sign.py [--full]
"""

from __future__ import annotations

import argparse
import hashlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

MIB = 1 << 20


class Case(NamedTuple):
    """A model to measure on: so many files of so many bytes."""

    name: str
    files: int
    size: int


SMALL = (
    Case("tiny model", 3, 1000),
    Case("1 file of 256 MiB", 1, 256 * MIB),
    Case("4 files of 64 MiB", 4, 64 * MIB),
    Case("3,000 files of 100 kB", 3000, 100_000),
)
FULL = (
    Case("tiny model", 3, 1000),
    Case("1 file of 2 GiB", 1, 2048 * MIB),
    Case("4 files of 1 GiB", 4, 1024 * MIB),
    Case("5,000 files of 100 kB", 5000, 100_000),
)
# VmHWM is per program; the parent's memory does not count in it as it would in rusage.
PEAK = """
import re, sys
from interlock.cli.main import main
try:
    main(sys.argv[1:])
finally:
    status = open("/proc/self/status").read()
    print(int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) // 1024, file=sys.stderr)
"""


def make(case: Case, folder: Path) -> Path:
    """The case's model, of random bytes."""
    model = folder / "model"
    for i in range(case.files):
        path = model / f"{i // 100:03d}" / f"{i}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as stream:
            left = case.size
            while left:
                left -= stream.write(os.urandom(min(left, 16 * MIB)))
    return model


def bare(model: Path, algorithm: Callable[[], hashlib._Hash]) -> float:
    """Seconds to hash all files one after the other with hashlib, nothing else."""
    start = time.perf_counter()
    for path in sorted(model.rglob("*.bin")):
        with path.open("rb") as stream:
            hashlib.file_digest(stream, algorithm)
    return time.perf_counter() - start


def seconds(command: list[object]) -> float:
    """Seconds that a command takes; it must succeed."""
    start = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stdout}{done.stderr}")
    return time.perf_counter() - start


def reference() -> Path | None:
    """The reference's command, where its environment can be made."""
    from services.reference_signing import install

    def require(what: str, how: str) -> None:
        raise RuntimeError(f"{what}: {how}")

    try:
        return install(ROOT, require).with_name("model_signing")  # type: ignore[arg-type]
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        sys.stdout.write(f"no reference to compare with: {error}\n")
        return None


def measure(case: Case, rounds: int, theirs: Path | None) -> None:
    """One block of rows."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        model = make(case, folder)
        ours = [sys.executable, "-m", "interlock"]
        subprocess.run([*ours, "sign", "--generate-key", folder / "k"], check=True, capture_output=True)
        private, public = folder / "k.key", folder / "k.pub"
        mine, other = folder / "ours.sig", folder / "theirs.sig"
        rows: dict[str, list[object]] = {
            "sign": [*ours, "sign", model, "--key", private, "-s", mine],
            "verify": [*ours, "verify", model, "--key", public, "-s", mine],
            "verify, SHA-256 only": [*ours, "verify", model, "--key", public, "-s", mine, "--strict-sha256"],
        }
        if theirs:
            rows["reference sign"] = [theirs, "sign", "key", model, "--private_key", private, "--signature", other]
            rows["reference verify"] = [theirs, "verify", "key", model, "--public_key", public, "--signature", other]
        times: dict[str, list[float]] = {name: [] for name in [*rows, "hashlib sha256"]}
        for _ in range(rounds):
            for name, command in rows.items():
                times[name].append(seconds(command))
            times["hashlib sha256"].append(bare(model, hashlib.sha256))
        medians = {name: statistics.median(values) for name, values in times.items()}
        sys.stdout.write(
            f"\n{case.name}\n{'':24}{'seconds':>9}{'vs hashlib':>12}{'vs reference':>14}{'peak MiB':>10}\n"
        )
        for name, value in medians.items():
            peer = "" if name.startswith(("reference", "hashlib")) or not theirs else ratio(name, medians)
            floor = f"{value / medians['hashlib sha256']:.2f}x" if case.size > MIB else ""
            peak = peak_of(rows[name]) if name in rows and not name.startswith("reference") else ""
            sys.stdout.write(f"{name:24}{value:9.3f}{floor:>12}{peer:>14}{peak:>10}\n")


def ratio(name: str, medians: dict[str, float]) -> str:
    """How many times faster than the reference."""
    verb = "sign" if name == "sign" else "verify"
    return f"{medians[f'reference {verb}'] / medians[name]:.2f}x faster"


def peak_of(command: list[object]) -> str:
    """Peak memory of one of our commands, in MiB."""
    line = [sys.executable, "-c", PEAK, *(str(part) for part in command[3:])]
    return subprocess.run(line, capture_output=True, text=True, check=True).stderr.split()[-1]


def sparse(gigabytes: int) -> None:
    """Peak memory and seconds on one file that takes no disk."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "model").mkdir()
        with (folder / "model" / "weights.bin").open("wb") as stream:
            stream.truncate(gigabytes * 10**9)
        ours = [sys.executable, "-m", "interlock"]
        subprocess.run([*ours, "sign", "--generate-key", folder / "k"], check=True, capture_output=True)
        sys.stdout.write(f"\n{gigabytes} GB of holes\n")
        for verb, key in (("sign", "k.key"), ("verify", "k.pub")):
            start = time.perf_counter()
            peak = peak_of([*ours, verb, folder / "model", "--key", folder / key])
            sys.stdout.write(f"{verb:24}{time.perf_counter() - start:9.1f} s, peak {peak} MiB\n")


def main() -> None:
    """Run all cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="2 GiB, 4 GiB and 5,000 files instead of small ones")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sparse", type=int, metavar="GB", help="also sign and verify a file of holes this large")
    options = parser.parse_args()
    theirs = reference()
    sys.stdout.write(
        "targets: verify 1.8x (4 files), 3x (1 file), 2.8x (small files) faster; 72 MiB; start-up 0.15 s\n"
    )
    for case in FULL if options.full else SMALL:
        measure(case, options.rounds, theirs)
    if options.sparse:
        sparse(options.sparse)


if __name__ == "__main__":
    main()
