"""Load a live server, swap its model in the middle by a command, and record what every request met."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import ssl
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ..report.errors import BadInput, NeedsAccess
from ..version import __version__
from .connection import Shot, Target
from .http1 import Response, request
from .load import Generator, Heartbeat, Judge, Pool, arrivals
from .truth import ABSENT, Reader, places, reader

_TAIL = 4000
_CANARY = 3
_URL = "write http://127.0.0.1:8000/v2/models/m/infer"


@dataclass(frozen=True, slots=True)
class Settings:
    """How to drill: requests per second, connections, and seconds before the swap and after its command ended."""

    rate: float = 50.0
    arrivals: str = "poisson"
    connections: int = 16
    before: float = 10.0
    after: float = 5.0
    timeout: float = 10.0
    swap_timeout: float = 300.0
    fingerprint: str = "body"
    label: str = ""
    seed: int = 0
    method: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    ca: str = ""


@dataclass(slots=True)
class Recording:
    """What happened. Times are in seconds from the start of the load; `swap_code` None means it was killed."""

    shots: list[Shot]
    swap_start: float
    swap_end: float
    end: float
    swap_code: int | None
    swap_output: str


def run(url: str, swap: str, settings: Settings, progress: Callable[[str], None] = lambda _: None) -> Recording:
    """Drill `url` while the shell command `swap` runs.

    Raises BadInput when the URL cannot be used or the server does not answer well before anything was swapped,
    NeedsAccess when it cannot be reached or asks for credentials.
    """
    return asyncio.run(_drill(url, swap, settings, progress))


async def _drill(url: str, swap: str, settings: Settings, progress: Callable[[str], None]) -> Recording:
    fingerprint = reader("--fingerprint", settings.fingerprint)
    label = reader("--label", settings.label) if settings.label else None

    def judge(shot: Shot, response: Response) -> None:
        _judge(shot, response, fingerprint, label)

    target = await _target(url, settings)
    await _canary(url, target, judge, settings)
    pool = Pool(target, settings.connections, judge)
    try:
        await pool.open()
    except OSError as error:
        hint = "lower --connections if it limits them"
        raise BadInput(url, f"does not accept {settings.connections} connections: {error}", hint=hint) from error
    loop = asyncio.get_running_loop()
    generator = Generator(pool, arrivals(settings.rate, settings.arrivals, settings.seed))
    progress(f"load before the swap: {settings.before:g} s at {settings.rate:g} requests/s")
    heartbeat = Heartbeat()
    begin = generator.start()
    await asyncio.sleep(settings.before)
    progress("swapping")
    swap_start = loop.time() - begin
    code, output = await _swap(swap, settings.swap_timeout)
    swap_end = loop.time() - begin
    progress(f"load after the swap: {settings.after:g} s")
    await asyncio.sleep(settings.after)
    generator.stop()
    end = loop.time() - begin
    await pool.finish()
    heartbeat.stop()
    for shot in pool.shots:
        shot.paused = heartbeat.within(shot.due, shot.done)
        shot.due, shot.sent, shot.done = shot.due - begin, shot.sent - begin, shot.done - begin
    return Recording(pool.shots, swap_start, swap_end, end, code, output)


def _judge(shot: Shot, response: Response, fingerprint: Reader, label: Reader | None) -> None:
    if shot.ok:
        shot.fingerprint = fingerprint(response)
        shot.label = label(response) if label else ""
    else:
        shot.detail = " ".join(response.body[:200].decode("utf-8", "replace").split())


async def _target(url: str, settings: Settings) -> Target:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadInput(url, f"not a URL: {error}", hint=_URL) from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(url, "not an http:// or https:// URL", hint=_URL)
    if parts.username or parts.password:
        raise BadInput(parts.hostname, "credentials in a URL", hint='use --header "Authorization: …"')
    secure = parts.scheme == "https"
    port = port or (443 if secure else 80)
    method = settings.method.upper() or ("POST" if settings.body else "GET")
    if not re.fullmatch(r"[A-Z][A-Z-]{0,31}", method):
        raise BadInput(f"--method {settings.method}", "not an HTTP method", hint="such as GET, POST or PUT")
    headers = {"User-Agent": f"interlock/{__version__}", "Accept": "*/*"}
    if settings.body:
        headers["Content-Type"] = "application/json" if settings.body[:1] in b"{[" else "application/octet-stream"
    names = {name.lower() for name in settings.headers}
    headers = {name: value for name, value in headers.items() if name.lower() not in names} | dict(settings.headers)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not url.isascii() or any(character <= " " for character in url):
        raise BadInput(url, "has characters that must be percent-encoded", hint="a blank is written %20")
    payload = request(method, parts.netloc, path, headers, settings.body)
    tls = _tls(settings.ca) if secure else None
    address = await _address(url, parts.hostname, port)
    return Target(address, port, parts.hostname, payload, settings.timeout, tls, method == "HEAD")


async def _address(url: str, name: str, port: int) -> str:
    """The first address of a name that accepts connections: a name often has one that nobody listens on."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except OSError as error:
        reason = f"the host name does not resolve: {error.strerror or error}"
        raise NeedsAccess(url, reason, hint="check its spelling, or give an IP address") from error
    failure = ""
    for *_, address in found:
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(str(address[0]), port), 10)
        except (OSError, TimeoutError) as error:
            failure = failure or str(error) or "no answer in 10 s"
            continue
        writer.close()
        return str(address[0])
    raise NeedsAccess(url, f"cannot connect: {failure}", hint="start the server, or check the address")


