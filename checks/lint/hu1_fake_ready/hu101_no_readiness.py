"""HU101: a model server that counts as ready the moment its process starts."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.pods import Pod

RULE = Rule(
    id="HU101",
    name="no-readiness-probe",
    family="HU1",
    severity=Severity.WARNING,
    summary="model server without readiness and startup probe",
    what="Containers that run a known model server, or that hold an accelerator behind a Service port, and have "
    "neither readinessProbe nor startupProbe. An error when a Service or InferencePool sends requests to the pod.",
    why="Without a probe a pod is Ready when its process starts, minutes before the weights are loaded. Every rollout "
    "then sends users to a server that refuses or queues them (vllm-project/aibrix#685, "
    "vllm-project/production-stack#619).",
    hint="add a readinessProbe on the runtime's model-ready endpoint, and a startupProbe that covers the load time",
    bad="""\
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
    args: [--model, org/model, --revision, 0123456789abcdef0123456789abcdef01234567]
    ports: [{containerPort: 8000}]
""",
    good="""\
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
    args: [--model, org/model, --revision, 0123456789abcdef0123456789abcdef01234567]
    ports: [{containerPort: 8000}]
    startupProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 10, failureThreshold: 90}
    readinessProbe: {httpGet: {path: /health, port: 8000}}
""",
    exemptions=(
        "pods whose controller adds the probe: KServe, LLMInferenceService, Knative, NIMService, Seldon, KubeAI, Ray",
        "LeaderWorkerSet workers that no Service selects",
        "Jobs, native sidecars and Kustomize patches",
    ),
    references=(
        "https://github.com/vllm-project/aibrix/issues/685",
        "https://github.com/vllm-project/production-stack/issues/619",
    ),
    reads=("pod",),
)

_PROBED_BY_CONTROLLER = frozenset({"kserve", "llmisvc", "knative", "nim", "seldon", "ray", "unknown"})


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the model servers of one pod."""
    if pod.managed in _PROBED_BY_CONTROLLER or (pod.managed == "lws-worker" and not ctx.index.services_of(pod)):
        return
    for container in ctx.index.servers(pod):
        if container.probe("readiness") is not None or container.probe("startup") is not None:
            continue
        services = ctx.index.services_of(pod)
        routed = f" and {services[0].identity} sends it requests" if services else ""
        runtime = f" ({container.runtime.name})" if container.runtime else ""
        yield ctx.finding(
            RULE,
            pod.resource.at_map(container.map),
            f"container {container.name}{runtime} has no readiness probe{routed}",
            severity=Severity.ERROR if services else None,
            related=tuple(service.at_map(service.meta) for service in services[:1]),
        )
