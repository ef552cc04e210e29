"""HU102: a readiness probe that asks the process, not the model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Fix, Severity
from ....report.rule import Rule
from ..fixes import replace_value
from ..lazy import lazy
from ..rulebase import Context
from ..sources.pods import Container, Pod
from ..sources.yamlnodes import Map
from .probes import command_of, path_of

RULE = Rule(
    id="HU102",
    name="process-level-readiness",
    family="HU1",
    severity=Severity.ERROR,
    summary="readiness probe that passes without a model",
    what="Readiness probes whose path is a process-level endpoint of the runtime (Triton and MLServer /v2/health/live, "
    "TorchServe /ping, NIM /v1/health/live, /livez), or whose command cannot fail (true, sleep, exit 0).",
    why="These endpoints answer 200 as soon as the process runs, with no model or a broken one: traffic arrives, and "
    "every request fails (pytorch/serve#2099, #2434, #3047; llm-d-incubation/llm-d-fast-model-actuation#629).",
    hint="ask an endpoint that proves the model: /v2/health/ready, /v1/health/ready, /models/NAME, /v1/models",
    bad="readinessProbe:\n  httpGet: {path: /v2/health/live, port: 8000}\n",
    good="readinessProbe:\n  httpGet: {path: /v2/health/ready, port: 8000}\n",
    exemptions=(
        "/health of vLLM, SGLang, TGI and TEI: these open their port after the load",
        "Triton beside another container of the pod that has a readiness probe of its own (Seldon)",
        "probes of a port that belongs to another container",
    ),
    references=(
        "https://github.com/pytorch/serve/issues/2099",
        "https://github.com/pytorch/serve/issues/3047",
        "https://github.com/llm-d-incubation/llm-d-fast-model-actuation/issues/629",
    ),
    reads=("pod",),
    fix="safe",
)

_CANNOT_FAIL = lazy(r"^((\S*/)?(sh|bash) -\w*c )?(\S*/)?(true|:|exit 0|sleep \S+|echo\b[^|&;]*)$")
_LIVENESS_NAMES = lazy(r"^/(v[12]/health/live|livez?|ping)/?$")


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the readiness probes of one pod's model servers."""
    for container in ctx.index.servers(pod):
        probe = container.probe("readiness")
        if probe is None:
            continue
        command = command_of(probe)
        if command and _CANNOT_FAIL.match(command.strip()):
            where = pod.resource.at_key(probe.get_map("exec"), "command")
            yield ctx.finding(
                RULE, where, f"readiness of container {container.name} runs '{command}', which never fails"
            )
            continue
        path = path_of(probe)
        if path and _proves_nothing(container, path) and not _covered(pod, container):
            runtime = container.runtime
            name = f" of {runtime.name}" if runtime else ""
            message = f"readiness of container {container.name} asks {path}{name}, which answers without a model"
            holder = probe.get_map("httpGet")
            ready = f"use {runtime.ready_path}" if runtime and runtime.ready_path else ""
            yield ctx.finding(RULE, pod.resource.at(holder, "path"), message, hint=ready, fix=_fix(holder, container))


def _proves_nothing(container: Container, path: str) -> bool:
    runtime = container.runtime
    if runtime is None:
        return bool(_LIVENESS_NAMES.match(path))
    if re.search(runtime.proves_ready, path):
        return False
    return bool(re.search(runtime.proves_alive, path) or _LIVENESS_NAMES.match(path))


def _covered(pod: Pod, container: Container) -> bool:
    """Another container of the pod vouches for the model, as Seldon's agent does for Triton."""
    if container.runtime is None or container.runtime.id not in ("triton", "mlserver"):
        return False
    return any(other is not container and other.probe("readiness") for other in pod.containers)


def _fix(holder: Map, container: Container) -> Fix | None:
    if container.runtime is None or not container.runtime.ready_path:
        return None
    edit = replace_value(holder, "path", container.runtime.ready_path)
    return Fix((edit,), safe=True, title=f"ask {container.runtime.ready_path}") if edit else None
