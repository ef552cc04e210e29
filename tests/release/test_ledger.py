"""The ledger: any event that was edited, removed or moved is found; two writers never share a number."""

from __future__ import annotations

import json
import os
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interlock.release.descriptor import canonical, digest_of
from interlock.release.ledger import GENESIS, Event, Ledger, Pair
from interlock.release.position import position_of
from interlock.release.run import history, status
from interlock.report.errors import BadInput, InterlockError, NothingToCheck

PAIR = Pair(digest_of(b"a"), digest_of(b"a"))


def append(ledger: Ledger, head: Event | None, **changes: Any) -> Event:
    members = {"request": "r", "kind": "promote", "op": "begin", "source": None, "target": PAIR, **changes}
    return ledger.append(head, **members)


def chain(state: Path, length: int) -> Ledger:
    ledger = Ledger(state, "prod")
    head = None
    for number in range(length):
        head = append(ledger, head, request=f"r{number}", reason="because")
    return ledger


def test_events_are_chained_and_read_back(tmp_path: Path) -> None:
    ledger = chain(tmp_path, 4)
    events = ledger.events()
    assert [event.seq for event in events] == [1, 2, 3, 4]
    assert events[0].prev == GENESIS
    assert all(later.prev == earlier.digest for earlier, later in pairwise(events))
    assert events[2].target == PAIR and events[2].source is None and events[2].reason == "because"
    path = tmp_path / "ledger" / "prod" / "00000003.json"
    assert events[2].digest == digest_of(path.read_bytes())


def test_two_writers_do_not_share_a_number(tmp_path: Path) -> None:
    ledger = chain(tmp_path, 2)
    head = ledger.events()[-1]
    append(ledger, head, request="first")
    with pytest.raises(InterlockError, match="another writer was first") as caught:
        append(ledger, head, request="second")
    assert caught.value.exit_code == 2 and caught.value.code == "REL-BUSY"
    assert [event.request for event in ledger.events()] == ["r0", "r1", "first"]
    assert len(list((tmp_path / "ledger" / "prod").iterdir())) == 3


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_tampering_is_found(tmp_path_factory: Any, data: Any) -> None:
    state = tmp_path_factory.mktemp("ledger")
    ledger = chain(state, 6)
    folder = state / "ledger" / "prod"
    number = data.draw(st.integers(1, 5))
    path, after = folder / f"{number:08d}.json", folder / f"{number + 1:08d}.json"
    how = data.draw(st.sampled_from(["edit", "remove", "swap", "flip", "empty", "truncate"]))
    raw = path.read_bytes()
    if how == "edit":
        tree = json.loads(raw)
        key = data.draw(st.sampled_from(["actor", "reason", "request", "time", "op", "kind"]))
        tree[key] = {"op": "done", "kind": "rollback"}.get(key, "someone else")
        path.chmod(0o644)
        path.write_bytes(canonical(tree) + b"\n")
    elif how == "remove":
        path.unlink()
    elif how == "swap":
        other = folder / "swap"
        path.rename(other)
        after.rename(path)
        other.rename(after)
    else:
        position = data.draw(st.integers(0, len(raw) - 1))
        bit = bytes([raw[position] ^ (1 << data.draw(st.integers(0, 7)))])
        changed = {"flip": raw[:position] + bit + raw[position + 1 :], "empty": b"", "truncate": raw[:position]}[how]
        path.chmod(0o644)
        path.write_bytes(changed)
    with pytest.raises(BadInput) as caught:
        ledger.events()
    assert caught.value.hint


def test_a_ledger_with_its_end_cut_off_is_found_by_the_pointer(live: Any, helpers: Any) -> None:
    folder = live.layout / ".interlock" / "ledger" / "prod"
    for path in sorted(folder.iterdir())[3:]:
        path.unlink()
    assert Ledger(live.layout / ".interlock", "prod").events()  # what is left is a whole chain
    report = status(config=live.config)
    assert report.exit_code == 1
    shutil.rmtree(folder)
    report = status(config=live.config)
    assert report.exit_code == 1 and "the ledger was cut" in helpers.said(report)


def test_status_and_history_refuse_a_broken_chain(live: Any) -> None:
    path = live.layout / ".interlock" / "ledger" / "prod" / "00000002.json"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b"prod-1", b"prod-2"))
    with pytest.raises(BadInput, match="chain is broken"):
        history(config=live.config)
    report = status(config=live.config)
    assert report.exit_code == 2 and "chain is broken" in str(report.error)
    assert (
        report.facts["stages"]["staging"]["state"] == "ok" and report.facts["stages"]["prod"]["state"] == "unreadable"
    )
    done = live.cli("status")
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_history_tells_who_moved_what(live: Any) -> None:
    report = history("prod", config=live.config)
    events = report.facts["stages"]["prod"]
    assert [event["op"] for event in events] == ["begin", "gated", "staged", "loaded", "pointed", "done"]
    assert {event["to"]["registry"] for event in events} == {live.one}
    assert events[0]["from"] is None and "@" in events[0]["actor"]
    assert set(history(config=live.config).facts["stages"]) == {"staging", "prod"}
    with pytest.raises(BadInput, match="no stage"):
        history("prd", config=live.config)


def test_history_of_nothing(published: Any) -> None:
    with pytest.raises(NothingToCheck):
        history(config=published.config)


DIGESTS = [digest_of(bytes([n])) for n in range(4)]


@given(st.lists(st.tuples(st.sampled_from(["promote", "rollback", "abort"]), st.integers(0, 3)), max_size=30))
def test_the_position_is_a_stack_of_good_pairs(moves: list[tuple[str, int]]) -> None:
    """Against a plain model: promote pushes, rollback pops back to the version before, abort changes nothing."""
    events: list[Event] = []
    stack: list[str] = []

    def add(kind: Any, op: Any, digest: str) -> None:
        seq = len(events) + 1
        events.append(
            Event(
                seq=seq, prev="", time="t", actor="a", stage="s", request=f"r{seq}", kind=kind, op=op, source=None,
                target=Pair(digest),
            )
        )  # fmt: skip

    for move, number in moves:
        digest = DIGESTS[number]
        if move == "rollback":
            before = next((d for d in reversed(stack[:-1]) if d != stack[-1]), None)
            if before is None:
                continue
            add("rollback", "begin", before)
            add("rollback", "done", before)
            while stack[-1] != before:
                stack.pop()
        else:
            add("promote", "begin", digest)
            add("promote", "done" if move == "promote" else "abort", digest)
            if move == "promote":
                stack.append(digest)
    position = position_of(events)
    assert [event.target.registry for event in position.good if event.target] == stack
    assert position.current == (Pair(stack[-1]) if stack else None)
    assert not position.open


def test_a_stage_name_is_never_a_path(tmp_path: Path) -> None:
    for name in ("../x", "a/b", "", ".", "-x", "x" * 200):
        with pytest.raises(BadInput):
            Ledger(tmp_path, name)
    assert os.listdir(tmp_path) == []
