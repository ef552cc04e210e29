"""Open-loop load over kept-alive connections: requests leave when they are due, whatever became of the earlier ones.

Latency counts from when a request was due, so a stall of the server is charged to every request that it delayed
(no coordinated omission). No retries: what users would lose is lost here.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable, Coroutine, Iterator

from .connection import Connection, Shot, Target
from .http1 import Response

# The event loop rounds timers up to the next millisecond: the last stretch before a request is due is polled.
_POLL = 0.0015

Judge = Callable[[Shot, Response], None]


def arrivals(rate: float, kind: str, seed: int) -> Iterator[float]:
    """Seconds from the start at which requests are due, without end: `poisson` or `constant` at `rate` per second."""
    generator = random.Random(seed)  # noqa: S311 - a schedule, not a secret
    at, number = 0.0, 0
    while True:
        number += 1
        at = at + generator.expovariate(rate) if kind == "poisson" else number / rate
        yield at


class Pool:
    """The connections, and the requests that wait for a free one."""

    def __init__(self, target: Target, size: int, judge: Judge) -> None:
        self.loop = asyncio.get_running_loop()
        self.target = target
        self.judge = judge
        self.shots: list[Shot] = []
        self._all = [Connection(self, number) for number in range(size)]
        # The one idle longest goes first, so that every connection sees the swap.
        self._idle = deque(self._all)
        self._waiting: deque[Shot] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._busy = 0
        self._quiet = asyncio.Event()

    async def open(self) -> None:
        """Connect all of them before the clock starts. Raises OSError."""
        for connection in self._all:
            await connection.connect()

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Run a coroutine and keep hold of it until it is done."""
        task: asyncio.Task[None] = self.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def fire(self, shot: Shot) -> None:
        """Send a request on a free connection, or as soon as one is free."""
        self.shots.append(shot)
        self._busy += 1
        if self._idle:
            self._idle.popleft().take(shot)
        else:
            self._waiting.append(shot)

    def free(self, connection: Connection) -> None:
        """A connection's request is over."""
        self._busy -= 1
        if self._waiting:
            connection.take(self._waiting.popleft())
            return
        self._idle.append(connection)
        if self._busy == 0:
            self._quiet.set()

    async def finish(self) -> None:
        """Wait for what is under way, then close."""
        while self._busy:
            self._quiet.clear()
            await self._quiet.wait()
        for connection in self._all:
            connection.close()
        await asyncio.sleep(0)


class Generator:
    """Fires requests at their times until stopped."""

    def __init__(self, pool: Pool, schedule: Iterator[float]) -> None:
        self._pool = pool
        self._schedule = schedule
        self._handle: asyncio.Handle | None = None
        self._begin = 0.0
        self._due = 0.0

    def start(self) -> float:
        """Begin now; the loop's time that the schedule counts from."""
        self._begin = self._pool.loop.time()
        self._due = self._begin + next(self._schedule)
        self._tick()
        return self._begin

    def stop(self) -> None:
        """No request after this."""
        if self._handle is not None:
            self._handle.cancel()

    def _tick(self) -> None:
        loop = self._pool.loop
        now = loop.time()
        while self._due <= now:
            self._pool.fire(Shot(self._due, late=now - self._due))
            self._due = self._begin + next(self._schedule)
            now = loop.time()
        if self._due - now > _POLL:
            self._handle = loop.call_at(self._due - _POLL + 0.0005, self._tick)
        else:
            self._handle = loop.call_soon(self._tick)


class Heartbeat:
    """Notices when this client itself stood still: its event loop came back later than it asked to.

    What arrives during a pause is read after it, so a pause makes the server look slow.
    """

    EVERY, WORTH = 0.010, 0.020

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.pauses: list[tuple[float, float]] = []
        self._expected = self._loop.time() + self.EVERY
        self._handle = self._loop.call_at(self._expected, self._beat)

    def _beat(self) -> None:
        now = self._loop.time()
        if now - self._expected > self.WORTH:
            self.pauses.append((self._expected, now))
        self._expected = now + self.EVERY
        self._handle = self._loop.call_at(self._expected, self._beat)

    def stop(self) -> None:
        """No beat after this."""
        self._handle.cancel()

    def within(self, start: float, stop: float) -> float:
        """Seconds of pauses between two times."""
        return sum(max(0.0, min(stop, end) - max(start, begin)) for begin, end in self.pauses)
