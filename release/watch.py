"""status and history: what the anchors show, what the ledger says they should, and which of them moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..config.load import Config
from ..report.blocks import Block, Table
from ..report.errors import InterlockError, NothingToCheck
from ..report.finding import Finding
from ..report.report import Report, ordered
from ..report.rule import Rule
from .descriptor import short
from .desk import Desk, open_desk, registry_of, state_of
from .ledger import Event, Ledger, stages_in
from .lock import held_by
from .movement import anchors
from .position import Position, version
from .reference import open_store
from .rules import DAMAGE, GATES, LEDGER, OPEN, RULES, SERVING, TAG, finding
from .store import load


@dataclass(slots=True)
class Standing:
    """One stage as it stands. Digests are empty where there is none; `problems` say what disagrees,
    `notes` what else a person should know."""

    stage: str
    good: str = ""
    tag: str = ""
    serving: str = ""
    serves: bool = False
    since: str = ""
    request: str = ""
    problems: list[Finding] = field(default_factory=list[Finding])
    notes: list[Finding] = field(default_factory=list[Finding])
    error: InterlockError | None = None

    @property
    def word(self) -> str:
        """`ok`, `drift`, `empty` or `unreadable`."""
        if self.error is not None:
            return "unreadable"
        if self.problems:
            return "drift"
        return "ok" if self.good else "empty"

    def row(self) -> list[str]:
        """The stage's line in the table."""
        serving = short(self.serving) if self.serves else "-"
        return [self.stage, self.word, short(self.good), short(self.tag), serving, self.since or "-"]


def stage_status(config: Config, only: str, *, verify: bool) -> Report:
    """Compare both anchors of every stage with its last good pair; with `verify` every byte of what is served too.

    What cannot be read is an error (exit 2), a disagreement a refusal (exit 1).
    """
    names = [only] if only else list(config.settings.stages)
    if not names:
        hint = "declare stages: {staging: {gates: [verify]}, prod: {from: staging, gates: [verify]}}"
        raise NothingToCheck(config.path or "interlock.yaml", "no stages are declared", hint=hint)
    standings = [_standing(open_desk(name, config), verify=verify) for name in names]
    report = Report(
        command="status",
        inputs=len(standings),
        body=[Table(("stage", "state", "last good", "tag", "serving", "since"), [one.row() for one in standings])],
        facts={"stages": {one.stage: _facts(one) for one in standings}},
        findings=ordered(each for one in standings for each in (*one.problems, *one.notes)),
        headline=_headline(standings),
        rules=RULES,
    )
    report.error = next((one.error for one in standings if one.error is not None), None)
    return report


def _headline(standings: Sequence[Standing]) -> str:
    bad = [one.stage for one in standings if one.word not in ("ok", "empty")]
    if not bad:
        return "both anchors of every stage agree with the ledger"
    return f"{', '.join(bad)}: not as the ledger says"


def _facts(one: Standing) -> dict[str, object]:
    return {
        "state": one.word,
        "good": one.good or None,
        "tag": one.tag or None,
        "serving": one.serving or None,
        "since": one.since or None,
        "request": one.request or None,
        "problems": [problem.message for problem in one.problems] + ([str(one.error)] if one.error else []),
    }


def _standing(desk: Desk, *, verify: bool) -> Standing:
    result = Standing(desk.name, serves=desk.serving is not None)
    if not desk.stage.gates:
        result.notes = [finding(GATES, desk.name, str(desk.config.path or ""), GATES.summary)]
    try:
        position = desk.position()
        result.tag, result.serving = anchors(desk)
        if position.current is not None:
            result.good = position.current.registry
            result.since, result.request = position.good[-1].time, position.good[-1].request
        result.problems = _problems(desk, position, result)
        result.problems += [] if result.problems else _damage(desk, result.serving, verify=verify)
    except InterlockError as error:
        result.error = error
    return result