def _tls(ca: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca or None)
    except (OSError, ssl.SSLError) as error:
        hint = "give --ca a PEM file with the certificate of the CA"
        raise BadInput(ca, f"not a file of CA certificates: {error}", hint=hint) from error


async def _canary(url: str, target: Target, judge: Judge, settings: Settings) -> None:
    """A few requests before the clock starts: a server that fails already cannot show what a swap breaks.

    Nor can answers without the place that would tell the versions apart.
    """
    answers: list[Response] = []

    def look(shot: Shot, response: Response) -> None:
        judge(shot, response)
        answers.append(response)

    pool = Pool(target, 1, look)
    for _ in range(_CANARY):
        pool.fire(Shot(pool.loop.time()))
    await pool.finish()
    for shot in pool.shots:
        if shot.error == "tls":
            hint = "give the certificate of the CA that signed the server's with --ca FILE"
            raise BadInput(url, f"no secure connection: {shot.detail}", hint=hint)
        if shot.error == "refused":
            raise NeedsAccess(url, f"cannot connect: {shot.detail}", hint="start the server, or check the address")
        if shot.status in (401, 403):
            hint = 'send credentials with --header "Authorization: …"'
            raise NeedsAccess(url, f"answers {shot.status}: {shot.detail}", hint=hint)
        if not shot.ok:
            said = shot.detail if shot.error else f"answers {shot.status}: {shot.detail}"
            hint = "the request must succeed before the swap; see --data, --header and --method"
            raise BadInput(url, f"{said} (nothing was swapped yet)", hint=hint)
    for option, how, seen in (
        ("--fingerprint", settings.fingerprint, {shot.fingerprint for shot in pool.shots}),
        ("--label", settings.label, {shot.label for shot in pool.shots}),
    ):
        if seen == {ABSENT}:
            reason = f"the answers of {url} have no such place (nothing was swapped yet)"
            raise BadInput(f"{option} {how}", reason, hint=f"there is {places(answers[-1], how)}")


async def _swap(command: str, timeout: float) -> tuple[int | None, str]:
    """Run the command in a shell and a process group of its own; its code (None: killed) and the end of its output."""
    with tempfile.TemporaryFile() as sink:
        process = await asyncio.create_subprocess_shell(
            command, stdin=asyncio.subprocess.DEVNULL, stdout=sink, stderr=sink, start_new_session=True
        )
        try:
            code: int | None = await asyncio.wait_for(process.wait(), timeout)
        except TimeoutError:
            code = None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        size = sink.seek(0, os.SEEK_END)
        sink.seek(max(0, size - _TAIL))
        return code, sink.read().decode("utf-8", "replace").strip()
