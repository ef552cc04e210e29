"""Time requests of one or more versions side by side: fresh sessions each round, order mirrored request by request."""

from __future__ import annotations

import gc
import itertools
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .inputs import Plan
from .providers import Session

WARM_UP = 10


@dataclass(slots=True)
class Samples:
    """Latencies of one arm in one round, in milliseconds.

    `wall` is what a caller waits; `delay` the part of it that the calling thread was runnable but had no CPU (None
    where the kernel does not tell); `cpu` the CPU time of the whole process per request.
    """

    wall: list[float] = field(default_factory=list[float])
    delay: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])

    @property
    def corrected(self) -> list[float]:
        """Wall time less the time other processes held the CPU."""
        # The two clocks are read one after the other: a delay longer than the request fell between the readings.
        pairs = zip(self.wall, self.delay, strict=True)
        return [wall - delay if delay < wall else wall for wall, delay in pairs]


class RunDelay:
    """Nanoseconds this thread waited on a run queue so far: field 2 of /proc/thread-self/schedstat.

    Source: kernel documentation, scheduler/sched-stats.rst. Must be read in the thread that made it.
    """

    def __init__(self) -> None:
        self._fd = os.open(f"/proc/self/task/{threading.get_native_id()}/schedstat", os.O_RDONLY)

    def __call__(self) -> int:
        """The counter now; about a microsecond."""
        return int(os.pread(self._fd, 64, 0).split()[1])

    def close(self) -> None:
        """Give the file descriptor back."""
        os.close(self._fd)


def run_delay() -> RunDelay | None:
    """A reader of this thread's run-queue delay, or None where the kernel keeps no such count."""
    try:
        counter = RunDelay()
    except OSError:
        return None
    try:
        counter()
    except (OSError, ValueError, IndexError):
        counter.close()
        return None
    return counter


class Runner:
    """Sends a plan's feeds to a session, one after the other, feeding recurrent state back."""

    def __init__(self, session: Session, plan: Plan) -> None:
        self.session = session
        self._run = session.run
        self._feeds = itertools.cycle([dict(feed) for feed in plan.feeds])
        self._state = plan.state
        self._now: dict[str, Any] = {}

    def __call__(self) -> None:
        """One request."""
        self.prepare()
        self.request()

    def prepare(self) -> None:
        """Choose the next feed; not part of a request's time."""
        self._feed = next(self._feeds)
        self._feed.update(self._now)

    def request(self) -> None:
        """Run the feed chosen last."""
        self._results = self._run(self._feed)

    def settle(self) -> None:
        """Keep the new state; not part of a request's time."""
        for name, position in self._state.items():
            self._now[name] = self._results[position]


def warm(runner: Runner) -> None:
    """Run `WARM_UP` requests that do not count, fewer where they take more than a second."""
    end = time.perf_counter() + 1.0
    for number in range(WARM_UP):
        if number > 1 and time.perf_counter() > end:
            return
        runner()
        runner.settle()


Opener = Callable[[], Runner]


def rounds(
    arms: dict[str, Opener],
    count: int,
    requests: int,
    *,
    first: int = 0,
    progress: Callable[[int], None] | None = None,
) -> list[dict[str, Samples]]:
    """`count` rounds of `requests` per arm; sessions are opened anew in each, in rotating order.

    Within a round the arms take turns per request, the order mirrored every time (ABBA), so that a slow second of
    the machine meets all of them. `first` continues the rotation of an earlier call.
    """
    delay = run_delay()
    done: list[dict[str, Samples]] = []
    collecting = gc.isenabled()
    try:
        for number in range(first, first + count):
            names = list(arms)
            turn = number % len(names)
            names = names[turn:] + names[:turn]
            runners = {name: arms[name]() for name in names}
            for runner in runners.values():
                warm(runner)
            gc.collect()
            gc.disable()
            done.append(_round([(name, runners[name]) for name in names], requests, delay))
            gc.enable()
            del runners
            if progress:
                progress(number + 1)
    finally:
        if collecting:
            gc.enable()
        if delay:
            delay.close()
    return done


def _round(arms: Sequence[tuple[str, Runner]], requests: int, delay: RunDelay | None) -> dict[str, Samples]:
    samples = {name: Samples() for name, _ in arms}
    clock, cpu_clock, waited = time.perf_counter_ns, time.process_time_ns, delay or (lambda: 0)
    mirrored = arms[::-1]
    for i in range(requests):
        for name, runner in mirrored if i % 2 else arms:
            runner.prepare()
            cpu = cpu_clock()
            before = waited()
            start = clock()
            runner.request()
            stop = clock()
            after = waited()
            cpu = cpu_clock() - cpu
            runner.settle()
            mine = samples[name]
            mine.wall.append((stop - start) / 1e6)
            mine.delay.append((after - before) / 1e6)
            mine.cpu.append(cpu / 1e6)
    return samples


def throughput(session: Session, plan: Plan, seconds: float, workers: int) -> float:
    """Requests per second that `workers` threads get out of one session, each sending the next when one is done."""
    stop = threading.Event()
    counts = [0] * workers
    errors: list[BaseException] = []

    def work(slot: int) -> None:
        runner = Runner(session, plan)
        try:
            while not stop.is_set():
                runner()
                runner.settle()
                counts[slot] += 1
        except Exception as error:  # noqa: BLE001 - handed to the caller below
            errors.append(error)
            stop.set()

    threads = [threading.Thread(target=work, args=(slot,), daemon=True) for slot in range(workers)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    stop.wait(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return sum(counts) / (time.perf_counter() - start)
