"""From findings to one verdict: equal < hot < unproven < restart < breaks, after the project's own judgement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Literal, cast

from ...config.settings import Accepted, Contract
from ...report.errors import BadInput
from ...report.finding import Location
from . import registry
from .rulebase import LEVELS, SEVERITY, Finding, Level

FailOn = Literal["breaks", "restart", "unproven", "any"]

# Unproven counts as restart: what was not shown to be safe needs the careful way. `unproven` tolerates a restart
# that is known to suffice, but not the unknown.
_FAILING: dict[str, frozenset[str]] = {
    "breaks": frozenset({"breaks"}),
    "unproven": frozenset({"breaks", "unproven"}),
    "restart": frozenset({"breaks", "unproven", "restart"}),
    "any": frozenset({"breaks", "unproven", "restart", "hot"}),
}


def judged(findings: Iterable[Finding], contract: Contract, today: date | None = None) -> list[Finding]:
    """The findings with the levels and accepted exceptions of interlock.yaml applied.

    An exception whose day is over silences nothing (`ended` tells of it). Raises BadInput where one has no rule or
    reason, where its last day is none, and where a rule that is named does not exist.
    """
    now = today or datetime.now(UTC).date()
    for key, names in (("levels", contract.levels), ("accept", [each.rule for each in contract.accept])):
        for name in names:
            _exists(name, f"contract.{key}")
    accepted = [(each, _last_day(each)) for each in contract.accept]
    result: list[Finding] = []
    for finding in findings:
        current = finding
        if current.rule in contract.levels:
            level = cast("Level", contract.levels[current.rule])
            current = replace(current, level=level, severity=SEVERITY[level])
        ours = [(each, until) for each, until in accepted if each.rule == current.rule]
        standing = [(each, until) for each, until in ours if until is None or now <= until]
        reason = _excused(current, standing)
        if reason:
            current = replace(current, suppressed=reason)
        result.append(current)
    return result


def ended(contract: Contract, today: date | None = None) -> list[str]:
    """The accepted exceptions whose day is over, in words. `judged` has read them all."""
    now = today or datetime.now(UTC).date()
    days = [(each, _last_day(each)) for each in contract.accept]
    over = [each for each, until in days if until is not None and until < now]
    return [
        f"the exception for {each.rule}{f' on {each.path}' if each.path else ''} ended on {each.until}" for each in over
    ]


def _exists(name: str, where: str) -> None:
    known = registry.ids()
    if name and name not in known:
        from difflib import get_close_matches  # costs start-up, and few mistype

        close = get_close_matches(name.upper(), known, n=1)
        hint = f"did you mean '{close[0]}'?" if close else "interlock rules lists them"
        raise BadInput(where, f"there is no rule {name!r}", hint=hint)


def _last_day(accepted: Accepted) -> date | None:
    """None where the exception has no end."""
    name = f"contract.accept for {accepted.rule or 'a rule without id'}"
    if not accepted.rule or not accepted.reason:
        raise BadInput(name, "needs rule and reason", hint="an exception says what it accepts, and why")
    if not accepted.until:
        return None
    try:
        return date.fromisoformat(accepted.until)
    except ValueError as error:
        raise BadInput(name, f"until is {accepted.until!r}, not a day", hint="write YYYY-MM-DD") from error


def _excused(finding: Finding, accepted: list[tuple[Accepted, date | None]]) -> str:
    """The reasons that cover everything a finding is about, empty where one of its places is left."""
    reasons: dict[str, None] = {}
    for where in finding.covers or (finding.where,):
        found = [pair for pair in accepted if _covers(pair[0], where)]
        if not found:
            return ""
        each, until = found[-1]
        reasons[f"{each.reason} (until {until.isoformat()})" if until else each.reason] = None
    return "; ".join(reasons)


def _covers(accepted: Accepted, where: Location | None) -> bool:
    path = accepted.path.removeprefix("./")
    if not path or where is None:
        return not path
    return path in (where.object, where.path) or where.path.endswith(f"/{path}")


def verdict(findings: Iterable[Finding], *, identical: bool) -> Level:
    """The worst level of the findings that stand; up to `hot`, it is `equal` where the models are identical, else not.

    `equal` is said only of models known to hold the same bytes, whatever the findings are.
    """
    worst = max((LEVELS.index(cast("Level", f.level)) for f in findings if f.suppressed is None), default=0)
    if worst <= LEVELS.index("hot"):
        return "equal" if identical else "hot"
    return LEVELS[worst]


def fails(level: Level, fail_on: FailOn) -> bool:
    """Whether the gate says no to this verdict."""
    return level in _FAILING[fail_on]
