"""HU701: a Deployment that stops every old replica before it starts a new one."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.pods import Pod
from .rollout import strategy_holder

RULE = Rule(
    id="HU701",
    name="recreate-strategy",
    family="HU7",
    severity=Severity.ERROR,
    summary="Recreate strategy on a model server",
    what="Deployments of model servers with strategy Recreate: an error with several replicas, information with one.",
    why="All old pods stop before the first new one loads its model, so every update is an outage as long as the "
    "load, and "
    "a version that does not start leaves nothing that serves. With one replica on the only GPU it is often the lesser "
    "evil, because RollingUpdate waits for a GPU that is not there (LLMKube#192, llm-d-modelservice#246).",
    hint="use RollingUpdate with maxUnavailable 0 and maxSurge 1, or blue/green with a spare accelerator",
    bad="kind: Deployment\nspec:\n  replicas: 3\n  strategy: {type: Recreate}\n",
    good="""\
kind: Deployment
spec:
  replicas: 3
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
""",
    exemptions=("workloads without a model server", "replicas 0"),
    references=(
        "https://github.com/defilantech/LLMKube/issues/192",
        "https://github.com/llm-d-incubation/llm-d-modelservice/issues/246",
    ),
    reads=("pod",),
)


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the strategy of one Deployment."""
    strategy = strategy_holder(pod)
    if pod.resource.kind != "Deployment" or strategy.get("type") != "Recreate":
        return
    replicas = ctx.index.minimum(pod)
    if replicas is None or replicas == 0:
        return
    several = replicas > 1
    whole = f"all {replicas} replicas stop" if several else "the only replica stops"
    yield ctx.finding(
        RULE,
        pod.resource.at(strategy, "type"),
        f"{whole} before a new one has loaded its model",
        severity=None if several else Severity.INFO,
        hint="" if several else "with a spare accelerator use maxSurge 1 and maxUnavailable 0, or blue/green",
    )
