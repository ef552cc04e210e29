"""How fast `validate` and its readers are, against the libraries, in one run.

Whole processes are measured as a user starts them; readers in a fresh process each, with the memory beyond start-up.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from synthetic.models import five_gigabytes, inline_onnx, seventy_billion, vocabulary_gguf

PYTHON = sys.executable
ROUNDS = int(os.environ.get("ROUNDS", "7"))


# A child's peak memory counts from the fork, so processes are started by a small one, and readers ask the kernel.
LAUNCH = """
import os, subprocess, sys, time
start = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, _, usage = os.wait4(child.pid, 0)
cpu = usage.ru_utime + usage.ru_stime
print(1000 * (time.perf_counter() - start), usage.ru_maxrss / 1024, 1000 * cpu)
"""
READ = """
import time
from pathlib import Path
def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
{setup}
base = peak()
start = time.perf_counter()
{work}
print(1000 * (time.perf_counter() - start), peak() - base)
"""
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def process(command: list[str], rounds: int = ROUNDS) -> list[float]:
    """Median milliseconds, peak memory in MB and milliseconds of processor time of a whole process.

    Processor time is what a busy machine does not stretch.
    """
    return median([PYTHON, "-S", "-E", "-c", LAUNCH, *command], rounds)


def reader(setup: str, work: str, rounds: int = ROUNDS) -> list[float]:
    """Median milliseconds and MB beyond start-up of a read in a fresh process; imports are not counted."""
    return median([PYTHON, "-c", READ.format(setup=setup, work=work)], rounds)


def median(command: list[str], rounds: int) -> list[float]:
    """The median of each number that a command prints, over some rounds."""
    results: list[list[float]] = []
    for _ in range(rounds):
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/", env=ENVIRONMENT)
        results.append([float(part) for part in done.stdout.split()])
    return [statistics.median(column) for column in zip(*results, strict=True)]


def compare(title: str, ours: list[float], peer: list[float], name: str) -> None:
    """One line: ours, the peer's, and how many times faster and smaller."""
    print(
        f"{title:34} {ours[0]:9.1f} ms {ours[1]:7.1f} MB | {name:22} {peer[0]:9.1f} ms {peer[1]:7.1f} MB"
        f" | {peer[0] / ours[0]:7.1f}x faster"
    )


OURS = """
from interlock.models.tree import TreeFile
from interlock.models.{m} import {f}
file = TreeFile('m', Path({p!r}), 0, '')
"""


def ours(module: str, function: str, path: Path) -> list[float]:
    """Our reader on a file."""
    return reader(OURS.format(m=module, f=function, p=str(path)), f"{function}(file)")


def main() -> None:
    """Build the files, measure, print."""
    script = str(Path(PYTHON).with_name("interlock"))
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        floor = process([PYTHON, "-c", "pass"])
        typer = process([PYTHON, "-c", "import typer"])
        print(f"floors: python {floor[0]:.0f} ms, with typer {typer[0]:.0f} ms ({typer[2]:.0f} ms of processor time)\n")
        sections: list[Callable[[], None]] = [
            lambda: whole(root, script, typer),
            lambda: onnx_files(root),
            lambda: gguf_files(root),
            lambda: safetensors_files(root),
            lambda: tokenizers(root),
        ]
        for section in sections:
            section()


def whole(root: Path, script: str, floor: list[float]) -> None:
    """Whole processes as a user starts them."""
    for name in ("old", "new"):
        five_gigabytes(root / f"five-{name}")
        seventy_billion(root / f"seventy-{name}", seed=0)
    for title, name, target in (("two 5 GB safetensors", "five", 150), ("two 141 GB in 30 shards", "seventy", 200)):
        got = process([script, "validate", str(root / f"{name}-new"), "--against", str(root / f"{name}-old")])
        print(
            f"{title:34} {got[0]:9.1f} ms {got[1]:7.1f} MB {got[2]:6.0f} ms of processor time | target {target} ms;"
            f" {got[2] - floor[2]:.0f} ms of processor time above python with typer"
        )


def onnx_files(root: Path) -> None:
    """A 2 GB inline graph."""
    path = root / "inline.onnx"
    inline_onnx(path)
    peer = reader("import onnx", f"onnx.load({str(path)!r}, load_external_data=False)", 1)
    compare("ONNX header, 2 GB inline", ours("onnx", "read_onnx", path), peer, "onnx.load")


def gguf_files(root: Path) -> None:
    """A 262,144 token vocabulary."""
    path = root / "m.gguf"
    vocabulary_gguf(path)
    peer = reader("import gguf", f"gguf.GGUFReader({str(path)!r})", 1)
    compare("GGUF header, 262k tokens", ours("gguf", "read_gguf", path), peer, "gguf.GGUFReader")


def safetensors_files(root: Path) -> None:
    """30 headers of the 141 GB model."""
    folder = root / "seventy-new"
    mine = reader(
        f"from interlock.models.tree import read_tree\nfrom interlock.models.weights import read_weights\n"
        f"tree = read_tree({str(folder)!r})",
        "read_weights(tree)",
    )
    loop = (
        f"for path in sorted(Path({str(folder)!r}).glob('*.safetensors')):\n"
        "    with safe_open(path, 'np') as file:\n"
        "        [file.get_slice(key).get_shape() for key in file.keys()]"
    )
    compare("30 safetensors headers", mine, reader("from safetensors import safe_open", loop), "safe_open")


def tokenizers(root: Path) -> None:
    """tokenizer.json of 9 MB."""
    folder = root / "seventy-new"
    mine = reader(
        f"from interlock.models.tree import read_tree\nfrom interlock.models.tokenizer import read_tokenizer\n"
        f"tree = read_tree({str(folder)!r})",
        "read_tokenizer(tree)",
    )
    path = str(folder / "tokenizer.json")
    peer = reader("from tokenizers import Tokenizer", f"Tokenizer.from_file({path!r})", 3)
    size = Path(path).stat().st_size / 1e6
    compare(f"tokenizer.json, {size:.1f} MB", mine, peer, "Tokenizer.from_file")


if __name__ == "__main__":
    main()
