"""A drill's losses as a Report: what the gate refuses, the figures, and a timeline."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ..report.blocks import Block, Table, Text
from ..report.finding import Finding
from ..report.report import Report
from . import rules
from .drill import Recording, Settings
from .losses import Losses, Phase

_BARS = " ▁▂▃▄▅▆▇█"
_BUCKETS = 60


@dataclass(frozen=True, slots=True)
class Limits:
    """What a swap may cost: requests lost, stale answers, frozen requests, and the tail's growth (0: any)."""

    failed: int = 0
    stale: int = 0
    frozen: int = 0
    spike: float = 0.0


def report(url: str, recording: Recording, losses: Losses, limits: Limits, settings: Settings) -> Report:
    """The report of a drill of `url`."""
    findings = _findings(url, recording, losses, limits, settings)
    count = len(recording.shots)
    switched = ""
    if losses.first_new is not None:
        switched = f"; new version after {(losses.first_new - recording.swap_start) * 1e3:.0f} ms"
    tally = f"{losses.lost} lost, {len(losses.stale)} stale, {len(losses.frozen)} frozen of {count} requests{switched}"
    return Report(
        command="drill",
        findings=findings,
        facts=_facts(url, recording, losses, settings),
        inputs=1,
        headline=f"{'fail' if any(f.severity.rank for f in findings) else 'pass'}: {tally}",
        body=_body(recording, losses, settings),
        rules=rules.RULES,
    )


def _findings(url: str, recording: Recording, losses: Losses, limits: Limits, settings: Settings) -> list[Finding]:
    found: list[Finding] = []

    def add(rule: Any, message: str) -> None:
        found.append(rules.finding(rule, message, url))

    if recording.swap_code != 0:
        ended = f"ended with {recording.swap_code}" if recording.swap_code is not None else (
            f"was killed after {settings.swap_timeout:g} s"
        )  # fmt: skip
        said = recording.swap_output.splitlines()
        add(rules.SWAP, f"the swap command {ended}" + (f": {said[-1][:200]}" if said else ""))
    elif losses.unseen:
        add(rules.UNSEEN, losses.unseen)
    if losses.lost_before:
        add(rules.UNWELL, f"{losses.lost_before} requests failed before the swap")
    if losses.lost > limits.failed:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(losses.errors.items()))
        add(rules.LOST, f"{losses.lost} requests lost, allowed {limits.failed} ({kinds})")
    if len(losses.stale) > limits.stale:
        add(rules.STALE, f"{len(losses.stale)} answers of the old version after the new one, allowed {limits.stale}")
    if len(losses.frozen) > limits.frozen:
        longest = max(shot.done - shot.due for shot in losses.frozen)
        places = len({shot.connection for shot in losses.frozen})
        message = f"{len(losses.frozen)} requests on {places} of {settings.connections} connections stood still"
        add(rules.FROZEN, f"{message}, up to {longest:.2f} s; allowed {limits.frozen}")
    if losses.lying:
        add(rules.LYING, f"{losses.lying} answers of the new version carry the old label")
    _spike(losses, limits, add)
    # With more frozen by the server than allowed the verdict stands, whatever this client did on top.
    if losses.client_frozen and len(losses.frozen) <= limits.frozen:
        add(rules.CLIENT, f"{losses.client_frozen} requests were late by this client's doing, up to"
                          f" {losses.late_max * 1e3:.0f} ms")  # fmt: skip
    return found


def _spike(losses: Losses, limits: Limits, add: Any) -> None:
    calm, during = losses.phases[0], losses.phases[1]
    if not limits.spike or not calm.latencies or not during.latencies:
        return
    ratio = during.tail / calm.tail
    if ratio <= limits.spike:
        return
    # Would the spike be there without the time that this client lost itself?
    served = Phase("served", during.shots, sorted(s.took * 1e3 for s in during.shots if s.ok))
    words = f"the tail grew from {calm.tail:.1f} to {during.tail:.1f} ms, {ratio:.1f} times; allowed {limits.spike:g}"
    if served.tail / calm.tail > limits.spike:
        add(rules.SPIKE, words)
    else:
        add(rules.CLIENT, f"{words}, but this client's own lateness explains it")


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def _body(recording: Recording, losses: Losses, settings: Settings) -> list[Block]:
    columns = ["", "requests", "failed", "p50", "p99", "max"]
    rows: list[list[str]] = []
    for phase in losses.phases:
        points = [phase.point(quantile) for quantile in (0.5, 0.99)]
        cells = [f"{point.value:.2f}" if point else "too few" for point in points]
        most = f"{phase.latencies[-1]:.2f}" if phase.latencies else "-"
        rows.append([phase.name, str(len(phase.shots)), str(phase.failed), *cells, most])
    load = f"{settings.arrivals} {settings.rate:g}/s on {settings.connections} connections"
    body: list[Block] = [Table(columns, rows, f"Latency in ms from when each request was due ({load})",
                               frozenset(columns[1:]))]  # fmt: skip
    body.append(Table(["", "value"], _swap_rows(recording, losses), "Swap"))
    if losses.errors:
        wrong = [[kind, str(count), losses.examples[kind][:80]] for kind, count in sorted(losses.errors.items())]
        body.append(Table(["failure", "count", "example"], wrong, "Failures", frozenset({"count"})))
    if losses.frozen:
        body.append(_stalls(losses))
    body.append(Text(_timeline(recording), "Slowest request by when it was due"))
    if recording.swap_output and recording.swap_code != 0:
        body.append(Text(recording.swap_output, "Output of the swap command"))
    return body


