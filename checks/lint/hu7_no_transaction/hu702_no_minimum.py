"""HU702: a rolling update that leaves no replica available."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Edit, Finding, Fix, Severity
from ....report.rule import Rule
from ..fixes import replace_value
from ..rulebase import Context
from ..sources.kubernetes import Resource
from ..sources.pods import Pod
from ..sources.yamlnodes import dig
from .rollout import Strategy, available, strategy_of

RULE = Rule(
    id="HU702",
    name="rollout-leaves-none",
    family="HU7",
    severity=Severity.ERROR,
    summary="rolling update that may take every replica away at once",
    what="Rollout strategies whose computed minimum of available replicas is zero: maxUnavailable covers all "
    "replicas, or "
    "maxSurge 0 with one replica. Percentages are rounded as Kubernetes does: surge up, outage down, and where both "
    "are "
    "zero one replica goes.",
    why="RollingUpdate looks safe and is an outage all the same: with one replica and maxSurge 0 the only server stops "
    "before its successor loads. KServe#5984 is the same shape in generated routes: the stable side shrank first.",
    hint="set maxUnavailable to 0 and maxSurge to 1",
    bad="replicas: 1\nstrategy:\n  rollingUpdate: {maxSurge: 0, maxUnavailable: 25%}\n",
    good="replicas: 1\nstrategy:\n  rollingUpdate: {maxSurge: 1, maxUnavailable: 0}\n",
    exemptions=(
        "KServe multi-node predictors: the controller overrides the numbers",
        "replicas that are a placeholder, or zero",
    ),
    references=("https://github.com/kserve/kserve/pull/5984",),
    reads=("pod", "kubernetes"),
    fix="safe",
)


def check_pod(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the rolling update of one workload with a model server."""
    if pod.managed != "kserve":
        yield from _judge(pod, ctx.index.minimum(pod), ctx)


def check_kubernetes(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge the components of one InferenceService: their servers often come from a ServingRuntime elsewhere."""
    if resource.kind != "InferenceService":
        return
    for pod in resource.pods:
        if pod.managed == "kserve" and not _multi_node(pod):
            yield from _judge(pod, 1 if pod.replicas is None else pod.replicas, ctx)


def _judge(pod: Pod, replicas: int | None, ctx: Context) -> Iterator[Finding]:
    strategy = strategy_of(pod)
    if strategy is None or not replicas or strategy.parent.get("type") in ("Recreate", "OnDelete"):
        return
    numbers = available(strategy, replicas)
    if numbers is None or numbers[0] > 0:
        return
    _, surge, outage = numbers
    message = (
        f"a rollout may stop {outage} of {replicas} replica{'s' if replicas > 1 else ''} at once, surge {surge}:"
        " none stays available"
    )
    culprit = "maxSurge" if outage < replicas or "maxUnavailable" not in strategy.holder else "maxUnavailable"
    if strategy.holder.get("maxUnavailable") in (0, "0", "0%") or (surge == 0 and replicas == 1):
        culprit = "maxSurge"
    where = pod.resource.at(strategy.holder, culprit if culprit in strategy.holder else next(iter(strategy.holder)))
    yield ctx.finding(RULE, where, message, fix=_fix(pod, strategy))


def _multi_node(pod: Pod) -> bool:
    containers = [env for container in pod.containers for env in container.env]
    return "workerSpec" in pod.spec or "RAY_NODE_COUNT" in containers


def _fix(pod: Pod, strategy: Strategy) -> Fix | None:
    """maxSurge 1 and maxUnavailable 0, where a second pod needs nothing that only one can hold."""
    claims = [volume for volume in pod.spec.get_maps("volumes") if "persistentVolumeClaim" in volume]
    ports = [port for c in pod.containers for port in c.map.get_maps("ports") if "hostPort" in port]
    accelerated = any(container.accelerated for container in pod.containers)
    if accelerated or claims or ports or dig(pod.spec, "hostNetwork") is True:
        return None
    if not {"maxSurge", "maxUnavailable"} <= set(strategy.holder):
        return None
    edits: list[Edit] = []
    for key, value in (("maxSurge", "1"), ("maxUnavailable", "0")):
        edit = replace_value(strategy.holder, key, value)
        if edit is None:
            return None
        edits.append(edit)
    return Fix(tuple(edits), safe=True, title="surge by one, keep all available")
