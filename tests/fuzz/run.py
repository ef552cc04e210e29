"""Fuzz the readers: `python tests/fuzz/run.py [READER …] [--minutes N] [--seed S] [--list]`.

Each reader runs in a process of its own, with N minutes of processor time, bounded memory and an end to every input.
What a reader does other than read or refuse is printed with its traceback, and the input is kept under --keep. Inputs
that reached new code are kept there as well and are the start of the next run. Exit code 1 where anything was found.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent)  # so that `fuzz`, `validate` and `services` are found as in the tests

from fuzz.commands import TARGETS  # noqa: E402
from fuzz.engine import Finding, Result, fuzz  # noqa: E402

_ROOM = 1 << 30  # bytes of address space beyond what the process has when it starts
_HANG = 60  # seconds of real time for one input, after which the process is ended from outside Python


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("readers", nargs="*", metavar="READER", help=f"of {', '.join(TARGETS)}; all when none is given")
    parser.add_argument("--minutes", type=float, default=10.0, help="processor minutes for each reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", default=str(HERE.parent.parent / ".cache" / "fuzz"), help="where inputs are kept")
    parser.add_argument("--list", action="store_true", help="print the readers")
    options = parser.parse_args()
    unknown = [name for name in options.readers if name not in TARGETS]
    if unknown:
        parser.error(f"no reader {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    if options.list:
        print("\n".join(TARGETS))
        return 0
    names = options.readers or list(TARGETS)
    if len(names) == 1 and os.environ.get("FUZZ_CHILD"):
        return _one(names[0], options.minutes, options.seed, Path(options.keep))
    worst = 0
    for name in names:
        command = [sys.executable, __file__, name, "--minutes", str(options.minutes)]
        command += ["--seed", str(options.seed), "--keep", options.keep]
        code = subprocess.run(command, env={**os.environ, "FUZZ_CHILD": "1"}, check=False).returncode
        if code < 0:
            why = "an input never ended" if -code == signal.SIGALRM else f"the interpreter died of signal {-code}"
            print(f"{name}: {why}: {Path(options.keep) / name / 'last'}", flush=True)
        worst = max(worst, abs(code))
    return 1 if worst else 0


def _one(name: str, minutes: float, seed: int, keep: Path) -> int:
    """Fuzz one reader in this process."""
    target = TARGETS[name]
    corpus, crashes, last = keep / name / "corpus", keep / name / "found", keep / name / "last"
    for folder in (corpus, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + _ROOM, size + _ROOM))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    begun = time.process_time()

    def before(data: bytes) -> None:
        last.write_bytes(data)
        signal.alarm(_HANG)

    def found(finding: Finding) -> None:
        path = crashes / hashlib.sha256(finding.data).hexdigest()[:16]
        path.write_bytes(finding.data)
        print(f"\n{name}: {finding.kind} at {finding.place}: {path}\n{finding.text}", flush=True)

    def kept(data: bytes) -> None:
        (corpus / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)

    def go_on(result: Result) -> bool:
        return time.process_time() - begun < minutes * 60

    start = [path.read_bytes() for path in sorted(corpus.iterdir())]
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        result = fuzz(
            target, Random(f"{name} {seed}"), Path(place), go_on, corpus=start, before=before, found=found, keep=kept
        )
    used = time.process_time() - begun
    print(
        f"{name}: {result.executions:,} inputs in {used / 60:.1f} minutes of processor time,"
        f" {result.refused:,} refused, {result.kept} reached new code, {len(result.findings)} findings",
        flush=True,
    )
    return 1 if result.findings else 0


if __name__ == "__main__":
    sys.exit(main())
