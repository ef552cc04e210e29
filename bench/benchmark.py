"""Measure one ONNX model, or a new version against the old one, side by side in one process."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from ..report.errors import BadInput, Refused
from .footprint import Footprint
from .footprint import measure as footprint
from .inputs import Plan, contract, make
from .measure import WARM_UP, Opener, Runner, Samples, rounds, run_delay, throughput, warm
from .providers import open_session
from .verdict import Judged, Verdict, compare, judge, overall, samples_needed

NEW, OLD, AGAIN = "new", "old", "old again"
_ALPHA = 0.05
_GOOD = 1000  # samples a side that a P99 deserves; fewer work down to 459
_MOST = 500  # requests a round: more of one session say little about the next
_PILOT = 20
_PATIENCE = 2.0

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """How to measure. Zero `requests` sizes the rounds to the time; `seconds` bounds the measuring as a whole."""

    providers: tuple[str, ...] = ()
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    domains: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    margins: Mapping[str, float] = field(default_factory=dict[str, float])
    rounds: int = 15
    max_rounds: int = 45
    requests: int = 0
    seconds: float = 60.0
    threads: int = 1
    seed: int = 0


@dataclass(slots=True)
class Outcome:
    """Everything measured. `rounds[i][arm]` are samples; `judged` and `control` are empty without an old version.
    `unfit` when the control is why there is no verdict."""

    footprints: dict[str, Footprint]
    plan: Plan
    rounds: list[dict[str, Samples]]
    requests: int
    basis: str
    throughput: dict[str, float]
    workers: int
    alpha: float = _ALPHA
    judged: list[Judged] = field(default_factory=list[Judged])
    control: list[Judged] = field(default_factory=list[Judged])
    verdict: Verdict = Verdict.PASS
    unfit: bool = False

    def pooled(self, arm: str, corrected: bool) -> list[float]:
        """All latencies of an arm in ms, sorted."""
        return sorted(value for each in self.rounds for value in _series(each[arm], corrected))


def _series(samples: Samples, corrected: bool) -> list[float]:
    return samples.corrected if corrected else samples.wall


def run(new: str, old: str | None, settings: Settings, progress: Progress = lambda _: None) -> Outcome:
    """Measure the ONNX file `new`, and compare it with `old` where given.

    Raises BadInput on a model that does not load or run, on contracts that do not take the same inputs, and on a
    time limit too short for the percentiles asked for; Refused when CUDA was asked for alone and does not run.
    """
    paths = {NEW: new} if old is None else {NEW: new, OLD: old}
    feet: dict[str, Footprint] = {}
    for arm, path in paths.items():
        progress(f"loading {path}")
        feet[arm] = footprint(
            path, providers=settings.providers, threads=settings.threads, shapes=settings.shapes,
            domains=settings.domains, seed=settings.seed,
        )  # fmt: skip
    plans = _plans(paths, settings)
    arms = {arm: _opener(paths[_model(arm)], plan, feet[_model(arm)].provider, settings) for arm, plan in plans.items()}
    requests, cost = _size(arms, settings, judged=old is not None)
    basis = "corrected" if settings.threads == 1 and _tells_delay() else "wall"
    workers = os.cpu_count() or 1
    rates: dict[str, float] = {}
    for arm, path in paths.items():
        progress(f"throughput of {path}")
        session = open_session(path, settings.providers, threads=settings.threads)
        rates[arm] = throughput(session, plans[arm], min(1.0, settings.seconds / 10), workers)
    outcome = Outcome(feet, plans[NEW], [], requests, basis, rates, workers)
    _measure(outcome, arms, settings, cost, progress)
    return outcome


def _tells_delay() -> bool:
    counter = run_delay()
    if counter is None:
        return False
    counter.close()
    return True


def _plans(paths: Mapping[str, str], settings: Settings) -> dict[str, Plan]:
    """The same feeds for both versions, made for the new one and tried on the old one."""
    shapes, plans, sides = settings.shapes, dict[str, Plan](), list[dict[str, str]]()
    for arm, path in paths.items():
        session = open_session(path, settings.providers, threads=settings.threads)
        sides.append({tensor.name: tensor.type for tensor in contract(session.raw)[0]})
        if sides[0] != sides[-1]:
            differ = sorted({name for name, _ in set(sides[0].items()) ^ set(sides[1].items())})
            raise BadInput(
                paths[NEW], f"takes other inputs than {path}: {', '.join(differ)}",
                hint="versions that clients must call differently cannot be compared; run interlock validate on them",
            )  # fmt: skip
        plans[arm] = make(session.raw, path, shapes=shapes, domains=settings.domains, seed=settings.seed)
        shapes = plans[arm].shapes
    if OLD in plans:
        plans[AGAIN] = plans[OLD]
    return plans


def _model(arm: str) -> str:
    return OLD if arm == AGAIN else arm


def _opener(path: str, plan: Plan, expected: str, settings: Settings) -> Opener:
    def open_() -> Runner:
        session = open_session(path, settings.providers, threads=settings.threads)
        if session.provider != expected:
            raise Refused(
                path, f"ran on {expected} first and on {session.provider} now: its figures would mix the two",
                hint="see interlock doctor, and whether another process took the GPU's memory",
            )  # fmt: skip
        return Runner(session, plan)

    return open_


def _size(arms: Mapping[str, Opener], settings: Settings, *, judged: bool) -> tuple[int, float]:
    """Requests per round and arm, and the seconds that a round is expected to take."""
    opened, each = _pilot(next(iter(arms.values())))
    least = samples_needed(settings.margins) if judged else 1
    per_round = math.ceil(least / settings.rounds)
    requests = settings.requests
    if requests and requests * settings.rounds < least:
        raise BadInput(
            "--requests", f"{requests} in each of {settings.rounds} rounds are too few to judge the percentiles:"
            f" they need {least} a side", hint=f"--requests {per_round}",
        )  # fmt: skip
    if not requests:
        # As many as fit when all rounds are needed, but enough for a good P99 if those of the first look fit.
        most = int(settings.seconds / settings.max_rounds / len(arms) / each) - WARM_UP
        good = min(math.ceil(_GOOD / settings.rounds), int(settings.seconds / settings.rounds / len(arms) / each))
        requests = max(per_round, good, min(_MOST, most))
    # Opening sessions is no measuring, but it must not make a gate of a minute one of an hour either.
    measuring = settings.rounds * len(arms) * (WARM_UP + requests) * each
    opening = settings.rounds * len(arms) * opened
    if measuring > 1.5 * settings.seconds or opening > 10 * settings.seconds:
        less = "judge the median only: --max-regression p50=5%" if judged and measuring > opening else "fewer --rounds"
        raise BadInput(
            "--seconds", f"{settings.seconds:g} s are too short: {settings.rounds} rounds of {requests} requests of"
            f" {each * 1e3:.3g} ms in {len(arms)} sessions take about {measuring + opening:.0f} s",
            hint=f"--seconds {math.ceil(max(measuring, opening / 10))}, or {less}",
        )  # fmt: skip
    return requests, (measuring + opening) / settings.rounds


def _pilot(open_: Opener) -> tuple[float, float]:
    """Seconds to open a session, and the median of a few requests in seconds."""
    start = time.perf_counter()
    runner = open_()
    opened = time.perf_counter() - start
    warm(runner)
    times: list[float] = []
    while len(times) < _PILOT and sum(times) < _PATIENCE:
        start = time.perf_counter()
        runner()
        runner.settle()
        times.append(time.perf_counter() - start)
    return opened, max(median(times), 1e-7)


def _measure(outcome: Outcome, arms: Mapping[str, Opener], settings: Settings, cost: float, progress: Progress) -> None:
    """Add rounds until the comparison is decided, they run out, or time does."""
    looks = max(1, math.ceil(settings.max_rounds / settings.rounds)) if OLD in arms else 1
    # Several looks at growing data would each have their chance to err: they share the risk (Bonferroni).
    outcome.alpha = _ALPHA / looks
    deadline = time.monotonic() + settings.seconds
    for look in range(looks):
        done = len(outcome.rounds)
        count = min(settings.rounds, settings.max_rounds - done) if look else settings.rounds
        outcome.rounds += rounds(
            dict(arms), count, outcome.requests, first=done,
            progress=lambda number: progress(f"round {number}, {outcome.requests} requests each"),
        )  # fmt: skip
        if OLD not in arms:
            return
        _judge(outcome, settings)
        late = time.monotonic() + settings.rounds * cost > deadline
        if outcome.verdict is not Verdict.INCONCLUSIVE or late:
            return


def _judge(outcome: Outcome, settings: Settings) -> None:
    corrected = outcome.basis == "corrected"
    arms = {arm: [_series(each[arm], corrected) for each in outcome.rounds] for arm in (NEW, OLD, AGAIN)}
    outcome.judged = compare(arms[NEW], arms[OLD], settings.margins, alpha=outcome.alpha, seed=settings.seed)
    control = compare(arms[AGAIN], arms[OLD], settings.margins, alpha=outcome.alpha, seed=settings.seed)
    # The control is two-sided: the same model looking faster disqualifies the machine as much.
    outcome.control = [
        Judged(
            c.metric, c.ratio, c.allowed, Verdict.FAIL if c.ratio.high < 1 / c.allowed else judge(c.ratio, c.allowed)
        )
        for c in control
    ]
    verdict = overall([each.verdict for each in outcome.judged])
    machine = overall([each.verdict for each in outcome.control])
    # A machine that cannot tell a model from itself proves nothing; one that is merely noisy still proves a failure.
    outcome.unfit = machine is Verdict.FAIL or (verdict is Verdict.PASS and machine is Verdict.INCONCLUSIVE)
    outcome.verdict = Verdict.INCONCLUSIVE if outcome.unfit else verdict
