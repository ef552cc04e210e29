"""publish and pull against floors of the same run: sha256 alone, and copying with fsync while hashing.

    python benchmarks/release.py [MIB]

Figures are medians; a ratio of 1.00 is the floor. Publishing again and promoting are shown as times: both must not
depend on how much was published before.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from interlock.release.run import gate, promote, publish, pull

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


def measure(work: Callable[[int], None], rounds: int = ROUNDS) -> float:
    """Median seconds of some runs."""
    times: list[float] = []
    for number in range(rounds):
        start = time.perf_counter()
        work(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Print the table."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 128
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
        config = judged(root)
        tag = measure(lambda n: promote_tag(config, n))
        print(f"  {'promote, nothing served':24} {tag:7.3f} s  {tag / floor_hash:5.2f} x sha256 (one verifying read)")
        if shutil.which("docker-registry"):
            against_a_registry(root, model, mib)
        else:
            print("  no registry figures: docker-registry is not installed")
    finally:
        shutil.rmtree(root)


def against_a_registry(root: Path, model: Path, mib: float) -> None:
    """Push and pull on loopback, beside skopeo where it is installed. The registry itself hashes and writes on the
    same machine, so this is far from the floors above for every client."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = root / "registry.yml"
    config.write_text(
        f"version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\n"
        f"storage: {{filesystem: {{rootdirectory: {root / 'data'}}}}}\nhttp: {{addr: '127.0.0.1:{port}'}}\n"
    )
    server = subprocess.Popen(["docker-registry", "serve", str(config)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        place = f"127.0.0.1:{port}/bench"
        layout, ours, theirs = f"oci:{root / 'l0'}:1", f"{place}/ours", f"{place}/theirs"
        works: list[tuple[str, Callable[[int], None]]] = [
            ("push to a registry", lambda _: publish_to(model, f"oci://{ours}:1")),
            ("pull from a registry", lambda n: pull_to(f"oci://{ours}:1", root / f"r{n}")),
        ]
        if shutil.which("skopeo"):
            works.insert(
                1, ("skopeo push", lambda _: skopeo("--dest-tls-verify=false", layout, f"docker://{theirs}:1"))
            )
            pull_by_skopeo = ("--src-tls-verify=false", f"docker://{ours}:1")
            works.append(("skopeo pull", lambda n: skopeo(*pull_by_skopeo, f"oci:{root / f's{n}'}:1")))
        for name, work in works:
            seconds = measure(work, 1 if "push" in name else ROUNDS)  # a second push would find everything there
            print(f"  {name:24} {seconds:7.3f} s {mib / seconds:8.0f} MiB/s")
    finally:
        server.terminate()
        server.wait()


def skopeo(option: str, source: str, target: str) -> None:
    """One copy by skopeo."""
    subprocess.run(["skopeo", "copy", "--quiet", option, source, target], check=True)


def publish_to(model: Path, target: str) -> None:
    """One publish that must pass."""
    assert publish(str(model), target).exit_code == 0


def pull_to(reference: str, target: Path) -> None:
    """One pull that must pass."""
    assert pull(reference, str(target)).exit_code == 0


def judged(root: Path) -> str:
    """Settings with a stage for every round, each asking for the cheapest gate, which the version has passed."""
    config, manifest = root / "interlock.yaml", root / "manifest.yaml"
    manifest.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: a}\n")
    stages = ", ".join(f"s{number}: {{gates: [lint]}}" for number in range(ROUNDS))
    config.write_text(f"registry: oci-layout:{root / 'l0'}\nlint: {{paths: [{manifest}]}}\nstages: {{{stages}}}\n")
    assert gate("s0", "1", config=str(config)).exit_code == 0
    return str(config)


def promote_tag(config: str, number: int) -> None:
    """Promote the version to a stage of its own."""
    assert promote("1", f"s{number}", config=config).exit_code == 0


if __name__ == "__main__":
    main()
