"""How many replicas a rollout leaves available, rounded as Kubernetes rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ....models.numerals import whole
from ..lazy import lazy
from ..sources.pods import Pod
from ..sources.yamlnodes import EMPTY, Map

_PERCENT = lazy(r"^\s*(\d+)\s*%\s*$")


@dataclass(frozen=True, slots=True)
class Strategy:
    """Where a rollout strategy stands: `holder` has the numbers, and `key` in `parent` leads to it."""

    parent: Map
    key: str
    holder: Map
    surge_default: str | int = "25%"
    unavailable_default: str | int = "25%"


def strategy_of(pod: Pod) -> Strategy | None:
    """The rolling-update numbers that are written down for a pod; None when all are defaults or another type rules."""
    spec, kind = pod.resource.spec, pod.resource.kind
    if kind == "Deployment":
        return _of(spec.get_map("strategy"), "rollingUpdate")
    if kind == "Rollout":
        return _of(spec.get_map("strategy"), "canary")
    if kind == "LeaderWorkerSet":
        return _of(spec.get_map("rolloutStrategy"), "rollingUpdateConfiguration", 0, 1)
    if kind == "InferenceService":
        return _of(pod.spec.get_map("deploymentStrategy"), "rollingUpdate")
    return None


def _of(parent: Map, key: str, surge: str | int = "25%", unavailable: str | int = "25%") -> Strategy | None:
    holder = parent.get(key)
    if not isinstance(holder, Map) or not {"maxSurge", "maxUnavailable"} & set(holder):
        return None
    return Strategy(parent, key, holder, surge, unavailable)


def absolute(value: Any, replicas: int, *, up: bool) -> int | None:
    """A number or percentage of replicas; surges round up, outages down. None for placeholders."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        if (number := whole(value.strip())) is not None:
            return number
        if found := _PERCENT.match(value):
            share = int(found.group(1)) * replicas
            return -(-share // 100) if up else share // 100
    return None


def available(strategy: Strategy, replicas: int) -> tuple[int, int, int] | None:
    """(replicas that stay, surge, outage) during a rollout; None when a number is unknown.

    Where both round to nothing Kubernetes takes one replica away, since no rollout could proceed otherwise.
    """
    surge = absolute(strategy.holder.get("maxSurge", strategy.surge_default), replicas, up=True)
    outage = absolute(strategy.holder.get("maxUnavailable", strategy.unavailable_default), replicas, up=False)
    if surge is None or outage is None:
        return None
    if surge == 0 and outage == 0:
        outage = 1
    return replicas - outage, surge, outage


def strategy_holder(pod: Pod) -> Map:
    """The `strategy` of a workload, empty when absent."""
    found = pod.resource.spec.get("strategy")
    return found if isinstance(found, Map) else EMPTY
