"""Losses worked out from recordings whose truth is known, and the schedules."""

from __future__ import annotations

import itertools
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interlock.bench import losses, rules
from interlock.bench.connection import Shot
from interlock.bench.drill import Recording, Settings
from interlock.bench.drilled import Limits, report
from interlock.bench.load import arrivals


def shot(due: float, took: float = 0.002, fingerprint: str = "1", **more: object) -> Shot:
    late = float(more.pop("late", 0.0))  # type: ignore[arg-type]
    made = Shot(due, late, due + late, due + took, connection=0, status=200, fingerprint=fingerprint)
    for name, value in more.items():
        setattr(made, name, value)
    return made


def recording(*special: Shot, switch: float = 11.0, end: float = 20.0, code: int | None = 0) -> Recording:
    """100 requests/s of 2 ms; swap command from 10 to 12 s, new version from `switch` on; `special` added."""
    shots = [shot(i / 100, fingerprint="1" if i / 100 < switch else "2") for i in range(int(end * 100))]
    return Recording([*shots, *special], 10.0, 12.0, end, code, "")


def test_a_clean_recording() -> None:
    found = losses.work_out(recording())
    assert (found.old, found.new, found.unseen) == ("1", "2", "")
    assert found.first_new == pytest.approx(11.002)
    assert (found.lost, found.lost_before, found.frozen, found.stale, found.stalled) == (0, 0, [], [], 0.0)
    assert [len(phase.shots) for phase in found.phases] == [1000, 201, 799]
    assert found.stall == pytest.approx(0.1)


def test_a_request_under_way_at_the_swap_belongs_to_it() -> None:
    found = losses.work_out(recording(shot(9.9, took=1.5, connection=3)))
    assert [s.due for s in found.frozen] == [9.9]
    assert found.stalled == pytest.approx(1.5)


def test_stalled_seconds_are_a_union() -> None:
    found = losses.work_out(recording(shot(10.0, 0.5), shot(10.2, 0.5), shot(11.5, 0.25, "2")))
    assert found.stalled == pytest.approx(0.95)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=12))
def test_union_counts_each_instant_once(spans: list[tuple[int, int]]) -> None:
    covered = set(itertools.chain.from_iterable(range(start, start + length) for start, length in spans))
    assert losses._union([(float(a), float(a + n)) for a, n in spans]) == len(covered)


def test_stale_is_what_was_sent_after_the_first_new_answer() -> None:
    found = losses.work_out(recording(shot(10.9, 0.3, "1"), shot(11.5, fingerprint="1"), shot(13.0, fingerprint="1")))
    # The first was sent before any new answer: a slow old answer is not a stale one.
    assert [s.due for s in found.stale] == [11.5, 13.0]
    assert found.stale_after_command == 1


def test_swaps_that_cannot_be_seen() -> None:
    assert "still has the fingerprint 1" in losses.work_out(recording(switch=99)).unseen
    assert "already differ" in losses.work_out(recording(shot(5, fingerprint="9"))).unseen
    assert "differ among each other" in losses.work_out(recording(shot(15, fingerprint="9"))).unseen
    assert "not 3" in losses.work_out(recording(), expect="3").unseen
    assert losses.work_out(recording(), expect="2").unseen == ""


def test_failures_are_told_apart_by_phase_and_kind() -> None:
    bad = [shot(5, error="reset"), shot(10.5, status=503), shot(15, error="timeout", detail="no answer in 10 s")]
    found = losses.work_out(recording(*bad))
    assert (found.lost_before, found.lost) == (1, 2)
    assert found.errors == {"reset": 1, "status 503": 1, "timeout": 1}
    assert found.examples["timeout"] == "no answer in 10 s"


def test_the_clients_own_lateness_is_not_the_servers() -> None:
    found = losses.work_out(recording(shot(10.5, took=0.4, late=0.395)))
    assert found.frozen == []
    assert found.client_frozen == 1
    made = report("http://x/", recording(), found, Limits(), Settings())
    assert [f.rule for f in made.findings] == [rules.CLIENT.id]
    assert made.exit_code == 1
    # The same for an answer that lay unread while the client stood still.
    assert losses.work_out(recording(shot(10.5, took=0.4, paused=0.395))).frozen == []
    # Late and frozen by the server on top: the server is to blame.
    assert len(losses.work_out(recording(shot(10.5, took=0.8, late=0.395))).frozen) == 1


@pytest.mark.parametrize(("late", "rule"), [(0.0, rules.SPIKE), (0.058, rules.CLIENT)])
def test_a_spike_is_charged_to_whoever_made_it(late: float, rule: object) -> None:
    taken = recording(*(shot(10.5 + i / 1000, took=0.06, late=late) for i in range(10)))
    found = losses.work_out(taken)
    made = report("http://x/", taken, found, Limits(spike=5), Settings())
    assert [f.rule for f in made.findings] == [rule.id]
    assert report("http://x/", taken, found, Limits(spike=50), Settings()).exit_code == 0
    assert report("http://x/", taken, found, Limits(), Settings()).exit_code == 0


def test_limits() -> None:
    taken = recording(shot(10.5, status=500), shot(11.5, fingerprint="1"), shot(10.1, took=0.7))
    found = losses.work_out(taken)
    strict = report("http://x/", taken, found, Limits(), Settings())
    assert [f.rule for f in strict.findings] == [rules.LOST.id, rules.STALE.id, rules.FROZEN.id]
    assert report("http://x/", taken, found, Limits(1, 1, 1), Settings()).exit_code == 0


def test_lying_labels() -> None:
    taken = recording()
    for each in taken.shots:
        each.label = "a"
    assert losses.work_out(taken).lying == 900
    for each in taken.shots:
        each.label = each.fingerprint
    assert losses.work_out(taken).lying == 0


@given(st.floats(1, 2000), st.integers(0, 1000), st.sampled_from(["poisson", "constant"]))
def test_schedules_go_forward_at_their_rate(rate: float, seed: int, kind: str) -> None:
    times = list(itertools.islice(arrivals(rate, kind, seed), 400))
    assert all(a < b for a, b in pairwise(times))
    assert times == list(itertools.islice(arrivals(rate, kind, seed), 400))
    # The sum of 400 exponential gaps has a relative deviation of 5 %.
    assert times[-1] * rate / 400 == pytest.approx(1, abs=0.3)
