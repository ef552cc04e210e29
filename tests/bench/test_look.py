"""The gate as a whole keeps its promise when it looks several times at growing data."""

from __future__ import annotations

import numpy as np
from interlock.bench.verdict import Verdict, compare, overall

LOOKS, STEP, EACH = 3, 6, 40


def series(generator: np.random.Generator, shift: float) -> list[np.ndarray]:
    return [shift * np.exp(generator.normal(0, 0.01)) * generator.lognormal(0, 0.05, EACH) for _ in range(LOOKS * STEP)]


def decide(new: list[np.ndarray], old: list[np.ndarray], seed: int) -> Verdict:
    """Judge after every STEP rounds, stop when decided: what the benchmark does."""
    verdict = Verdict.INCONCLUSIVE
    for look in range(1, LOOKS + 1):
        count = look * STEP
        judged = compare(new[:count], old[:count], {"p50": 0.05}, alpha=0.05 / LOOKS, seed=seed)
        verdict = overall([each.verdict for each in judged])
        if verdict is not Verdict.INCONCLUSIVE:
            break
    return verdict


def test_several_looks_err_no_more_often_than_one() -> None:
    generator = np.random.default_rng(29)
    trials = 60
    # Exactly at the margin is the hardest place: each wrong way may come up in 5 % of trials.
    verdicts = [decide(series(generator, 1.05), series(generator, 1.0), seed) for seed in range(trials)]
    assert verdicts.count(Verdict.PASS) <= 0.15 * trials
    assert verdicts.count(Verdict.FAIL) <= 0.15 * trials


def test_clear_cases_are_decided_at_the_first_look() -> None:
    generator = np.random.default_rng(31)
    for seed in range(10):
        assert decide(series(generator, 1.0), series(generator, 1.0), seed) is Verdict.PASS
        assert decide(series(generator, 1.15), series(generator, 1.0), seed) is Verdict.FAIL
