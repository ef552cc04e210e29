"""What users lost in a drill, worked out from the recording alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from .connection import Shot
from .drill import Recording
from .stats import Interval, percentile, rank

# A request counts as frozen when it takes ten times the P99 before the swap, and a tenth of a second at least.
_FACTOR, _FLOOR = 10.0, 0.1


@dataclass(slots=True)
class Phase:
    """Requests of one phase; latencies in ms from when they were due, of those that were answered well, sorted."""

    name: str
    shots: list[Shot]
    latencies: list[float]

    @property
    def failed(self) -> int:
        """Requests that were not answered well."""
        return len(self.shots) - len(self.latencies)

    def point(self, quantile: float) -> Interval | None:
        """A percentile in ms, or None where there are too few."""
        return percentile(self.latencies, quantile)

    @property
    def tail(self) -> float:
        """The P99, or the maximum where there are too few for one, in ms."""
        p99 = self.point(0.99)
        return p99.value if p99 else (self.latencies[-1] if self.latencies else 0.0)


@dataclass(slots=True)
class Losses:
    """Counts of one drill. Seconds count from the start of the load, `stall` and latencies are as named.

    `first_new` is when the first answer of the new version was complete (None: never seen); `unseen` says why the
    swap cannot be seen. `stale` were sent after that and answered by the old version; `stale_after_command` were
    sent after the command returned. `frozen` took longer than `stall` seconds by the server's doing, `client_frozen`
    by this client's own doing. `stalled` are the seconds in which at least one request was frozen.
    """

    phases: list[Phase]
    stall: float
    old: str = ""
    new: str = ""
    first_new: float | None = None
    unseen: str = ""
    errors: dict[str, int] = field(default_factory=dict[str, int])
    examples: dict[str, str] = field(default_factory=dict[str, str])
    lost_before: int = 0
    lost: int = 0
    stale: list[Shot] = field(default_factory=list[Shot])
    stale_after_command: int = 0
    frozen: list[Shot] = field(default_factory=list[Shot])
    client_frozen: int = 0
    stalled: float = 0.0
    lying: int = 0
    late_p99: float = 0.0
    late_max: float = 0.0


def work_out(recording: Recording, *, stall_ms: float = 0.0, expect: str = "") -> Losses:
    """Count the losses. `stall_ms` 0 takes ten times the P99 before the swap; `expect` is the new fingerprint."""
    shots = recording.shots
    old, new, unseen, first_new = _switch(recording, expect)
    until = max(recording.swap_end, first_new if first_new is not None else 0.0)
    before = [s for s in shots if s.done < recording.swap_start]
    # A request that was under way when the swap began met it.
    during = [s for s in shots if s.done >= recording.swap_start and s.due <= until]
    after = [s for s in shots if s.due > until and s.done >= recording.swap_start]
    phases = [_phase("before", before), _phase("during", during), _phase("after", after)]
    calm = phases[0].latencies
    usual = calm[rank(len(calm), 0.99)] / 1e3 if calm else 0.0
    losses = Losses(phases, stall_ms / 1e3 or max(_FLOOR, _FACTOR * usual), old, new, first_new, unseen)
    losses.lost_before = phases[0].failed
    losses.lost = phases[1].failed + phases[2].failed
    _taxonomy(losses, shots)
    met = during + after
    if first_new is not None:
        losses.stale = [s for s in met if s.ok and s.fingerprint == old and s.sent > first_new]
    losses.stale_after_command = sum(s.ok and s.fingerprint == old and s.sent > recording.swap_end for s in met)
    slow = [s for s in met if s.ok and s.done - s.due > losses.stall]
    losses.frozen = [s for s in slow if s.took > losses.stall]
    losses.client_frozen = len(slow) - len(losses.frozen)
    losses.stalled = _union([(s.due, s.done) for s in losses.frozen])
    labels = Counter(s.label for s in before if s.ok)
    if labels and new:
        usual_label = labels.most_common(1)[0][0]
        losses.lying = sum(s.ok and s.fingerprint == new and s.label == usual_label != "" for s in met)
    lates = sorted(max(s.late, s.paused) for s in shots)
    if lates:
        losses.late_p99, losses.late_max = lates[rank(len(lates), 0.99)], lates[-1]
    return losses


def _phase(name: str, shots: list[Shot]) -> Phase:
    return Phase(name, shots, sorted((s.done - s.due) * 1e3 for s in shots if s.ok))


def _switch(recording: Recording, expect: str) -> tuple[str, str, str, float | None]:
    """(old fingerprint, new fingerprint, why the swap is not seen, when the new one was first seen)."""
    answers = [s for s in recording.shots if s.ok]
    before = Counter(s.fingerprint for s in answers if s.done < recording.swap_start)
    if not before:
        return "", "", "no request succeeded before the swap", None
    if len(before) > 1:
        reason = f"answers already differ before the swap ({len(before)} fingerprints)"
        return "", "", reason, None
    (old,) = before
    later = Counter(s.fingerprint for s in answers if s.done >= recording.swap_start and s.fingerprint != old)
    if not later:
        return old, "", f"every answer after the swap still has the fingerprint {old}", None
    if len(later) > 1:
        return old, "", f"answers after the swap differ among each other ({len(later)} fingerprints)", None
    (new,) = later
    if expect and new != expect:
        return old, new, f"the new fingerprint is {new}, not {expect}", None
    return old, new, "", min(s.done for s in answers if s.fingerprint == new)


def _taxonomy(losses: Losses, shots: Sequence[Shot]) -> None:
    for shot in shots:
        if shot.ok:
            continue
        kind = shot.error or f"status {shot.status}"
        losses.errors[kind] = losses.errors.get(kind, 0) + 1
        losses.examples.setdefault(kind, shot.detail)


def _union(spans: Sequence[tuple[float, float]]) -> float:
    """Length of the union of intervals."""
    total, reach = 0.0, float("-inf")
    for start, stop in sorted(spans):
        total += max(0.0, stop - max(start, reach))
        reach = max(reach, stop)
    return total