def _swap_rows(recording: Recording, losses: Losses) -> list[list[str]]:
    rows = [["command took", f"{(recording.swap_end - recording.swap_start) * 1e3:.0f} ms"]]
    if losses.first_new is not None:
        rows.append(
            ["first new answer after command start", f"{(losses.first_new - recording.swap_start) * 1e3:.0f} ms"]
        )
        rows.append(["first new answer after command end", f"{(losses.first_new - recording.swap_end) * 1e3:+.0f} ms"])
    rows += [
        ["old fingerprint", losses.old or "-"],
        ["new fingerprint", losses.new or "-"],
        ["stale after the first new answer", str(len(losses.stale))],
        ["old answers after the command ended", str(losses.stale_after_command)],
        ["frozen (stall limit)", f"{len(losses.frozen)} ({losses.stall * 1e3:.0f} ms)"],
        ["seconds with a frozen request", f"{losses.stalled:.2f}"],
        ["this client's lateness, p99 and max", f"{losses.late_p99 * 1e3:.2f} and {losses.late_max * 1e3:.2f} ms"],
    ]
    return rows


def _stalls(losses: Losses) -> Table:
    worst: dict[int, float] = {}
    for shot in losses.frozen:
        worst[shot.connection] = max(worst.get(shot.connection, 0.0), shot.done - shot.due)
    counts = Counter(shot.connection for shot in losses.frozen)
    ordered = sorted(worst, key=lambda number: -worst[number])[:8]
    rows = [[str(number), str(counts[number]), f"{worst[number] * 1e3:.0f}"] for number in ordered]
    return Table(
        ["connection", "frozen", "longest ms"], rows, "Frozen, by connection", frozenset({"frozen", "longest ms"})
    )


def _timeline(recording: Recording) -> str:
    """One column per slice of the drill: the slowest request that was due then, and where the swap command ran."""
    width = recording.end / _BUCKETS
    tops = [0.0] * _BUCKETS
    broken = [False] * _BUCKETS
    for shot in recording.shots:
        at = min(_BUCKETS - 1, int(shot.due / width))
        tops[at] = max(tops[at], shot.done - shot.due)
        broken[at] = broken[at] or not shot.ok
    most = max(tops) or 1.0
    bars = "".join("x" if bad else _BARS[max(1, round(8 * top / most)) if top else 0]
                   for top, bad in zip(tops, broken, strict=True))  # fmt: skip
    start, stop = (min(_BUCKETS - 1, int(t / width)) for t in (recording.swap_start, recording.swap_end))
    line = " " * start + "^" * (stop - start + 1)
    return f"{bars}  up to {most * 1e3:.1f} ms; x: a request failed\n{line}  swap command"


def _facts(url: str, recording: Recording, losses: Losses, settings: Settings) -> dict[str, Any]:
    def phase(each: Phase) -> dict[str, Any]:
        points = {name: each.point(q) for name, q in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))}
        return {
            "requests": len(each.shots),
            "failed": each.failed,
            "latency_ms": {
                **{n: p and {"value": p.value, "low": p.low, "high": p.high} for n, p in points.items()},
                "max": each.latencies[-1] if each.latencies else None,
            },
        }

    start, end = recording.swap_start, recording.swap_end
    return {
        "url": url,
        "load": {
            "rate": settings.rate,
            "arrivals": settings.arrivals,
            "connections": settings.connections,
            "seed": settings.seed,
            "requests": len(recording.shots),
        },
        "phases": {each.name: phase(each) for each in losses.phases},
        "swap": {
            "exit_code": recording.swap_code,
            "command_ms": (end - start) * 1e3,
            "first_new_after_start_ms": _ms(None if losses.first_new is None else losses.first_new - start),
            "first_new_after_end_ms": _ms(None if losses.first_new is None else losses.first_new - end),
            "old": losses.old or None,
            "new": losses.new or None,
            "unseen": losses.unseen or None,
        },
        "lost": losses.lost,
        "lost_before": losses.lost_before,
        "errors": losses.errors,
        "stale": len(losses.stale),
        "stale_after_command": losses.stale_after_command,
        "frozen": len(losses.frozen),
        "stall_limit_ms": losses.stall * 1e3,
        "stalled_seconds": losses.stalled,
        "frozen_connections": sorted({shot.connection for shot in losses.frozen}),
        "lying_labels": losses.lying,
        "client": {
            "late_p99_ms": losses.late_p99 * 1e3,
            "late_max_ms": losses.late_max * 1e3,
            "frozen_by_client": losses.client_frozen,
        },
    }
