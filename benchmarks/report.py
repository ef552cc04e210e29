"""Report formats over 10,000 findings against their floor: json.dumps of the same findings."""

from __future__ import annotations

import json
import statistics
import sys
import time

from interlock.report import formats
from interlock.report.finding import Finding, Location, Severity
from interlock.report.json import document
from interlock.report.report import Report

FINDINGS, ROUNDS = 10_000, 5


def report() -> Report:
    """Findings of every severity over a thousand files that are not there, so that no frame is read."""
    severities = list(Severity)
    return Report(
        command="lint",
        inputs=1000,
        findings=[
            Finding(
                rule=f"HU{100 + n % 60}",
                name="a-rule",
                severity=severities[n % 3],
                message=f"container server{n} does what it should not",
                where=Location(f"deploy/{n % 1000}.yaml", n % 90 + 1, 5, n % 90 + 1, 20, f"Deployment/x{n}", "/spec"),
                why="it costs requests",
                hint="write it the other way",
            )
            for n in range(FINDINGS)
        ],
    )


def main() -> int:
    """Print medians and ratios; formats take turns in one run."""
    subject = report()
    data = document(subject)
    times: dict[str, list[float]] = {"floor: json.dumps": [], **{name: [] for name in formats.NAMES}}
    size: dict[str, int] = {}
    for _ in range(ROUNDS):
        for name, taken in times.items():
            start = time.perf_counter()
            text = formats.render(name, subject) if name in formats.NAMES else json.dumps(data, indent=2)
            taken.append((time.perf_counter() - start) * 1e3)
            size[name] = len(text)
    floor = statistics.median(times["floor: json.dumps"])
    sys.stdout.write(f"{FINDINGS} findings, medians of {ROUNDS} interleaved rounds\n")
    for name, taken in times.items():
        median = statistics.median(taken)
        sys.stdout.write(f"{name:<18} {median:7.0f} ms  {median / floor:5.2f} x floor  {size[name] / 1e6:6.2f} MB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
