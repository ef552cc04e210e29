"""Monitors: which labels they put on what they scrape."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..lazy import lazy
from ..sources.kubernetes import Resource
from ..sources.pods import Pod
from ..sources.yamlnodes import Map, Seq, text

ENDPOINTS = {
    "ServiceMonitor": "endpoints",
    "PodMonitor": "podMetricsEndpoints",
    "PodMonitoring": "endpoints",
    "ClusterPodMonitoring": "endpoints",
}
EMITS_VERSION = frozenset({"triton", "mlserver", "tfserving", "bentoml", "seldon"})
"""Runtimes whose own metrics carry the model version."""

_VERSION = lazy(r"version|revision|digest|\btag\b|track|variant|hash|release|canary|isvc", re.IGNORECASE)
_VERSION_LABEL = lazy(r"(^|[/._-])(version|revision|digest)$|^(track|variant)$", re.IGNORECASE)


def endpoints(monitor: Resource) -> list[Map]:
    """The scraped endpoints of a monitor."""
    return monitor.spec.get_maps(ENDPOINTS[monitor.kind])


def carries_version(monitor: Resource) -> bool:
    """Whether a monitor copies a label that tells versions apart, or rewrites one in."""
    return any(_VERSION.search(name) for name in _copied(monitor.spec)) or any(map(_relabels, endpoints(monitor)))


def _copied(spec: Map) -> Iterator[str]:
    for key in ("targetLabels", "podTargetLabels"):
        value = spec.get(key)
        if isinstance(value, Seq):
            yield from map(text, value)
        elif isinstance(value, Map):
            for entry in value.get_maps("fromPod"):
                yield entry.get_str("from")
                yield entry.get_str("to")


def _relabels(endpoint: Map) -> bool:
    for key in ("relabelings", "metricRelabelings", "metricRelabeling"):
        for rule in endpoint.get_maps(key):
            sources = rule.get("sourceLabels")
            names = [text(item) for item in sources] if isinstance(sources, Seq) else []
            if any(_VERSION.search(name) for name in [*names, rule.get_str("targetLabel")]):
                return True
            if rule.get_str("action").lower() == "labelmap" and "label" in rule.get_str("regex"):
                return True
    return False


def version_labels(pod: Pod) -> list[str]:
    """The labels of a pod template that name its version."""
    return [name for name in pod.labels if _VERSION_LABEL.search(name)]
