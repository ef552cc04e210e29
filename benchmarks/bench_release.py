"""publish and pull against floors of the same run: sha256 alone, and copying with fsync while hashing.

    python benchmarks/bench_release.py [MIB]

Figures are medians; a ratio of 1.00 is the floor. Publishing again and promoting are shown as times: both must not
depend on how much was published before.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from interlock.release.run import promote, publish, pull

ROUNDS = 3


def hash_only(source: Path) -> None:
    """The floor of every check: SHA-256 of each file, one core."""
    for path in sorted(source.iterdir()):
        with path.open("rb", buffering=0) as stream:
            hashlib.file_digest(stream, "sha256")


def copy_and_hash(source: Path, target: Path) -> None:
    """The floor of every transfer: cp, sync, and sha256 of what arrived, by the tools of the system."""
    subprocess.run(["cp", "-r", str(source), str(target)], check=True)
    files = sorted(str(path) for path in target.iterdir())
    subprocess.run(["sync", *files], check=True)
    subprocess.run(["sha256sum", *files], check=True, stdout=subprocess.DEVNULL)


def measure(work: Callable[[int], None]) -> float:
    """Median seconds of ROUNDS runs."""
    times: list[float] = []
    for number in range(ROUNDS):
        start = time.perf_counter()
        work(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Print the table."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    root = Path(tempfile.mkdtemp(prefix="interlock-bench-"))
    try:
        model = root / "model"
        model.mkdir()
        for number in range(4):
            (model / f"model-0000{number}-of-00004.safetensors").write_bytes(os.urandom(size << 18))
        hash_only(model)  # the page cache is warm for everything that follows
        floor_hash = measure(lambda _: hash_only(model))
        floor_copy = measure(lambda n: copy_and_hash(model, root / f"copy{n}"))
        layout = f"oci-layout:{root / 'l0'}:1"
        works: list[tuple[str, Callable[[int], None], float]] = [
            ("publish to a layout", lambda n: publish_to(model, f"oci-layout:{root / f'l{n}'}:1"), floor_copy),
            ("publish again", lambda _: publish_to(model, layout), floor_hash),
            ("pull from a layout", lambda n: pull_to(layout, root / f"o{n}"), floor_copy),
            ("publish to a directory", lambda n: publish_to(model, f"directory:{root / f'd{n}'}"), floor_copy),
        ]
        rows = [("sha256 alone", floor_hash, floor_hash), ("cp + sync + sha256sum", floor_copy, floor_copy)]
        rows += [(name, measure(work), floor) for name, work, floor in works]
        mib = sum(path.stat().st_size for path in model.iterdir()) / (1 << 20)
        print(f"{mib:.0f} MiB in 4 files, median of {ROUNDS}")
        for name, seconds, floor in rows:
            print(f"  {name:24} {seconds:7.3f} s {mib / seconds:8.0f} MiB/s  {seconds / floor:5.2f} x floor")
        tag = measure(lambda n: promote_tag(root, n))
        print(f"  {'promote, nothing served':24} {tag:7.3f} s  {tag / floor_hash:5.2f} x sha256 (one verifying read)")
    finally:
        shutil.rmtree(root)


def publish_to(model: Path, target: str) -> None:
    """One publish that must pass."""
    assert publish(str(model), target).exit_code == 0


def pull_to(reference: str, target: Path) -> None:
    """One pull that must pass."""
    assert pull(reference, str(target)).exit_code == 0


def promote_tag(root: Path, number: int) -> None:
    """Promote the version to a stage of its own."""
    config = root / "interlock.yaml"
    config.write_text(f"registry: oci-layout:{root / 'l0'}\nstages: {{s{number}: {{}}}}\n")
    assert promote("1", f"s{number}", config=str(config)).exit_code == 0


if __name__ == "__main__":
    main()
