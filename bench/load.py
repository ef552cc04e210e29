"""Open-loop load over kept-alive connections: requests leave when they are due, whatever became of the earlier ones.

Latency counts from when a request was due, so a stall of the server is charged to every request that it delayed
(no coordinated omission). No retries: what users would lose is lost here.
"""

from __future__ import annotations

import asyncio
import random
import ssl
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass

from .http1 import Malformed, Response

# The event loop rounds timers up to the next millisecond: the last stretch before a request is due is polled.
_POLL = 0.0015


@dataclass(slots=True)
class Shot:
    """One request: times in seconds on the loop's clock.

    `due` is when it should have left, `late` how much later this client got to it, `sent` when it left (later still
    if all connections were busy), `done` when the answer was complete or failed. `error` is empty or a kind: refused,
    reset, closed, short, timeout, malformed; `status` is the HTTP status.
    """

    due: float
    late: float = 0.0
    sent: float = 0.0
    done: float = 0.0
    connection: int = -1
    status: int = 0
    error: str = ""
    detail: str = ""
    fingerprint: str = ""
    label: str = ""

    @property
    def ok(self) -> bool:
        """Whether a user would have been served."""
        return not self.error and 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class Target:
    """Where to send what: IP address, port, the server's name, the request's bytes, seconds to wait for an answer."""

    host: str
    port: int
    name: str
    payload: bytes
    timeout: float = 10.0
    tls: ssl.SSLContext | None = None
    head_only: bool = False


def arrivals(rate: float, kind: str, seed: int) -> Iterator[float]:
    """Seconds from the start at which requests are due, without end: `poisson` or `constant` at `rate` per second."""
    generator = random.Random(seed)  # noqa: S311 - a schedule, not a secret
    at, number = 0.0, 0
    while True:
        number += 1
        at = at + generator.expovariate(rate) if kind == "poisson" else number / rate
        yield at


Judge = Callable[[Shot, Response], None]


class Wire(asyncio.Protocol):
    """One TCP connection. What a wire says after its `Connection` let go of it goes nowhere."""

    def __init__(self, owner: Connection) -> None:
        self.owner: Connection | None = owner
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101
        self.transport = transport
        if self.owner is None:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Called by asyncio."""
        if self.owner is not None:
            self.owner.received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by asyncio."""
        if self.owner is not None:
            self.owner.lost(exc)

    def drop(self) -> None:
        """Close at once and say no more."""
        self.owner = None
        if self.transport is not None:
            self.transport.abort()


class Connection:
    """A place for one request at a time, on a kept-alive wire that is replaced when it breaks."""

    def __init__(self, pool: Pool, number: int) -> None:
        self.number = number
        self._pool = pool
        self._wire: Wire | None = None
        self._shot: Shot | None = None
        self._response = Response()
        self._timer: asyncio.TimerHandle | None = None

    async def connect(self) -> Wire:
        """Connect. Raises OSError (ssl.SSLError included)."""
        target = self._pool.target
        name = target.name if target.tls else None
        wire = Wire(self)
        await self._pool.loop.create_connection(
            lambda: wire, target.host, target.port, ssl=target.tls, server_hostname=name
        )
        self._wire = wire
        return wire

    def take(self, shot: Shot) -> None:
        """Send `shot`, connecting first if the server closed the wire meanwhile."""
        self._shot = shot
        shot.connection = self.number
        loop, target = self._pool.loop, self._pool.target
        self._response = Response(head_only=target.head_only)
        self._timer = loop.call_later(target.timeout, self._finish, "timeout", f"no answer in {target.timeout:g} s")
        shot.sent = loop.time()
        transport = self._wire.transport if self._wire is not None else None
        if transport is not None and not transport.is_closing():
            transport.write(target.payload)
        else:
            self._pool.start(self._connect_and_send(shot))

    async def _connect_and_send(self, shot: Shot) -> None:
        try:
            wire = await self.connect()
        except OSError as error:
            if self._shot is shot:
                self._finish("refused", str(error))
            return
        if self._shot is not shot:  # timed out while connecting; the wire serves the next one
            return
        assert wire.transport is not None  # noqa: S101
        wire.transport.write(self._pool.target.payload)

    def received(self, data: bytes) -> None:
        """Bytes of the answer."""
        if self._shot is None:
            self.close()  # an answer to no request, such as 408 to an idle connection
            return
        try:
            complete = self._response.feed(data)
        except Malformed as error:
            self._finish("malformed", str(error))
            return
        if complete:
            self._finish("")

    def lost(self, exc: Exception | None) -> None:
        """The wire is gone."""
        self._wire = None
        if self._shot is None:
            return
        if self._response.end():
            self._finish("")
        elif self._response.started:
            self._finish("short", "the connection ended inside the answer")
        elif isinstance(exc, ConnectionResetError | BrokenPipeError):
            self._finish("reset", "connection reset")
        else:
            self._finish("closed", "the connection was closed without an answer")

    def _finish(self, error: str, detail: str = "") -> None:
        shot = self._shot
        assert shot is not None  # noqa: S101
        self._shot = None
        if self._timer is not None:
            self._timer.cancel()
        shot.done, shot.error, shot.detail = self._pool.loop.time(), error, detail
        if not error:
            shot.status = self._response.status
            self._pool.judge(shot, self._response)
        if error or not self._response.keep_alive:
            self.close()
        self._pool.free(self)

    def close(self) -> None:
        """Drop the wire."""
        if self._wire is not None:
            self._wire.drop()
            self._wire = None


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
