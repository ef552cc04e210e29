"""The loop: take an input of the corpus, change it, read it, keep it where it reached new code, report what is wrong.

A reader returns, or raises one of the errors that it documents. Anything else is a finding: another exception, more
processor time than `SECONDS` for one input, or more memory than `MEGABYTES` beyond what the process had.
"""

from __future__ import annotations

import resource
import signal
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType

from .cover import Coverage
from .mutate import Mutator

SECONDS = 2.0
MEGABYTES = 192
MAX_INPUT = 1 << 18
_MAX_CORPUS = 4000


class TooSlow(BaseException):
    """Raised by the timer; no reader catches it by accident."""


@dataclass(frozen=True, slots=True)
class Target:
    """A reader. `read` gets the input and a folder to put files in; `refusals` are the errors that it documents."""

    name: str
    read: Callable[[bytes, Path], object]
    refusals: tuple[type[Exception], ...]
    seeds: Callable[[Path], Sequence[bytes]]
    mutators: tuple[Mutator, ...]
    folders: tuple[str, ...] = ("models",)
    seconds: float = SECONDS


@dataclass(frozen=True, slots=True)
class Finding:
    """What was wrong with an input: `place` is where it was raised, `text` the end of the traceback."""

    kind: str
    place: str
    text: str
    data: bytes


@dataclass(slots=True)
class Result:
    """What a run did. `refused` counts the inputs that the reader refused as it documents."""

    executions: int = 0
    refused: int = 0
    kept: int = 0
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict[tuple[str, str], Finding])


def judge(target: Target, data: bytes, folder: Path) -> tuple[bool, Finding | None]:
    """Read one input: whether it was refused, and what was wrong, if anything. Main thread only."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    previous = signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, target.seconds)
    refused = False
    try:
        target.read(data, folder)
    except target.refusals as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        refused = True
        if not all(str(part).strip() for part in error.args):
            return refused, Finding("refused without a reason", _place(error), repr(error), data)
    except (Exception, TooSlow) as error:  # noqa: BLE001 - any other error is what we look for
        signal.setitimer(signal.ITIMER_PROF, 0)
        text = "".join(traceback.format_exception(error, limit=-6))
        return refused, Finding(type(error).__name__, _place(error), text[-3000:], data)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    if grown > MEGABYTES:
        return refused, Finding("memory", target.name, f"took {grown} MiB for {len(data):,} bytes", data)
    return refused, None


def _late(signum: int, frame: FrameType | None) -> None:
    raise TooSlow


def _place(error: BaseException) -> str:
    """The innermost line of the package."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/fuzz/" not in frame.filename and "/tests/" not in frame.filename]
    inner = [frame for frame in ours if "python3" not in frame.filename] or frames
    return f"{'/'.join(Path(inner[-1].filename).parts[-2:])}:{inner[-1].lineno}" if inner else ""


def fuzz(
    target: Target,
    draw: Random,
    folder: Path,
    go_on: Callable[[Result], bool],
    *,
    corpus: Sequence[bytes] = (),
    guided: bool = True,
    before: Callable[[bytes], None] | None = None,
    found: Callable[[Finding], None] | None = None,
    keep: Callable[[bytes], None] | None = None,
) -> Result:
    """Fuzz while `go_on` says so. The same `draw` gives the same inputs as long as the reader's code is the same.

    `before` gets every input before it is read, `found` each new kind of finding, `keep` what reached new code.
    """
    result = Result()
    workshop = folder / ".cache"  # where nothing that reads a model looks
    workshop.mkdir(exist_ok=True)
    pool = [*target.seeds(workshop), *corpus]
    seeds = len(pool)
    watch = Coverage(*target.folders)
    with watch if guided else nullcontext():
        for number in range(1 << 62):
            if number < seeds:
                data = pool[number]
            elif not go_on(result):
                break
            else:
                data = _changed(pool, target, draw, seeds)
            if before is not None:
                before(data)
            refused, finding = judge(target, data, folder)
            result.executions += 1
            result.refused += refused
            if finding is not None and (finding.kind, finding.place) not in result.findings:
                result.findings[finding.kind, finding.place] = finding
                if found is not None:
                    found(finding)
            if watch.news() and number >= seeds and len(pool) < _MAX_CORPUS:
                pool.append(data)
                result.kept += 1
                if keep is not None:
                    keep(data)
    return result


def _changed(pool: list[bytes], target: Target, draw: Random, seeds: int) -> bytes:
    """An input of the corpus after one to a few changes; what reached new code last is taken more often."""
    late = draw.random() < 0.4 and len(pool) > seeds
    data = pool[draw.randrange(max(seeds, len(pool) - 40), len(pool))] if late else draw.choice(pool)
    for _ in range(min(8, int(draw.expovariate(0.7)) + 1)):
        data = draw.choice(target.mutators)(data, draw, pool)[:MAX_INPUT]
    return data
