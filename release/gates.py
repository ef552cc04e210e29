"""The gates of a stage: each runs another room on the very bytes that would be served; what cannot run did not pass."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..config.load import Config
from ..models.errors import UnreadableModel
from ..report.errors import InterlockError
from ..report.report import Report
from .naming import named, report_named, why_not
from .policy import lint_paths
from .tree import SIGNATURE_SUFFIX


@dataclass(frozen=True, slots=True)
class Bench:
    """The version on the bench: its files, what it is called, and those of the version it would replace."""

    path: Path
    name: str
    old_path: Path | None
    old_name: str
    config: Config


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a gate found. `report` is None when it could not run at all; `reason` is one line."""

    passed: bool
    reason: str
    report: Report | None = None

    @property
    def summary(self) -> dict[str, Any]:
        """Counts and verdict, for the evidence."""
        if self.report is None:
            return {"verdict": "error"}
        counts = {severity: self.report.count(severity) for severity in _severities()}
        return {"verdict": self.report.verdict, "exit_code": self.report.exit_code, **counts}


def _severities() -> list[Any]:
    from ..report.finding import Severity

    return list(Severity)


def run_gate(gate: str, bench: Bench) -> Outcome:
    """Run one gate. An error of the room, a missing extra or an unreadable model is a gate that did not pass."""
    names = {bench.path: bench.name, **({bench.old_path: bench.old_name} if bench.old_path else {})}
    try:
        report = report_named(lambda: _GATES[gate](bench), names)
    except InterlockError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return Outcome(False, f"could not run: {error}{hint}")
    except (UnreadableModel, OSError, ImportError) as error:
        return Outcome(False, named(f"could not run: {error}", names))
    if report.exit_code == 0:
        return Outcome(True, report.headline or "passed", report)
    return Outcome(False, why_not(report, bench.name), report)


def subject_of(folder: Path) -> Path:
    """What a signature covers: the directory, or the one file in it when only that and its signature are there."""
    names = sorted(os.listdir(folder))  # noqa: PTH208
    if len(names) == 2 and names[1] == names[0] + SIGNATURE_SUFFIX:
        return folder / names[0]
    return folder


def run_verify(folder: Path, config: Config) -> Report:
    """Verify the signature of a version against the trust settings."""
    from ..signing.run import verify

    return verify(subject_of(folder), trust=config.settings.trust, base=config.root)


def _verify(bench: Bench) -> Report:
    return run_verify(bench.path, bench.config)


def _lint(bench: Bench) -> Report:
    from ..checks.lint.run import lint

    lint_paths(bench.config)
    return lint(settings=bench.config, strict=True)


def _validate(bench: Bench) -> Report:
    from ..checks.validate.run import validate

    contract, names = bench.config.settings.contract, (bench.name, bench.old_name)
    return validate(bench.path, bench.old_path, contract=contract, names=names)


def _bench(bench: Bench) -> Report:
    from ..bench.run import benchmark

    old = str(bench.old_path) if bench.old_path else None
    config = str(bench.config.path) if bench.config.path else None
    return benchmark(str(bench.path), old, names=(bench.name, bench.old_name), config=config)


_GATES: dict[str, Callable[[Bench], Report]] = {
    "lint": _lint,
    "verify": _verify,
    "validate": _validate,
    "bench": _bench,
}
