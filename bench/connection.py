"""A request under way and the kept-alive connection that carries it."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .http1 import Malformed, Response

if TYPE_CHECKING:
    from .load import Pool


@dataclass(slots=True)
class Shot:
    """One request: times in seconds on the loop's clock.

    `due` is when it should have left, `late` how much later this client got to it, `sent` when it left (later still
    if all connections were busy), `done` when the answer was complete or failed. `paused` is how long this client
    stood still meanwhile. `error` is empty or a kind: refused, tls, reset, closed, short, timeout, malformed;
    `status` is the HTTP status.
    """

    due: float
    late: float = 0.0
    sent: float = 0.0
    done: float = 0.0
    paused: float = 0.0
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

    @property
    def took(self) -> float:
        """Seconds from when it was due, less those that this client lost itself."""
        return self.done - self.due - max(self.late, self.paused)


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
                self._finish("tls" if isinstance(error, ssl.SSLError) else "refused", str(error))
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
