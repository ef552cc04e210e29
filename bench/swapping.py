"""Swap OLD for NEW inside a serving process, under load, in several ways, each in a process of its own.

Run as `python -m interlock.bench.swapping` for one way; `measure` starts one after the other.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from ..report.errors import BadInput
from .footprint import child, resident, serve
from .serving import WORKERS, Load, Server, Version

# way -> how the new version is loaded
WAYS = {
    "path": "from its path, beside the old one",
    "bytes": "from bytes read into memory",
    "external": "with its weights in a file of their own",
    "mapped": "as external, weights left in the file (no prepacking)",
    "unload-first": "after the old one was dropped",
}
_WARM_UP = 10


@dataclass(slots=True)
class Swap:
    """One way measured. Times in ms (`switch_us` in µs, with the lock held), memory in bytes above the interpreter.

    Latencies count from when a request was due; `before`, `during` (load begun to old version dropped) and `after`
    are sorted. `outage_ms` is the time without a version to answer.
    """

    load_ms: float = 0.0
    warm_ms: float = 0.0
    switch_us: float = 0.0
    drain_ms: float = 0.0
    outage_ms: float = 0.0
    failed: int = 0
    stale: int = 0
    before: list[float] = field(default_factory=list[float])
    during: list[float] = field(default_factory=list[float])
    after: list[float] = field(default_factory=list[float])
    rss_before: int = 0
    rss_peak: int = 0
    rss_after: int = 0
    rss_trimmed: int | None = None
    rate: float = 0.0


def measure(way: str, new: str, old: str, request: Mapping[str, Any]) -> Swap:
    """Measure one of `WAYS` in a child process. Raises what loading either model raises."""
    return Swap(**child(__name__, {"way": way, "new": new, "old": old, **request}, new))


def _work(
    *,
    way: str,
    new: str,
    old: str,
    providers: Sequence[str],
    threads: int,
    shapes: dict[str, list[int]],
    domains: dict[str, list[float]],
    seed: int,
    seconds: float,
) -> dict[str, Any]:
    from .inputs import make
    from .providers import open_session

    empty, _ = resident()
    plan = None

    def load(path: str, number: int, **how: Any) -> Version:
        nonlocal plan
        session = open_session(path, providers, threads=threads, **how)
        if plan is None:
            plan = make(session.raw, path, shapes=shapes, domains=domains, seed=seed)
        feed = plan.feeds[0]
        return Version(number, lambda: session.run(feed))

    server = Server(load(old, 1))
    result = Swap()
    result.rate = _rate(server)
    load_ = Load(server, result.rate, seed)
    load_.start()
    time.sleep(seconds)
    result.rss_before = resident()[0] - empty
    _reset_peak()
    begin = time.perf_counter()
    if way == "unload-first":
        result.switch_us, result.drain_ms = server.switch(None)
    content = None
    if way == "bytes":
        content = Path(new).read_bytes()
    entries = {"session.disable_prepacking": "1"} if way == "mapped" else {}
    fresh = load(new, 2, content=content, entries=entries)
    loaded = time.perf_counter()
    del content
    for _ in range(_WARM_UP):
        fresh.run()
    warm = time.perf_counter()
    held, drained = server.switch(fresh)
    end = time.perf_counter()
    if way == "unload-first":
        result.outage_ms = (end - begin) * 1e3
    else:
        result.switch_us, result.drain_ms = held, drained
    result.load_ms, result.warm_ms = (loaded - begin) * 1e3, (warm - loaded) * 1e3
    time.sleep(seconds / 2)
    load_.stop()
    _sort(result, load_, begin, end, warm)
    now, peak = resident()
    result.rss_peak, result.rss_after = peak - empty, now - empty
    trimmed = _trim()
    result.rss_trimmed = None if trimmed is None else trimmed - empty
    return asdict(result)


def _rate(server: Server) -> float:
    """A load that keeps the workers about 40 % busy, from 5 to 200 requests per second."""
    for _ in range(_WARM_UP):
        server.request()
    start = time.perf_counter()
    for _ in range(20):
        server.request()
    return min(200.0, max(5.0, 0.4 * WORKERS * 20 / (time.perf_counter() - start)))


def _sort(result: Swap, load: Load, begin: float, end: float, switched: float) -> None:
    for due, sent, done, number in load.served:
        latency = (done - due) * 1e3
        if number == 0:
            result.failed += 1
        elif done < begin:
            result.before.append(latency)
        elif due <= end:
            result.during.append(latency)
        else:
            result.after.append(latency)
        # The pointer moved between `switched` and `end`: whoever came after that got the new version.
        result.stale += number == 1 and sent > max(end, switched)
    for values in (result.before, result.during, result.after):
        values.sort()


def _reset_peak() -> None:
    """Let the kernel's peak of resident memory start over (proc(5), clear_refs 5)."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as stream:  # noqa: PTH123
            stream.write("5")
    except OSError:
        return  # then the peak includes loading the old version, which is no higher than the swap's


def _trim() -> int | None:
    """Resident bytes after asking the C library to give free memory back; None where it cannot be asked."""
    import ctypes

    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return None
    return resident()[0]


def externalise(path: str, folder: str) -> str:
    """A copy of the model in `folder` with its weights in a file of their own. Raises BadInput when it has none."""
    onnx: Any = import_module("onnx")
    model = onnx.load(path)
    target = f"{folder}/external.onnx"
    onnx.save_model(
        model, target, save_as_external_data=True, all_tensors_to_one_file=True, location="weights.bin",
        size_threshold=1024, convert_attribute=True,
    )  # fmt: skip
    if not Path(folder, "weights.bin").exists():
        raise BadInput(path, "has no weights of a kilobyte or more to keep in a file of their own")
    return target


if __name__ == "__main__":
    serve(_work)
