"""HU507: metrics are scraped from a port that nothing listens on."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..joins import service_ports
from ..rulebase import Context
from ..sources.argv import is_placeholder
from ..sources.kubernetes import Resource
from ..sources.pods import Pod
from ..sources.yamlnodes import text
from .monitors import ENDPOINTS, endpoints

RULE = Rule(
    id="HU507",
    name="scraped-port-missing",
    family="HU5",
    severity=Severity.WARNING,
    summary="scrape annotation or monitor that names a port no container exposes",
    what="`prometheus.io/port` on a pod template with a model server, or the port of a ServiceMonitor or PodMonitor "
    "that selects one, where no container of the pod and no port of the Service has that number or name.",
    why="The scrape fails silently: alerts on the model's latency and errors never fire, and an analysis of the canary "
    "has no data, which many tools count as success.",
    hint="name a port that the server declares",
    bad="""\
template:
  metadata:
    labels: {app: vllm}
    annotations: {prometheus.io/scrape: "true", prometheus.io/port: "9090"}
  spec:
    containers: [{name: server, image: vllm/vllm-openai:v0.10.0, ports: [{containerPort: 8000}]}]
""",
    good="""\
template:
  metadata:
    labels: {app: vllm}
    annotations: {prometheus.io/scrape: "true", prometheus.io/port: "8000"}
  spec:
    containers: [{name: server, image: vllm/vllm-openai:v0.10.0, ports: [{containerPort: 8000}]}]
""",
    exemptions=(
        "pods that declare no ports at all: declaring one is optional",
        "pods with sidecars that a controller injects (KServe, Knative, Seldon)",
        "placeholders, and monitors whose pods or Services are not in the tree",
    ),
    reads=("pod", "kubernetes"),
)

_INJECTED = frozenset({"kserve", "llmisvc", "knative", "seldon", "nim", "ray"})
_PORT = "prometheus.io/port"


def check_pod(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the scrape annotation of one pod template."""
    annotations = pod.meta.get_map("annotations")
    port = text(annotations.get(_PORT))
    if not port or is_placeholder(port) or pod.managed in _INJECTED or not ctx.index.servers(pod):
        return
    known = _ports(pod)
    if known and port not in known and text(annotations.get("prometheus.io/scrape")) != "false":
        where = pod.resource.at(annotations, _PORT)
        yield ctx.finding(RULE, where, f"no container exposes port {port}; declared are {', '.join(sorted(known))}")


def check_kubernetes(monitor: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge the endpoints of one monitor by the pods or Services it selects."""
    if monitor.kind not in ENDPOINTS:
        return
    pods = [pod for pod in ctx.index.monitored(monitor) if ctx.index.servers(pod) and pod.managed not in _INJECTED]
    if not pods:
        return
    for endpoint in endpoints(monitor):
        key = next((name for name in ("port", "targetPort", "portNumber") if name in endpoint), "")
        port = text(endpoint.get(key)) if key else ""
        if not port or is_placeholder(port):
            continue
        known = set[str]().union(*map(_ports, pods))
        if monitor.kind == "ServiceMonitor" and key == "port":
            known = {
                entry.get_str("name") for s in ctx.index.monitored_services(monitor) for entry, _ in service_ports(s)
            }
            known.discard("")
        if known and port not in known:
            message = f"{pods[0].resource.identity} has no port {port} to scrape; it has {', '.join(sorted(known))}"
            yield ctx.finding(RULE, monitor.at(endpoint, key), message)


def _ports(pod: Pod) -> set[str]:
    """Names and numbers of all declared ports."""
    containers = [*pod.containers, *pod.init_containers]
    return {str(part) for each in containers for pair in each.ports for part in pair if part}