def _problems(desk: Desk, position: Position, one: Standing) -> list[Finding]:
    def problem(rule: Rule, message: str, hint: str = "") -> Finding:
        return finding(rule, desk.name, str(desk.config.path or ""), message, hint)

    if position.open:
        begin = position.open[0]
        wish = f"a {begin.kind} of {short(version(begin.target))} ({begin.request})"
        if at_work := held_by(desk.ledger.lock):
            return [problem(OPEN, f"{wish} is under way: {at_work}", "wait until it is done")]
        hint = f"run it again, or put the last good pair back: interlock rollback --in {desk.name}"
        return [problem(OPEN, f"{wish} by {begin.actor} is unfinished since {begin.time}", hint)]
    found = [problem(LEDGER, said) for said in _cut(desk, position)]
    last = f"the last good version is {short(one.good)}" + (f" since {one.since}" if one.since else "")
    back = f"put the last good pair back: interlock promote {one.good} --to {desk.name}" if one.good else ""
    if one.tag != one.good:
        found.append(problem(TAG, f"the tag moved behind the ledger: it names {short(one.tag)}, {last}", back))
    if desk.serving is not None and one.serving != one.good:
        message = f"the serving side moved behind the ledger: it serves {short(one.serving)}, {last}"
        found.append(problem(SERVING, message, back))
    return found


def _cut(desk: Desk, position: Position) -> list[str]:
    """A pointer names the event that moved it; a ledger without that event lost its end or was made anew."""
    named = desk.serving.event() if desk.serving else None
    if named is None:
        return []
    events = {event.seq: event.digest for chain in position.requests.values() for event in chain}
    if events.get(named[0]) == named[1]:
        return []
    return [f"the ledger was cut: version.json was moved by its event {named[0]} ({short(named[1])}), which it lacks"]


def _damage(desk: Desk, serving: str, *, verify: bool) -> list[Finding]:
    """What is wrong with the bytes behind the anchors, sizes always, contents with `verify`."""
    try:
        if desk.serving is not None and serving:
            desk.serving.check(load(desk.store, serving), verify=verify)
        elif verify and (digest := anchors(desk)[0]):
            desk.store.verify(load(desk.store, digest))
    except InterlockError as error:
        return [finding(DAMAGE, desk.name, str(desk.config.path or ""), f"the version is damaged: {error}")]
    return []


def stage_history(config: Config, only: str, *, limit: int) -> Report:
    """The requests of one stage or of all, newest last, from ledgers whose chains hold. Raises BadInput on a broken
    chain, NothingToCheck when nothing was ever promoted."""
    store = open_store(registry_of(config))
    state = state_of(config, store)
    known = list(dict.fromkeys([*config.settings.stages, *stages_in(state)]))
    names = [open_desk(only, config).name] if only and only not in known else [only] if only else known
    chains = {name: Ledger(state, name).events() for name in names}
    total = sum(map(len, chains.values()))
    if not total:
        what = f"stage {only}" if only else store.name
        raise NothingToCheck(what, "nothing was ever promoted", hint="interlock promote REF --to STAGE")
    body: list[Block] = [_table(name, events, limit) for name, events in chains.items() if events]
    return Report(
        command="history",
        inputs=total,
        body=body,
        facts={"stages": {name: list(map(_event_facts, events)) for name, events in chains.items()}},
        headline=f"{total} events, every chain holds",
        fail_on=None,
    )


def _event_facts(event: Event) -> dict[str, object]:
    return {**event.to_json(), "digest": event.digest}


def _table(stage: str, events: Sequence[Event], limit: int) -> Table:
    requests: dict[str, list[Event]] = {}
    for event in events:
        requests.setdefault(event.request, []).append(event)
    rows: list[list[str]] = []
    for chain in list(requests.values())[-limit if limit > 0 else 0 :]:
        begin, last = chain[0], chain[-1]
        state = {"done": "done", "abort": "given up"}.get(last.op, f"open at {last.op}")
        move = " -> ".join(short(pair.registry) if pair else "none" for pair in (begin.source, begin.target))
        seqs = f"{begin.seq}-{last.seq}"
        rows.append([seqs, begin.time, begin.kind, move, state, begin.actor, begin.request, last.reason])
    columns = ("events", "began", "what", "from -> to", "state", "by", "request", "reason")
    return Table(columns, rows, title=stage)
