"""HU505: a canary analysis that measures the stable version too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.rules_file import MetricQuery
from .series import is_any_serving, picks_version

RULE = Rule(
    id="HU505",
    name="mixed-analysis",
    family="HU5",
    severity=Severity.WARNING,
    summary="canary analysis whose query does not choose the canary",
    what="Prometheus metrics of Argo AnalysisTemplates and Flagger MetricTemplates that read a serving or request "
    "metric with no matcher that picks the canary: a pod template hash, a service, a revision, a version or a template "
    "argument.",
    why="The query mixes canary and stable: with one request in ten on the canary, its errors vanish in the average "
    "and the rollout goes on (argoproj/argo-rollouts#3802).",
    hint='match the canary, for instance {rollouts_pod_template_hash="{{args.canary-hash}}"}',
    bad="""\
kind: AnalysisTemplate
spec:
  metrics:
    - name: errors
      provider: {prometheus: {query: "sum(rate(vllm:request_failure_total[5m]))"}}
""",
    good="""\
kind: AnalysisTemplate
spec:
  args: [{name: canary-hash}]
  metrics:
    - name: errors
      provider:
        prometheus:
          query: 'sum(rate(vllm:request_failure_total{rollouts_pod_template_hash="{{args.canary-hash}}"}[5m]))'
""",
    exemptions=(
        "queries with a template argument anywhere in a matcher: what it stands for is decided elsewhere",
        "metrics that are not about answers of a server",
    ),
    references=("https://github.com/argoproj/argo-rollouts/issues/3802",),
    reads=("rules",),
)

_REQUESTS = re.compile(
    r"(^|_)(http|grpc|istio|envoy|nginx|requests?|inference|predict)(_|$).*(total|count|bucket|seconds|sum)$"
)
_TEMPLATE = re.compile(r"[=~]\s*[\"'`][^\"'`]*\{\{[^}]*\}\}")


def check(query: MetricQuery, ctx: Context) -> Iterator[Finding]:
    """Judge one query of an analysis."""
    if query.kind != "analysis" or query.query is None or _TEMPLATE.search(query.text):
        return
    for selector in query.query.selectors:
        judged = is_any_serving(selector.metric) or _REQUESTS.search(selector.metric)
        if judged and not picks_version(selector):
            message = f"analysis {query.name} reads {selector.metric} of canary and stable together"
            yield ctx.finding(RULE, query.at, message)
            return
