"""HU703: a rolling update that needs an accelerator the cluster may not have."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.pods import Pod
from .rollout import strategy_holder

RULE = Rule(
    id="HU703",
    name="needs-spare-accelerator",
    family="HU7",
    severity=Severity.INFO,
    summary="rollout of a single replica that waits for a second accelerator",
    what="Deployments with one replica, an accelerator and the default RollingUpdate.",
    why="The default starts the new pod before it stops the old one, so the update hangs in Pending until a second "
    "accelerator is free (LLMKube#196, onyx#6782). People then switch to Recreate, which is an outage.",
    hint="keep a spare accelerator for rollouts, or plan the switch: blue/green in a maintenance window",
    bad="kind: Deployment\nspec:\n  replicas: 1\n  # resources: {limits: {nvidia.com/gpu: 1}}\n",
    good="kind: Deployment\nspec:\n  replicas: 1\n  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}\n",
    exemptions=("strategies that are written down: somebody has decided",),
    references=(
        "https://github.com/defilantech/LLMKube/issues/196",
        "https://github.com/onyx-dot-app/onyx/issues/6782",
    ),
    reads=("pod",),
    pedantic=True,
)


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge one Deployment."""
    if pod.resource.kind != "Deployment" or strategy_holder(pod) or ctx.index.minimum(pod) != 1:
        return
    for container in ctx.index.servers(pod):
        if container.accelerated:
            message = f"an update of the only replica waits for a second {', '.join(container.accelerators)}"
            yield ctx.finding(RULE, pod.resource.at_map(container.map), message)
            return
