"""HU105: a readiness probe that only opens a connection."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.pods import Pod
from .probes import starts_empty

RULE = Rule(
    id="HU105",
    name="port-open-readiness",
    family="HU1",
    severity=Severity.INFO,
    summary="readiness probe that only opens the port",
    what="tcpSocket readiness probes on model servers. A warning for runtimes that open their port before the model is "
    "loaded (TorchServe, TensorFlow Serving, MLServer, NIM, Ollama, BentoML, LitServe); the rest only with --pedantic.",
    why="An open port says that the process listens. Servers that bind first are then fake-ready for the whole load, "
    "and "
    "no server with a hung engine is ever taken out of rotation.",
    hint="use httpGet on the runtime's model-ready endpoint",
    bad="readinessProbe:\n  tcpSocket: {port: 8080}\n",
    good="readinessProbe:\n  httpGet: {path: /v2/health/ready, port: 8080}\n",
    exemptions=(
        "KServe and Knative pods: the queue proxy asks on their behalf",
        "servers that start empty and are told later what to load",
        "gRPC-only servers without an HTTP endpoint",
    ),
    references=("https://github.com/pytorch/serve/issues/3047",),
    reads=("pod",),
)


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the readiness probes of one pod's model servers."""
    if pod.managed in ("kserve", "knative", "ray", "unknown"):
        return
    for container in ctx.index.servers(pod):
        probe = container.probe("readiness")
        if probe is None or "tcpSocket" not in probe:
            continue
        runtime = container.runtime
        early = runtime is not None and runtime.binds_first and not starts_empty(container)
        if not early and not ctx.pedantic:
            continue
        name = runtime.name if runtime else "the server"
        when = f"which {name} opens before its model is loaded" if early else f"which cannot see a hung {name}"
        yield ctx.finding(
            RULE,
            pod.resource.at_key(probe, "tcpSocket"),
            f"readiness of container {container.name} only opens its port, {when}",
            severity=Severity.WARNING if early else None,
            hint=f"use httpGet {runtime.ready_path}" if runtime and runtime.ready_path else "",
        )
