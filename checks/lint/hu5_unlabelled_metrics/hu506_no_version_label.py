"""HU506: serving pods that carry no version at all."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.pods import Pod
from .monitors import version_labels

RULE = Rule(
    id="HU506",
    name="no-version-label",
    family="HU5",
    severity=Severity.INFO,
    summary="serving pod template without a version label",
    what="Pod templates with a model server and no label that names the model version "
    "(`app.kubernetes.io/version`, `model-version`, `revision` …).",
    why="Monitors, network policies and people have nothing to tell the old pods of a rollout from the new ones by; "
    "version labels on metrics start here.",
    hint="add app.kubernetes.io/version with the model version to the pod template",
    bad="""\
template:
  metadata: {labels: {app: vllm}}
  spec:
    containers: [{name: server, image: vllm/vllm-openai:v0.10.0}]
""",
    good="""\
template:
  metadata: {labels: {app: vllm, app.kubernetes.io/version: "1.4.0"}}
  spec:
    containers: [{name: server, image: vllm/vllm-openai:v0.10.0}]
""",
    exemptions=("pods whose controller labels them with a revision: KServe, Knative, LLMInferenceService, Ray",),
    reads=("pod",),
    pedantic=True,
)

_LABELLED_BY_CONTROLLER = frozenset({"kserve", "llmisvc", "knative", "ray", "seldon", "nim"})


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge one pod template."""
    servers = ctx.index.servers(pod)
    if not servers or pod.managed in _LABELLED_BY_CONTROLLER or version_labels(pod):
        return
    where = pod.resource.at_key(pod.meta, "labels") if "labels" in pod.meta else pod.resource.at_map(servers[0].map)
    yield ctx.finding(RULE, where, f"pods of {pod.resource.identity} carry no label with the model version")
