"""HU502: a scaler or alert that reads the metrics of every model in the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.promql import Selector
from ..sources.rules_file import MetricQuery
from .series import TELLING, is_any_serving

RULE = Rule(
    id="HU502",
    name="unscoped-query",
    family="HU5",
    severity=Severity.WARNING,
    summary="scaler or alert on a serving metric without a matcher for its model or service",
    what="KEDA Prometheus triggers and alerts whose query reads a model server's metric with no matcher on model, "
    "namespace, service, job or pod, and whose result keeps none of these labels either.",
    why="A canary, a staging deployment or another team's model changes the number: one model's queue scales another, "
    "and the alert that fires does not say for what.",
    hint='add a matcher such as {namespace="chat", model_name="chat"}, or keep the label: by (namespace, model_name)',
    bad="""\
triggers:
  - type: prometheus
    metadata: {query: "sum(vllm:num_requests_waiting)", threshold: "5"}
""",
    good="""\
triggers:
  - type: prometheus
    metadata: {query: 'sum(vllm:num_requests_waiting{namespace="chat", model_name="chat"})', threshold: "5"}
""",
    exemptions=(
        "alerts whose result keeps a label that says what they are about",
        "queries with any matcher on a model, a service, a namespace, a job or a pod, filled in by a template or not",
        "groups that sum over everything on purpose: capacity, cost, usage",
    ),
    reads=("rules",),
)

_SCOPES = TELLING | frozenset(
    {"model", "model_name", "model_id", "namespace", "exported_namespace", "kubernetes_namespace", "job", "app"}
    | {"app_kubernetes_io_name", "app_kubernetes_io_instance", "container", "endpoint", "cluster", "release"}
    | {
        "inference_service",
        "inferenceservice",
        "isvc",
        "deployment_name",
        "served_model_name",
        "label_app",
        "exported_job",
    }
)
_WHOLE = ("capacity", "cost", "billing", "usage", "quota", "inventory")


def check(query: MetricQuery, ctx: Context) -> Iterator[Finding]:
    """Judge one query."""
    if query.kind not in ("scaler", "alert") or query.query is None:
        return
    if query.kind == "alert" and any(word in query.group.lower() for word in _WHOLE):
        return
    kept = query.query.labels
    if query.kind == "alert" and any(kept.keeps(name) for name in _SCOPES):
        return
    for selector in query.query.selectors:
        if is_any_serving(selector.metric) and not _scoped(selector):
            subject = "scaler" if query.kind == "scaler" else "alert"
            message = f"{subject} {query.name} reads {selector.metric} of every model it can find"
            yield ctx.finding(RULE, query.at, message)
            return


def _scoped(selector: Selector) -> bool:
    return any(matcher.name in _SCOPES and matcher.value for matcher in selector.matchers)
