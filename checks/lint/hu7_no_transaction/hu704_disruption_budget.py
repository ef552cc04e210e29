"""HU704: replicas that a node drain may take all at once, or never."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..joins import labels_of
from ..rulebase import Context
from ..sources.kubernetes import Resource
from ..sources.pods import Pod
from .rollout import absolute

RULE = Rule(
    id="HU704",
    name="disruption-budget",
    family="HU7",
    severity=Severity.WARNING,
    summary="no PodDisruptionBudget, or one that allows no disruption",
    what="Model servers with two or more replicas behind a Service and no PodDisruptionBudget in the tree; and "
    "budgets over "
    "model servers that allow no eviction: maxUnavailable 0, or minAvailable at or above the replicas (the "
    "autoscaler's "
    "minimum where there is one).",
    why="A node upgrade evicts pods without asking the Deployment. Without a budget all replicas may load their "
    "model at "
    "the same time; with one that allows nothing the node never drains, until somebody forces it.",
    hint="add a PodDisruptionBudget with maxUnavailable 1",
    bad="kind: Deployment\nspec:\n  replicas: 3\n",
    good="kind: PodDisruptionBudget\nspec:\n  maxUnavailable: 1\n  selector: {matchLabels: {app: chat}}\n",
    exemptions=(
        "pods whose controller makes the budget or the replicas: KServe, LLMInferenceService, Knative, NIM, Seldon, "
        "Ray",
        "a single replica, and replicas that are unknown",
        "any budget with matchExpressions nearby: it may cover the pods",
    ),
    references=("https://kubernetes.io/docs/tasks/run-application/configure-pdb/",),
    reads=("pod", "kubernetes"),
)

_KINDS = frozenset({"Deployment", "StatefulSet", "Rollout", "ReplicaSet"})


def check_pod(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """A workload without a budget."""
    if pod.managed or pod.resource.kind not in _KINDS or not ctx.index.services_of(pod):
        return
    replicas = ctx.index.minimum(pod)
    if replicas is None or replicas < 2 or ctx.index.budgets_of(pod) or _vague_budget(pod, ctx):
        return
    holder = pod.resource.spec
    where = pod.resource.at(holder, "replicas") if "replicas" in holder else pod.resource.at_map(pod.resource.meta)
    message = f"{replicas} replicas behind {ctx.index.services_of(pod)[0].identity} and no PodDisruptionBudget"
    yield ctx.finding(RULE, where, message)


def check_kubernetes(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """A budget that allows nothing."""
    if resource.kind != "PodDisruptionBudget":
        return
    for pod in ctx.index.selected(labels_of(resource.spec.get_map("selector").get_map("matchLabels")), resource):
        replicas = ctx.index.minimum(pod)
        if pod.managed or not replicas or not ctx.index.servers(pod):
            continue
        key = "minAvailable" if "minAvailable" in resource.spec else "maxUnavailable"
        # A budget rounds both ways up, unlike a rollout.
        number = absolute(resource.spec.get(key), replicas, up=True)
        if number is None or (number < replicas if key == "minAvailable" else number > 0):
            continue
        message = (
            f"{key} {resource.spec[key]} of {replicas} replicas allows no eviction: nodes with {pod.resource.identity} "
        )
        yield ctx.finding(RULE, resource.at(resource.spec, key), message + "never drain", hint="use maxUnavailable: 1")
        return


def _vague_budget(pod: Pod, ctx: Context) -> bool:
    folder = dirname(pod.resource.path)
    near = [b for b in ctx.index.by_kind.get("PodDisruptionBudget", []) if dirname(b.path) == folder]
    return any("matchExpressions" in b.spec.get_map("selector") or not b.spec.get_map("selector") for b in near)
