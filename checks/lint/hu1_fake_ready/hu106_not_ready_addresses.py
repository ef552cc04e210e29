"""HU106: a Service that sends requests to pods that are not ready."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..joins import selector_of, service_ports
from ..rulebase import Context
from ..sources.kubernetes import Resource
from ..sources.pods import Container

RULE = Rule(
    id="HU106",
    name="routes-to-not-ready",
    family="HU1",
    severity=Severity.WARNING,
    summary="Service that publishes pods before they are ready",
    what="Services with publishNotReadyAddresses whose port leads to the inference port of a model server.",
    why="Readiness is then ignored: during a rollout a share of requests goes to servers that are still loading "
    "(vllm-project/production-stack#619).",
    hint="remove publishNotReadyAddresses, or give peer discovery a headless Service of its own",
    bad="kind: Service\nspec:\n  publishNotReadyAddresses: true\n  selector: {app: chat}\n  ports: [{port: 8000}]\n",
    good="kind: Service\nspec:\n  selector: {app: chat}\n  ports: [{port: 8000}]\n",
    exemptions=(
        "headless Services of a StatefulSet or LeaderWorkerSet: peers must find each other before they are ready",
        "headless Services without ports, and ports that are not the inference port",
        "routers, etcd, object stores: they are no model servers",
    ),
    references=("https://github.com/vllm-project/production-stack/issues/619",),
    reads=("kubernetes",),
)

_PEERS = frozenset({"StatefulSet", "LeaderWorkerSet", "RayCluster", "RayService"})


def check(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge one Service."""
    if resource.kind != "Service" or resource.spec.get("publishNotReadyAddresses") is not True:
        return
    headless = resource.spec.get("clusterIP") == "None"
    for pod in ctx.index.selected(selector_of(resource), resource):
        if headless and pod.resource.kind in _PEERS:
            continue
        for container in ctx.index.servers(pod):
            if any(_is_inference(container, target) for _, target in service_ports(resource)):
                message = f"requests reach container {container.name} of {pod.resource.identity} before it is ready"
                where = resource.at_key(resource.spec, "publishNotReadyAddresses")
                yield ctx.finding(RULE, where, message, related=(pod.resource.at_map(container.map),))
                return


def _is_inference(container: Container, target: object) -> bool:
    """Whether a Service port leads to the port that answers predictions: the runtime's own, else the first declared."""
    known = container.runtime.ports if container.runtime else ()
    for index, (name, number) in enumerate(container.ports):
        if target in (name, number):
            return number in known or index == 0
    return target in known
