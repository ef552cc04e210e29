"""HU708: an update that cannot be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname
from typing import TYPE_CHECKING

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..paths import is_test
from ..rulebase import Context
from ..sources.pods import Pod

if TYPE_CHECKING:
    from ..sources.pbtxt import ModelConfig

RULE = Rule(
    id="HU708",
    name="no-rollback-anchor",
    family="HU7",
    severity=Severity.WARNING,
    summary="nothing is kept to roll back to",
    what="Serving workloads with revisionHistoryLimit 0, and Triton models that keep only their latest version "
    "(version_policy latest, num_versions 1, written down) on a server in explicit or poll mode.",
    why="The old ReplicaSet is the only record of what served before, and the old version directory is what a "
    "rollback loads. "
    "Without either the way back is another rollout, made in a hurry.",
    hint="keep revisionHistoryLimit at 2 or more, and at least two versions loadable",
    bad="kind: Deployment\nspec:\n  revisionHistoryLimit: 0\n",
    good="kind: Deployment\nspec:\n  revisionHistoryLimit: 3\n",
    exemptions=("version_policy left to its default", "Triton without model control: it never unloads"),
    references=("https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#revision-history-limit",),
    reads=("pod", "pbtxt"),
)

_KINDS = frozenset({"Deployment", "StatefulSet", "Rollout", "DaemonSet"})


def check_pod(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """A workload that keeps no history."""
    spec = pod.resource.spec
    if spec.get("revisionHistoryLimit") == 0 and pod.resource.kind in (
        "Deployment",
        "StatefulSet",
        "Rollout",
        "DaemonSet",
    ):
        message = f"{pod.resource.identity} keeps no earlier revision to roll back to"
        yield ctx.finding(RULE, pod.resource.at(spec, "revisionHistoryLimit"), message)


def check_pbtxt(config: ModelConfig, ctx: Context) -> Iterator[Finding]:
    """A model whose earlier version is unloaded as soon as a new one is there."""
    for policy in config.root.messages("version_policy"):
        for latest in policy.messages("latest"):
            number = latest.get("num_versions")
            if number is None or number.value != 1 or not _reloads(config, ctx):
                continue
            where = config.at(number.value_span, "version_policy.latest.num_versions")
            message = f"{config.name} keeps only its latest version loaded, and the server swaps versions while it runs"
            yield ctx.finding(RULE, where, message, hint="use num_versions: 2, or specific versions")


def _reloads(config: ModelConfig, ctx: Context) -> bool:
    """Whether a Triton declared beside or above the model loads and unloads models while it serves."""
    for pod in ctx.index.pods:
        if not config.path.startswith(dirname(pod.resource.path)) or is_test(config.path):
            continue
        for container in ctx.index.servers(pod):
            if container.runtime is not None and container.runtime.id == "triton":
                flag = container.flag("--model-control-mode")
                if flag is not None and flag.value in ("explicit", "poll"):
                    return True
    return False
