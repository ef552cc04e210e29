"""Is there passing, fresh evidence of every gate that a stage asks for, about exactly this version?"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from ..report.errors import Refused
from .descriptor import short
from .desk import Desk
from .evidence import Evidence, evidence_of
from .ledger import Ledger
from .policy import policy_digest
from .position import Position, position_of

_CLOCK_SKEW = 300.0


@dataclass(slots=True)
class Assessment:
    """The evidence that counts, and per gate why it does not."""

    used: list[Evidence] = field(default_factory=list[Evidence])
    problems: dict[str, str] = field(default_factory=dict[str, str])


def assess(desk: Desk, digest: str, position: Position) -> Assessment:
    """Judge the newest evidence of each gate. Raises BadInput on evidence that is damaged or forged."""
    trusted = [desk.config.resolve(key) for key in desk.config.settings.trust.keys]
    known = evidence_of(desk.store, digest, trusted)
    result = Assessment()
    for gate in desk.stage.gates:
        policy = policy_digest(gate, desk.config, desk.live(position))
        problem, evidence = _judge(desk, policy, [one for one in known if one.gate == gate])
        if problem:
            result.problems[gate] = problem
        elif evidence is not None:
            result.used.append(evidence)
    return result


def _judge(desk: Desk, policy: str, known: list[Evidence]) -> tuple[str, Evidence | None]:
    # A failure counts whoever reports it; only a pass must be vouched for.
    counted = [one for one in known if one.signer or not one.passed] if desk.stage.signed_evidence else known
    if not counted:
        return ("has no evidence signed by a trusted key" if known else "has not run on this version"), None
    fitting = [one for one in counted if one.policy == policy]
    if not fitting:
        return "ran under other settings, files or against another live version than today's", None
    newest = fitting[-1]
    if not newest.passed:
        return f"did not pass: {newest.reason}", None
    from ..signing.limits import duration

    limit = duration(desk.stage.max_age, f"stages.{desk.name}.max_age").total_seconds()
    if newest.age > limit:
        return f"ran {timedelta(seconds=round(newest.age))} ago, more than {desk.stage.max_age}", None
    if newest.age < -_CLOCK_SKEW:
        return f"is dated {newest.time}, in the future", None
    return "", newest


def require(desk: Desk, digest: str, position: Position, *, lift_hold: bool) -> list[Evidence]:
    """The evidence under which a version may enter a stage. Raises Refused naming all that is missing."""
    desk.needs_gates(Refused)
    what = f"{short(digest)} to {desk.name}"
    if (held := position.held.get(digest)) is not None and not lift_hold:
        hint = "fix what made it bad and publish that, or say --lift-hold to try the same bytes again"
        raise Refused(what, f"this version was rolled back from {desk.name}: {held}", hint=hint, code="REL-HELD")
    if desk.stage.from_:
        before = position_of(Ledger(desk.ledger.state, desk.stage.from_).events())
        if not any(event.target and event.target.registry == digest for event in before.good):
            reason = f"it has not been in {desk.stage.from_}, which {desk.name} asks for"
            hint = f"first: interlock promote {desk.registry.at(digest)} --to {desk.stage.from_}"
            raise Refused(what, reason, hint=hint, code="REL-ORDER")
    found = assess(desk, digest, position)
    if found.problems:
        told = "; ".join(f"{gate} {problem}" for gate, problem in found.problems.items())
        hint = f"run interlock gate --stage {desk.name} {desk.registry.at(digest)}"
        raise Refused(what, f"evidence is missing: {told}", hint=hint, code="REL-EVIDENCE")
    return found.used
