"""Accuracy of the drill's client: latencies it reports against those a reference server and a raw socket measure.

The server holds each answer back for 2 ms and says how long it really took; what a client reports beyond that is its
own error (plus the loopback, which the raw socket shows as the floor).
"""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import statistics
import subprocess
import sys
import threading
import time

from interlock.bench.connection import Shot, Target
from interlock.bench.http1 import Response, request
from interlock.bench.load import Generator, Pool, arrivals

HOLD = 0.002
CONNECTIONS = 8
SECONDS = 4.0
RATES = (100, 500, 1500)
PAYLOAD = request("POST", "127.0.0.1", "/", {"Content-Type": "application/json"}, b'{"x": 1}')


def serve() -> None:
    """The reference server: a thread a connection, bare sockets, one `recv` a request."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    def talk(peer: socket.socket) -> None:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while peer.recv(65536):
            start = time.perf_counter_ns()
            time.sleep(HOLD)
            body = b"%d" % (time.perf_counter_ns() - start)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    while True:
        peer, _ = listener.accept()
        threading.Thread(target=talk, args=(peer,), daemon=True).start()


def raw(port: int, seconds: float) -> list[float]:
    """Error in ms per request of a blocking socket: the floor for any client."""
    errors: list[float] = []
    with socket.create_connection(("127.0.0.1", port)) as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            start = time.perf_counter_ns()
            peer.sendall(PAYLOAD)
            data = peer.recv(65536)
            errors.append((time.perf_counter_ns() - start - int(data.rpartition(b"\r\n")[2])) / 1e6)
    return errors


async def ours(port: int, rate: float, seconds: float) -> tuple[list[float], list[float], float]:
    """Error and lateness in ms per request of the drill's client, and the rate it reached."""
    errors: list[float] = []

    def judge(shot: Shot, response: Response) -> None:
        errors.append((shot.done - shot.sent) * 1e3 - json.loads(response.body) / 1e6)

    pool = Pool(Target("127.0.0.1", port, "127.0.0.1", PAYLOAD), CONNECTIONS, judge)
    await pool.open()
    generator = Generator(pool, arrivals(rate, "constant", 0))
    generator.start()
    await asyncio.sleep(seconds)
    generator.stop()
    await pool.finish()
    return errors, [shot.late * 1e3 for shot in pool.shots], len(pool.shots) / seconds


async def most(port: int, seconds: float) -> float:
    """Requests per second when each connection sends the next one at once (closed loop, answers held for 2 ms)."""
    count = itertools.count()

    def judge(*_: object) -> None:
        next(count)
        if loop.time() < end:
            loop.call_soon(pool.fire, Shot(loop.time()))

    loop = asyncio.get_running_loop()
    pool = Pool(Target("127.0.0.1", port, "127.0.0.1", PAYLOAD), CONNECTIONS, judge)
    await pool.open()
    end = loop.time() + seconds
    for _ in range(CONNECTIONS):
        pool.fire(Shot(loop.time()))
    await asyncio.sleep(seconds + 0.2)
    await pool.finish()
    return next(count) / seconds


def line(name: str, errors: list[float], more: str) -> str:
    """One row: percentiles of the error."""
    errors.sort()
    p99 = errors[int(0.99 * (len(errors) - 1))]
    return f"{name:34} {statistics.median(errors):8.3f} {p99:8.3f}   {more}"


def main() -> int:
    """Start the server in a process of its own and print the table."""
    if sys.argv[1:] == ["serve"]:
        serve()
    with subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        try:
            print(f"{'error of the reported latency, ms':34} {'p50':>8} {'p99':>8}")
            floor = raw(port, SECONDS)
            print(line("raw blocking socket (floor)", floor, ""))
            for rate in RATES:
                errors, late, reached = asyncio.run(ours(port, rate, SECONDS))
                late.sort()
                more = f"reached {reached:.0f}/s, late p99 {late[int(0.99 * (len(late) - 1))]:.3f} ms"
                print(line(f"drill's client, {rate}/s open loop", errors, more))
            ideal = CONNECTIONS / HOLD
            closed = asyncio.run(most(port, SECONDS))
            print(f"closed loop on {CONNECTIONS} connections: {closed:.0f}/s, {closed / ideal:.2f} of {ideal:.0f}/s")
        finally:
            server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
