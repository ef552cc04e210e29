"""Report: what a command returns. The exit code and every output format are functions of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from . import exits
from .blocks import Block
from .errors import InterlockError
from .finding import Finding, Severity
from .rule import Rule

SCHEMA = "interlock.report/1"


@dataclass(slots=True, kw_only=True)
class Report:
    """Findings and facts of one run.

    `inputs` counts what was looked at and `unread` what could not be read; something unread is an error with `strict`,
    and always where nothing else was looked at. `fail_on` is the lowest severity that makes the gate say no (None:
    findings never do). `refused` is a one-line reason to say no that is not a finding; `error` what stopped the run.
    `headline` is the one-line verdict shown last; `body` holds the blocks that human and markdown draw; `payload` is
    the raw result of commands whose product is text on stdout (rendered manifests). `rules` documents the rules that
    ran, for SARIF and links.
    """

    command: str
    findings: list[Finding] = field(default_factory=list[Finding])
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    inputs: int = 0
    unread: int = 0
    strict: bool = False
    fail_on: Severity | None = Severity.WARNING
    refused: str = ""
    error: InterlockError | None = None
    headline: str = ""
    body: list[Block] = field(default_factory=list[Block])
    payload: str = ""
    rules: tuple[Rule, ...] = ()

    def count(self, severity: Severity) -> int:
        """How many findings of a severity stand, suppressed ones left out."""
        return sum(f.severity is severity and f.suppressed is None for f in self.findings)

    @property
    def suppressed(self) -> int:
        """How many findings the user silenced with a reason."""
        return sum(f.suppressed is not None for f in self.findings)

    @property
    def verdict(self) -> str:
        """`pass`, `fail` or `error`."""
        if self.error is not None:
            return "fail" if self.error.exit_code == exits.REFUSED else "error"
        if self.unread and (self.strict or not self.inputs):
            return "error"
        return "fail" if self.refused or any(map(self.fails, self.findings)) else "pass"

    def fails(self, finding: Finding) -> bool:
        """Whether this finding alone makes the gate say no."""
        if self.fail_on is None or finding.suppressed is not None:
            return False
        return finding.severity.rank >= self.fail_on.rank

    @property
    def exit_code(self) -> int:
        """The process exit code of `exits`: an unread input never makes a pass of nothing."""
        if self.error is not None:
            return self.error.exit_code
        if self.verdict == "error":
            return exits.BAD_INPUT
        if self.verdict == "fail":
            return exits.REFUSED
        return exits.PASS if self.inputs else exits.NOTHING


def failed(command: str, error: InterlockError) -> Report:
    """The report of a run that an error stopped."""
    return Report(command=command, error=error, headline=f"{command}: {error}")


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by path, line, column and rule, so that output does not depend on the order rules ran in."""

    def key(finding: Finding) -> tuple[str, int, int, str, str]:
        where = finding.where
        if where is None:
            return ("", 0, 0, finding.rule, finding.message)
        return (where.path, where.line or 0, where.column or 0, finding.rule, finding.message)

    return sorted(findings, key=key)
