"""HU101: a model server that counts as ready the moment its process starts."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.numerals import whole
from ....report.finding import Finding, Fix, Severity
from ....report.rule import Rule
from ..fixes import add_entry
from ..rulebase import Context
from ..sources.pods import Container, Pod

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
    fix="unsafe",
)

_PROBED_BY_CONTROLLER = frozenset({"kserve", "llmisvc", "knative", "nim", "seldon", "ray", "unknown"})


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the model servers of one pod."""
    if pod.managed in _PROBED_BY_CONTROLLER or (pod.managed == "lws-worker" and not ctx.index.services_of(pod)):
        return
    for container in ctx.index.servers(pod):
        if {"readinessProbe", "startupProbe"} & set(container.map) or container.is_open:
            continue
        services = ctx.index.services_of(pod)
        routed = f" and {services[0].identity} sends it requests" if services else ""
        runtime = f" ({container.runtime.name})" if container.runtime else ""
        yield ctx.finding(
            RULE,
            pod.resource.at_map(container.map),
            f"container {container.name}{runtime} has no readiness probe{routed}",
            severity=Severity.ERROR if services else None,
            fix=_fix(container),
            related=tuple(service.at_map(service.meta) for service in services[:1]),
        )


def _fix(container: Container) -> Fix | None:
    """A readiness probe on the runtime's own endpoint; unsafe, since only a person knows how long the load may take."""
    runtime, port = container.runtime, _port(container)
    if runtime is None or not runtime.ready_path or port is None:
        return None
    lines = ["readinessProbe:", "  httpGet:", f"    path: {runtime.ready_path}", f"    port: {port}"]
    edit = add_entry(container.pod.resource, container.map, list(container.map)[-1], lines)
    return Fix((edit,), safe=False, title=f"ask {runtime.ready_path} for readiness") if edit else None


def _port(container: Container) -> int | None:
    """The port that answers predictions: the option, else a declared port, else the runtime's default."""
    flag = container.flag("--port", "--http-port")
    if flag is not None:
        return whole(flag.value or "")
    usual = container.runtime.ports if container.runtime else ()
    declared = [number for _, number in container.ports]
    known = [number for number in declared if number in usual] or declared or list(usual)
    return known[0] if known else None
