"""promote and rollback: which request may begin or go on, under the stage's lock."""

from __future__ import annotations

from ..report.errors import BadInput, InterlockError, Refused
from ..report.report import Report
from .assess import require
from .descriptor import short
from .desk import Desk
from .ledger import Event, Kind, Pair
from .lock import exclusive
from .movement import Movement, anchors, pair_of
from .position import Position, version


def promote_version(desk: Desk, text: str, *, request: str, reason: str, lift_hold: bool) -> Report:
    """Move a version to the stage, or finish the open request that does.

    Raises Refused without passing evidence, InterlockError when another promotion is at work or unfinished, BadInput
    when the version cannot be read whole.
    """
    digest = desk.digest_of(text)
    target = pair_of(desk, digest)
    with _alone(desk, f"promote {short(digest)}"):
        position = desk.position()
        _check_request(desk, position, request, "promote", target)
        if _finished(position, request):
            return _report(desk, "promote", position.requests[request][-1], changed=False)
        evidence: tuple[str, ...] = ()
        repairs = version(position.current) == digest
        if position.open:
            _continue_only(desk, position, "promote", target)
        elif repairs and anchors(desk) == (target.registry, target.serving):
            return _report(desk, "promote", position.good[-1], changed=False)
        # The last good pair needs no new evidence to be put back where something else moved an anchor.
        if not repairs and not position.reached("gated"):
            try:
                evidence = tuple(one.digest for one in require(desk, digest, position, lift_hold=lift_hold))
            except Refused as refusal:
                if position.open:
                    Movement(desk, position.open).restore(position.open[0].source, f"failed: {refusal}")
                raise
        if position.open:
            movement = Movement(desk, position.open)
        else:
            movement = Movement.start(desk, position, "promote", request=request, target=target, reason=reason)
        return _report(desk, "promote", movement.run(evidence), changed=True)


def rollback_stage(desk: Desk, to: str, *, request: str, reason: str) -> Report:
    """Put the last good pair before the current one back, both sides; an unfinished promotion is withdrawn instead.

    Raises Refused when there is no earlier pair.
    """
    with _alone(desk, "rollback"):
        position = desk.position()
        if _finished(position, request):
            return _report(desk, "rollback", position.requests[request][-1], changed=False)
        if position.open and position.open[0].kind == "promote":
            opened = position.open[0]
            event = Movement(desk, position.open).restore(opened.source, reason or "withdrawn by rollback")
            return _withdrawn(desk, event)
        target = position.open[0].target if position.open else _earlier(desk, position, to)
        assert target is not None  # noqa: S101 - begin is never written without one
        _check_request(desk, position, request, "rollback", target)
        if position.open:
            if to and desk.digest_of(to) != target.registry:
                _continue_only(desk, position, "rollback", pair_of(desk, desk.digest_of(to)))
            movement = Movement(desk, position.open)
        else:
            movement = Movement.start(desk, position, "rollback", request=request, target=target, reason=reason)
        return _report(desk, "rollback", movement.run(), changed=True)


def _alone(desk: Desk, doing: str):
    return exclusive(desk.ledger.lock, f"stage {desk.name}", doing=doing)


def _check_request(desk: Desk, position: Position, request: str, kind: Kind, target: Pair) -> None:
    """The same request id means the same wish; whoever says otherwise has a bug that must not move anything."""
    events = position.requests.get(request)
    if not request or not events:
        return
    begin = events[0]
    if (begin.kind, version(begin.target)) != (kind, target.registry):
        wish = f"{begin.kind} {short(begin.target.registry) if begin.target else 'nothing'}"
        reason = f"request {request!r} of stage {desk.name} was to {wish}"
        raise BadInput("--request-id", reason, hint="use a new request id for a new wish")
    if events[-1].op == "abort":
        reason = f"request {request!r} was given up: {events[-1].reason}"
        raise BadInput("--request-id", reason, hint="use a new request id")


def _finished(position: Position, request: str) -> bool:
    events = position.requests.get(request)
    return bool(request and events and events[-1].op == "done")


def _continue_only(desk: Desk, position: Position, kind: Kind, target: Pair) -> None:
    begin = position.open[0]
    if (begin.kind, version(begin.target)) == (kind, target.registry):
        return
    wish = f"{begin.kind} of {short(begin.target.registry) if begin.target else 'nothing'}"
    again = f"interlock rollback --in {desk.name}"
    if begin.kind == "promote" and begin.target:
        again = f"interlock promote {begin.target.registry} --to {desk.name}, or give it up: {again}"
    reason = f"a {wish} by {begin.actor} has been unfinished since {begin.time}"
    raise InterlockError(f"stage {desk.name}", reason, hint=f"finish it: {again}", code="REL-OPEN")


def _earlier(desk: Desk, position: Position, to: str) -> Pair:
    if position.current is None:
        hint = f"promote a first version: interlock promote REF --to {desk.name}"
        raise Refused(f"stage {desk.name}", "nothing was ever promoted to it", hint=hint)
    if to:
        digest = desk.digest_of(to)
        found = next((e.target for e in reversed(position.good[:-1]) if e.target and e.target.registry == digest), None)
        if found is None or digest == version(position.current):
            reason = f"{short(digest)} is no earlier good version of this stage"
            raise Refused(f"stage {desk.name}", reason, hint=f"see interlock history --stage {desk.name}")
        return pair_of(desk, digest)
    if position.previous is None:
        hint = "promote another version instead"
        raise Refused(f"stage {desk.name}", "there is no good version before the current one", hint=hint)
    return pair_of(desk, position.previous.registry)


def _report(desk: Desk, command: str, event: Event, *, changed: bool) -> Report:
    target = event.target
    digest = target.registry if target else ""
    facts = {
        "stage": desk.name,
        "digest": digest,
        "from": event.source.registry if event.source else None,
        "serving": desk.serving.place if desk.serving else None,
        "request": event.request,
        "event": event.seq,
        "evidence": [one for e in desk.ledger.events() if e.request == event.request for one in e.evidence],
        "changed": changed,
    }
    where = f"tag {desk.name}" + (f" and {desk.serving.place}" if desk.serving else "; the stage serves nowhere")
    verb = "promoted" if command == "promote" else "rolled back to"
    text = f"{verb} {digest}: {where} (request {event.request})"
    if not changed:
        text = f"nothing to do: {desk.name} has {digest} already (request {event.request})"
    return Report(command=command, facts=facts, inputs=1, headline=text, fail_on=None)


def _withdrawn(desk: Desk, event: Event) -> Report:
    source = event.source.registry if event.source else ""
    facts = {
        "stage": desk.name,
        "digest": source or None,
        "withdrawn": event.target.registry if event.target else None,
        "request": event.request,
        "event": event.seq,
        "changed": True,
    }
    text = f"withdrawn: the unfinished promotion {event.request}; {desk.name} has {source or 'no version'} again"
    return Report(command="rollback", facts=facts, inputs=1, headline=text, fail_on=None)
