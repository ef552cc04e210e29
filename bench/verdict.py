"""Pass, fail or inconclusive: a regression gate that says so when it cannot tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..report.errors import BadInput
from .stats import Interval, needed, ratio

DEFAULT_MARGINS = {"p50": 0.05, "p99": 0.10}
_QUANTILES = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}


class Verdict(StrEnum):
    """What a comparison says about a regression larger than its margin."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Judged:
    """One percentile compared: new/old as an interval, the largest ratio allowed, and the verdict."""

    metric: str
    ratio: Interval
    allowed: float
    verdict: Verdict


def judge(interval: Interval, allowed: float) -> Verdict:
    """Pass when even the upper bound is allowed, fail when even the lower one is not, else inconclusive."""
    if interval.high <= allowed:
        return Verdict.PASS
    return Verdict.FAIL if interval.low > allowed else Verdict.INCONCLUSIVE


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """The worst one; fail is worse than inconclusive."""
    for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE):
        if verdict in verdicts:
            return verdict
    return Verdict.PASS


def quantile(metric: str) -> float:
    """`p99` -> 0.99. Raises BadInput on an unknown name."""
    if metric not in _QUANTILES:
        raise BadInput(f"max_regression {metric}", "unknown percentile", hint=f"use one of {', '.join(_QUANTILES)}")
    return _QUANTILES[metric]


def margins(given: Mapping[str, str]) -> dict[str, float]:
    """`{"p50": "5%"}` -> `{"p50": 0.05}`; the defaults where nothing is given.

    Raises BadInput on anything but a percentage above zero: without a margin, any two sessions differ.
    """
    if not given:
        return dict(DEFAULT_MARGINS)
    found: dict[str, float] = {}
    for metric, text in given.items():
        quantile(metric)
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", text)
        if not match or not 0 < float(match.group(1)) <= 1000:
            raise BadInput(f"max_regression {metric}", f"{text!r} is not a percentage above zero", hint="write 5%")
        found[metric] = float(match.group(1)) / 100
    return found


def samples_needed(metrics: Mapping[str, float]) -> int:
    """Fewest samples a side for the rarest percentile asked for."""
    return max(needed(quantile(metric)) for metric in metrics)


def compare(
    new: Sequence[Sequence[float]],
    old: Sequence[Sequence[float]],
    allowed: Mapping[str, float],
    *,
    alpha: float = 0.05,
    seed: int = 0,
) -> list[Judged]:
    """Judge every percentile of `allowed` (name -> margin) on rounds of samples; `alpha` is the risk of each bound."""
    judged: list[Judged] = []
    for metric, margin in allowed.items():
        interval = ratio(new, old, quantile(metric), alpha=alpha, seed=seed)
        judged.append(Judged(metric, interval, 1 + margin, judge(interval, 1 + margin)))
    return judged
