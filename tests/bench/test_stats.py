"""The statistics keep their promises on series whose truth is known."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interlock.bench import stats, verdict
from interlock.report.errors import BadInput


@pytest.mark.parametrize(("quantile", "count"), [(0.5, 7), (0.9, 44), (0.95, 90), (0.99, 459), (0.999, 4603)])
def test_fewest_samples_for_a_percentile(quantile: float, count: int) -> None:
    assert stats.needed(quantile) == count
    assert stats.percentile([1.0] * (count - 1), quantile) is None
    assert stats.percentile([1.0] * count, quantile) == stats.Interval(1.0, 1.0, 1.0)


@given(st.integers(10, 3000), st.sampled_from([0.5, 0.9, 0.95, 0.99]), st.sampled_from([0.9, 0.95, 0.99]))
def test_ranks_hold_their_binomial_confidence(n: int, quantile: float, confidence: float) -> None:
    low, high = stats.ranks(n, quantile, confidence)
    assert 0 <= low <= stats.rank(n, quantile) <= high < n

    def chance(k: int) -> float:  # P(Binomial(n, quantile) <= k), the plain sum
        terms = (
            math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1)
            + i * math.log(quantile) + (n - i) * math.log1p(-quantile)
            for i in range(k + 1)
        )  # fmt: skip
        return sum(map(math.exp, terms))

    tail = (1 - confidence) / 2
    if low > 0:  # x[low] is above the quantile only if at most `low` samples are below it
        assert chance(low) <= tail + 1e-9
    if high < n - 1:
        assert 1 - chance(high) <= tail + 1e-9


def test_interval_of_a_percentile_covers_the_truth() -> None:
    generator = random.Random(7)
    truth = -math.log(1 - 0.99)
    hits = 0
    for _ in range(300):
        interval = stats.percentile(sorted(generator.expovariate(1) for _ in range(1000)), 0.99)
        assert interval is not None
        hits += interval.low <= truth <= interval.high
    assert hits >= 0.93 * 300


@given(st.integers(459, 900), st.integers(0, 2**32), st.sampled_from([1, 3, 1000]))
def test_percentiles_are_ordered_and_within_the_samples(count: int, seed: int, distinct: int) -> None:
    generator = random.Random(seed)
    values = sorted(generator.randrange(distinct) + generator.random() * (distinct > 3) for _ in range(count))
    points = [stats.percentile(values, q) for q in (0.5, 0.9, 0.95, 0.99)]
    found = [point for point in points if point is not None]
    assert len(found) == 4
    assert all(a.value <= b.value for a, b in pairwise(found))
    assert all(values[0] <= p.low <= p.value <= p.high <= values[-1] for p in found)


@pytest.mark.parametrize(("probability", "freedom", "value"), [
    (0.975, 14, 2.1448), (0.95, 14, 1.7613), (0.95, 4, 2.1318), (0.9917, 14, 2.7181), (0.05, 14, -1.7613),
    (0.95, 1, 6.3138), (0.95, 2, 2.9200), (0.99, 2, 6.9646), (0.95, 3, 2.3534),
])  # fmt: skip
def test_student_quantiles(probability: float, freedom: int, value: float) -> None:
    assert stats.student(probability, freedom) == pytest.approx(value, rel=0.01)


def series(generator: np.random.Generator, rounds: int, each: int, shift: float = 1.0) -> list[np.ndarray]:
    """Latencies with a heavy tail, whose sessions differ by 1 % for their whole life (as measured sessions do)."""
    made = []
    for _ in range(rounds):
        values = generator.lognormal(0, 0.05, each) * np.exp(generator.normal(0, 0.01))
        values += (generator.random(each) < 0.02) * generator.exponential(0.3, each)
        made.append(values * shift)
    return made


@pytest.mark.parametrize(("quantile", "margin"), [(0.5, 0.05), (0.99, 0.10)])
def test_a_model_against_itself_is_never_failed(quantile: float, margin: float) -> None:
    generator = np.random.default_rng(11)
    for seed in range(120):
        new, old = series(generator, 15, 40), series(generator, 15, 40)
        interval = stats.ratio(new, old, quantile, seed=seed, resamples=500)
        assert verdict.judge(interval, 1 + margin) is not verdict.Verdict.FAIL


@pytest.mark.parametrize(
    ("rounds", "quantile"), [(15, 0.5), (15, 0.99), (2, 0.5), (3, 0.5), (3, 0.99), (4, 0.5), (5, 0.99)]
)
def test_one_sided_bounds_err_about_as_often_as_they_say(rounds: int, quantile: float) -> None:
    generator = np.random.default_rng(13)
    low = high = 0
    trials = 200
    for seed in range(trials):
        new, old = series(generator, rounds, 40, 1.1), series(generator, rounds, 40)
        interval = stats.ratio(new, old, quantile, seed=seed, resamples=500)
        low += interval.low > 1.1
        high += interval.high < 1.1
    # 5 % each is promised; twice that is four standard deviations off.
    assert max(low, high) <= 0.10 * trials


def test_a_real_regression_is_failed_and_a_faster_model_passes() -> None:
    generator = np.random.default_rng(17)
    for seed in range(20):
        slow = stats.ratio(series(generator, 15, 40, 1.2), series(generator, 15, 40), 0.5, seed=seed, resamples=500)
        fast = stats.ratio(series(generator, 15, 40, 0.8), series(generator, 15, 40), 0.5, seed=seed, resamples=500)
        assert verdict.judge(slow, 1.05) is verdict.Verdict.FAIL
        assert verdict.judge(fast, 1.05) is verdict.Verdict.PASS


@given(st.floats(1.01, 3), st.integers(0, 1000))
def test_scaling_the_new_side_scales_the_interval(factor: float, seed: int) -> None:
    generator = np.random.default_rng(seed)
    new, old = series(generator, 5, 20), series(generator, 5, 20)
    plain = stats.ratio(new, old, 0.5, seed=1, resamples=100)
    scaled = stats.ratio([samples * factor for samples in new], old, 0.5, seed=1, resamples=100)
    for a, b in ((plain.low, scaled.low), (plain.value, scaled.value), (plain.high, scaled.high)):
        assert b == pytest.approx(a * factor)


def test_smaller_risk_gives_wider_bounds() -> None:
    generator = np.random.default_rng(3)
    new, old = series(generator, 15, 40), series(generator, 15, 40)
    wide, narrow = (stats.ratio(new, old, 0.99, alpha=alpha) for alpha in (0.01, 0.1))
    assert wide.low <= narrow.low <= narrow.value <= narrow.high <= wide.high


def test_weighted_lookup_equals_pooling() -> None:
    """The bootstrap's shortcut gives the same quantile as building each resample."""
    generator = np.random.default_rng(5)
    rounds = [generator.random(n) for n in (3, 8, 5, 13)]
    counts = generator.multinomial(4, [0.25] * 4, size=50)
    found = stats._Pool(rounds).quantiles(counts, 0.9)
    for row, value in zip(counts, found, strict=True):
        pooled = sorted(x for count, samples in zip(row, rounds, strict=True) for x in list(samples) * count)
        assert value == pooled[stats.rank(len(pooled), 0.9)]


