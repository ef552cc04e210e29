"""HU501: an alert, recording rule or objective that adds up all versions of a model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..lazy import lazy
from ..rulebase import Context
from ..sources.rules_file import MetricQuery
from .series import is_serving, picks_version, tells_versions

RULE = Rule(
    id="HU501",
    name="version-aggregated-away",
    family="HU5",
    severity=Severity.WARNING,
    summary="alert or recording rule whose aggregation drops every version label",
    what="Expressions of alerts, recording rules and objectives over the latency, error and request metrics of a known "
    "model server, where an aggregation (sum, avg, max, count, also below histogram_quantile) leaves no label that "
    "tells two versions or two pods apart: model_version, version, revision, pod, instance and the like.",
    why="During a canary the new version serves a few percent of the requests. In a sum over all versions its errors "
    "disappear in those of the old one, so the alert that should stop the rollout stays silent "
    "(argoproj/argo-rollouts#3802 describes the same mix for analyses).",
    hint="add the version label to the aggregation, for example sum by (le, model_name, model_version) (...)",
    bad="""\
groups:
  - name: slo
    rules:
      - alert: HighLatency
        expr: histogram_quantile(0.99, sum by (le) (rate(vllm:e2e_request_latency_seconds_bucket[5m]))) > 5
""",
    good="""\
groups:
  - name: slo
    rules:
      - alert: HighLatency
        expr: >-
          histogram_quantile(0.99, sum by (le, model_version)
          (rate(vllm:e2e_request_latency_seconds_bucket[5m]))) > 5
""",
    exemptions=(
        "expressions without aggregation: rate(a) / rate(b) keeps the version label",
        "groups for autoscaling, capacity, usage or cost, and metrics of saturation (queue length, cache, GPU)",
        "queries that pick one version by a matcher, and metrics of the control plane",
    ),
    references=(
        "https://github.com/argoproj/argo-rollouts/issues/3802",
        "https://prometheus.io/docs/prometheus/latest/querying/operators/#aggregation-operators",
    ),
    reads=("rules",),
)

_CAPACITY_GROUP = lazy(r"auto-?scal|scaling|capacity|cost|billing|usage|quota", re.IGNORECASE)
_WHAT = {"alert": "alert", "record": "recording rule", "slo": "objective"}


def check(query: MetricQuery, ctx: Context) -> Iterator[Finding]:
    """Judge one expression."""
    if query.kind not in _WHAT or query.query is None or _CAPACITY_GROUP.search(query.group):
        return
    if tells_versions(query.query.labels):
        return
    for selector in query.query.selectors:
        dropped = bool(selector.aggregations) and not tells_versions(selector.labels)
        if dropped and is_serving(selector.metric) and not picks_version(selector):
            subject = f"{_WHAT[query.kind]} {query.name}"
            mixed = f"{selector.aggregations[0]} over {selector.metric} mixes all versions"
            yield ctx.finding(RULE, query.at, f"{subject}: {mixed}")
            return
