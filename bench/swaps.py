"""`interlock bench --swap`: the ways to swap side by side, as a Report."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..report.blocks import Table
from ..report.errors import BadInput
from ..report.report import Report
from .benchmark import Settings
from .stats import percentile
from .swapping import WAYS, Swap, externalise, measure

_MIB = 1 << 20
# Copying the weights out needs the whole model in memory twice.
_LARGEST = 2 << 30


def report(
    new: str, old: str, settings: Settings, names: dict[str, str], progress: Callable[[str], None] = lambda _: None
) -> Report:
    """Measure every way and say which disturbs requests least. Raises BadInput on a model that does not run."""
    done: dict[str, Swap] = {}
    skipped: dict[str, str] = {}
    request: dict[str, Any] = {
        "providers": list(settings.providers), "threads": settings.threads, "seed": settings.seed,
        "shapes": {name: list(shape) for name, shape in settings.shapes.items()},
        "domains": {name: list(domain) for name, domain in settings.domains.items()},
        "seconds": min(2.0, settings.seconds / (2 * len(WAYS))),
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        external = why = ""
        for way in WAYS:
            progress(f"swapping: {way}")
            apart = way in ("external", "mapped")
            if apart and not external and not why:
                # Only now: the first way has shown that the model loads.
                external, why = _external(new, folder)
            if apart and not external:
                skipped[way] = why
                continue
            done[way] = measure(way, external if apart else new, old, request)
    beside = [way for way in done if way != "unload-first"]  # an outage is not gentle, however few met it
    best = min(beside, key=lambda way: _tail(done[way].during or [0.0])[0])
    swap = done[best]
    return Report(
        command="bench",
        facts={
            "swaps": {way: _facts(each) for way, each in done.items()},
            "skipped": skipped,
            "gentlest": best,
            "models": names,
        },
        inputs=len(names),
        headline=f"gentlest: {best} ({WAYS[best]}); load {swap.load_ms:.1f} ms, switch {swap.switch_us:.0f} µs,"
        f" slowest request during it {(swap.during or [0.0])[-1]:.1f} ms",
        body=[_times(done, skipped), _memory(done)],
    )


def _external(new: str, folder: str) -> tuple[str, str]:
    """(copy with external weights, why there is none)."""
    if Path(new).stat().st_size > _LARGEST:
        return "", f"the model is larger than {_LARGEST >> 30} GiB"
    try:
        return externalise(new, folder), ""
    except BadInput as error:
        return "", error.reason


def _tail(values: list[float]) -> tuple[float, str]:
    """The P99 where there are enough samples, else the maximum, and which it is."""
    point = percentile(values, 0.99)
    return (point.value, "p99") if point else (values[-1], "max")


def _cell(values: list[float]) -> str:
    if not values:
        return "none met it"
    tail, kind = _tail(values)
    return f"{values[len(values) // 2]:.2f} / {tail:.2f} {kind}"


def _times(done: dict[str, Swap], skipped: dict[str, str]) -> Table:
    columns = ["way", "load ms", "warm ms", "switch µs", "drain ms", "before: p50 / tail", "during", "failed", "stale",
               "outage ms"]  # fmt: skip
    rows = [
        [way, f"{s.load_ms:.1f}", f"{s.warm_ms:.1f}", f"{s.switch_us:.0f}", f"{s.drain_ms:.2f}", _cell(s.before),
         _cell(s.during), str(s.failed), str(s.stale), f"{s.outage_ms:.0f}"]
        for way, s in done.items()
    ]  # fmt: skip
    rows += [[way, "-", "-", "-", "-", f"skipped: {why}", "", "", "", ""] for way, why in skipped.items()]
    rate = next(iter(done.values())).rate
    title = f"Swaps under load ({rate:.0f} requests/s, latency in ms from when a request was due)"
    return Table(columns, rows, title, frozenset(columns[1:5]))


def _memory(done: dict[str, Swap]) -> Table:
    columns = ["way", "before", "peak", "after", "after malloc_trim"]
    rows = [
        [way, *("-" if value is None else f"{value / _MIB:.0f}"
                for value in (s.rss_before, s.rss_peak, s.rss_after, s.rss_trimmed))]
        for way, s in done.items()
    ]  # fmt: skip
    return Table(columns, rows, "Resident memory in MiB", frozenset(columns[1:]))


def _facts(swap: Swap) -> dict[str, Any]:
    facts = asdict(swap)
    for phase in ("before", "during", "after"):
        values: list[float] = facts.pop(phase)
        point = percentile(values, 0.99)
        facts[f"{phase}_ms"] = {
            "requests": len(values),
            "p50": values[len(values) // 2] if values else None,
            "p99": point.value if point else None,
            "max": values[-1] if values else None,
        }
    return facts