@given(st.floats(0.5, 2), st.floats(0, 0.5), st.floats(0, 0.5), st.floats(1.001, 1.5))
def test_the_three_verdicts_exclude_each_other(value: float, down: float, up: float, allowed: float) -> None:
    interval = stats.Interval(value, value - down, value + up)
    judged = verdict.judge(interval, allowed)
    assert (judged is verdict.Verdict.PASS) == (interval.high <= allowed)
    assert (judged is verdict.Verdict.FAIL) == (interval.low > allowed)


def test_overall_is_the_worst() -> None:
    ok, no, unsure = verdict.Verdict.PASS, verdict.Verdict.FAIL, verdict.Verdict.INCONCLUSIVE
    assert verdict.overall([ok, ok]) is ok
    assert verdict.overall([ok, unsure]) is unsure
    assert verdict.overall([unsure, no, ok]) is no


def test_margins() -> None:
    assert verdict.margins({}) == {"p50": 0.05, "p99": 0.10}
    assert verdict.margins({"p95": " 7.5 % "}) == {"p95": pytest.approx(0.075)}


@pytest.mark.parametrize(("metric", "text"), [("p42", "5%"), ("p50", "5"), ("p50", "0%"), ("p50", "-3%"), ("p50", "")])
def test_margins_that_are_none(metric: str, text: str) -> None:
    with pytest.raises(BadInput):
        verdict.margins({metric: text})
