"""Percentiles with confidence intervals, and the interval of a ratio of percentiles between two versions.

Requests of one session are not independent of each other (a session's memory layout stays for its life), so the
unit that is resampled is the round of fresh sessions, not the request.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

# Beyond this chance of the tail being unseen a percentile is not reported: P99 needs 459 samples.
_UNSEEN = 0.01
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Interval:
    """A point estimate between its confidence bounds, in the unit of what was estimated."""

    value: float
    low: float
    high: float


def needed(quantile: float) -> int:
    """Fewest samples for a quantile: with one less, more than 1 % of samples hold nothing beyond it.

    From `1 - quantile**n >= 0.99`, the zero-failure case of binomial early stopping.
    """
    rarer = max(quantile, 1 - quantile)
    return math.ceil(math.log(_UNSEEN) / math.log(rarer))


def percentile(ordered: Sequence[float], quantile: float, confidence: float = 0.95) -> Interval | None:
    """A quantile of sorted samples by nearest rank, with the distribution-free interval of order statistics.

    None below `needed(quantile)` samples. The interval assumes independent samples: within one session it is
    optimistic, so gates use `ratio` instead.
    """
    n = len(ordered)
    if n < needed(quantile):
        return None
    low, high = ranks(n, quantile, confidence)
    return Interval(ordered[rank(n, quantile)], ordered[low], ordered[high])


def rank(n: int, quantile: float) -> int:
    """Index of the nearest-rank quantile among `n` sorted samples: the smallest i with (i + 1) / n >= quantile."""
    return min(n - 1, max(0, math.ceil(quantile * n - 1e-9) - 1))


def ranks(n: int, quantile: float, confidence: float) -> tuple[int, int]:
    """Indices (low, high) of the order statistics that hold the quantile with at least `confidence`, where they exist.

    The number of samples below the true quantile is Binomial(n, quantile); each bound leaves half of the rest out.
    """
    tail = (1 - confidence) / 2
    log_p, log_q = math.log(quantile), math.log1p(-quantile)
    spread = 10 * math.sqrt(n * quantile * (1 - quantile)) + 10
    start, stop = max(0, int(n * quantile - spread)), min(n, int(n * quantile + spread) + 1)
    low, high, cumulated = 0, n - 1, 0.0
    found_low = False
    for k in range(start, stop + 1):
        # x[i] (from 0) lies below the true quantile exactly if at least i + 1 samples do.
        log_choose = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        cumulated += math.exp(log_choose + k * log_p + (n - k) * log_q)
        if not found_low and cumulated > tail:
            low, found_low = max(0, k - 1), True
        if cumulated >= 1 - tail:
            high = min(n - 1, k)
            break
    return low, high


def student(probability: float, freedom: int) -> float:
    """Quantile of Student's t by its expansion in the normal quantile (Abramowitz and Stegun 26.7.5).

    Good to 2 % from 3 degrees of freedom on for the probabilities used here; exact for 1 and 2.
    """
    if freedom == 1:
        return math.tan(math.pi * (probability - 0.5))
    if freedom == 2:
        return (2 * probability - 1) / math.sqrt(2 * probability * (1 - probability))
    z = NormalDist().inv_cdf(probability)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return sum(term / freedom**i for i, term in enumerate(terms))


def ratio(
    new: Sequence[Sequence[float]],
    old: Sequence[Sequence[float]],
    quantile: float,
    *,
    alpha: float = 0.05,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """Quantile of `new` divided by that of `old`, with one-sided bounds that each err with probability `alpha`.

    `new[i]` and `old[i]` are the samples of round i. Cluster bootstrap: rounds are drawn with replacement, the same
    ones on both sides (they shared the machine's mood), samples pooled, quantiles divided. Percentile bounds are
    expanded for the few rounds as in Hesterberg (2015), "What Teachers Should Know About the Bootstrap", 5.1.

    No resample lies beyond the most extreme round: so few rounds that all of them err on one side more often than
    `alpha` also get the bounds of Student's t on the logarithms of their own ratios, and the wider ones count.
    """
    import numpy as np

    rounds = len(new)
    if rounds < 2 or rounds != len(old):
        raise ValueError("ratio needs the same two or more rounds on both sides")
    counts = np.random.default_rng(seed).multinomial(rounds, [1 / rounds] * rounds, size=resamples)
    above, below = _Pool(new), _Pool(old)
    ratios = above.quantiles(counts, quantile) / below.quantiles(counts, quantile)
    whole = np.ones((1, rounds), dtype=np.int64)
    point = float(above.quantiles(whole, quantile)[0] / below.quantiles(whole, quantile)[0])
    expanded = NormalDist().cdf(student(alpha, rounds - 1) * math.sqrt(rounds / (rounds - 1)))
    low, high = np.quantile(ratios, [expanded, 1 - expanded])
    if 0.5**rounds > alpha:
        each = np.eye(rounds, dtype=np.int64)
        logs = np.log(above.quantiles(each, quantile) / below.quantiles(each, quantile))
        reach = student(1 - alpha, rounds - 1) * float(logs.std(ddof=1)) / math.sqrt(rounds)
        low, high = min(low, point * math.exp(-reach)), max(high, point * math.exp(reach))
    return Interval(point, min(point, float(low)), max(point, float(high)))


class _Pool:
    """Samples of all rounds sorted once, so that a resample's quantile is one weighted lookup."""

    def __init__(self, rounds: Sequence[Sequence[float]]) -> None:
        import numpy as np

        values = np.concatenate([np.asarray(samples, dtype=float) for samples in rounds])
        owner = np.repeat(np.arange(len(rounds)), [len(samples) for samples in rounds])
        order = np.argsort(values, kind="stable")
        self.values: Any = values[order]
        self.owner: Any = owner[order]
        self.sizes: Any = np.array([len(samples) for samples in rounds])

    def quantiles(self, counts: Any, quantile: float) -> Any:
        """The pooled nearest-rank quantile of each resample; `counts[b, r]` is how often b drew round r."""
        import numpy as np

        out = np.empty(len(counts))
        target = np.maximum(np.ceil(quantile * (counts @ self.sizes) - 1e-9), 1)
        step = max(1, 4_000_000 // max(1, len(self.values)))
        for start in range(0, len(counts), step):
            part = slice(start, start + step)
            reached = np.cumsum(counts[part][:, self.owner], axis=1, dtype=np.int32) >= target[part, None]
            out[part] = self.values[np.argmax(reached, axis=1)]
        return out
