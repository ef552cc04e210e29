"""HU103: a liveness probe that restarts a server which is still loading its model."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Fix, Severity
from ....report.rule import Rule
from ..fixes import add_entry, block
from ..lazy import lazy
from ..rulebase import Context
from ..sources.pods import Container, Pod
from ..sources.yamlnodes import Map
from .probes import budget, loads_from_volume, path_of, remote_source, starts_empty

RULE = Rule(
    id="HU103",
    name="liveness-kills-load",
    family="HU1",
    severity=Severity.WARNING,
    summary="liveness probe without startup probe that gives up before a model is loaded",
    what="Model servers with a livenessProbe and no startupProbe, where initialDelaySeconds + periodSeconds * "
    "failureThreshold is below 300 s (an error below 120 s with an accelerator); and liveness on an endpoint that "
    "turns false while a model loads.",
    why="Loading a larger version takes longer than the old one did. The kubelet then kills the new pod in the middle, "
    "again and again, and the rollout never ends (kserve/kserve#5062, opendatahub-io/kserve#1161: every end-to-end "
    "test "
    "failed). Triton's /v2/health/ready turns false during each load and restarts a healthy server "
    "(triton-inference-server/server#7014).",
    hint="add a startupProbe that covers the longest load, such as periodSeconds 10 and failureThreshold 60",
    bad="livenessProbe:\n  httpGet: {path: /health, port: 8000}\n  initialDelaySeconds: 60\n",
    good="""\
startupProbe:
  httpGet: {path: /health, port: 8000}
  periodSeconds: 10
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /health, port: 8000}
""",
    exemptions=(
        "CPU-only servers with the model in the image: nothing large is loaded",
        "servers that start empty: Triton in explicit mode without --load-model, MLServer told to load nothing",
        "servers that answer while they load (MLServer, NIM, TensorFlow Serving) asked for no more than that",
        "LLMInferenceService: its base configuration adds a startup probe",
        "RayService: the operator manages the probes",
    ),
    references=(
        "https://github.com/kserve/kserve/issues/5062",
        "https://github.com/opendatahub-io/kserve/issues/1161",
        "https://github.com/triton-inference-server/server/issues/7014",
    ),
    reads=("pod",),
    fix="safe",
)

ENOUGH = 300
_HOPELESS = 120
_LIVE = lazy(r"/live(z|ness)?/?$")
_TURNS_FALSE = lazy(r"^/(v[12]/health/ready|v2/models/[^/]+(/versions/[^/]+)?/ready|readyz)/?$")


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the liveness probes of one pod's model servers."""
    if pod.managed in ("llmisvc", "ray", "unknown"):
        return
    for container in ctx.index.servers(pod):
        probe = container.probe("liveness")
        if probe is None:
            continue
        where = pod.resource.at_key(container.map, "livenessProbe")
        path = path_of(probe)
        if _TURNS_FALSE.match(path):
            message = f"liveness of container {container.name} asks {path}, which turns false while a model loads"
            yield ctx.finding(RULE, where, message, hint="ask the runtime's liveness endpoint, such as /v2/health/live")
        patience = budget(probe)
        if "startupProbe" in container.map or container.is_open or patience is None or patience >= ENOUGH:
            continue
        if not container.accelerated and not loads_from_volume(container) and not _downloads(container):
            continue
        if starts_empty(container) or _answers_while_loading(container, probe):
            continue
        hopeless = container.accelerated and patience < _HOPELESS
        yield ctx.finding(
            RULE,
            where,
            f"liveness of container {container.name} gives up after {patience} s and there is no startup probe",
            severity=Severity.ERROR if hopeless else None,
            fix=_fix(container, probe),
        )


def _answers_while_loading(container: Container, probe: Map) -> bool:
    """Whether the runtime opens its port first and the probe asks no more than that it runs: loading cannot fail it."""
    early = container.runtime is not None and container.runtime.binds_first
    # TorchServe's /ping is no such question: it says unhealthy while no worker has its model.
    return early and ("tcpSocket" in probe or bool(_LIVE.search(path_of(probe))))


def _downloads(container: Container) -> bool:
    return bool(remote_source(container)) or container.pod.managed == "kserve"


def _fix(container: Container, probe: Map) -> Fix | None:
    """The liveness probe's own question, asked for up to ten minutes."""
    handler = [line for key in ("httpGet", "tcpSocket", "exec", "grpc") if key in probe for line in _entry(probe, key)]
    lines = ["startupProbe:", *handler, "  periodSeconds: 10", "  failureThreshold: 60"]
    edit = add_entry(container.pod.resource, container.map, "livenessProbe", lines) if handler else None
    return Fix((edit,), safe=True, title="add a startup probe of 60 x 10 s") if edit else None


def _entry(probe: Map, key: str) -> list[str]:
    value = probe[key]
    return [f"  {key}:", *block(value, 4)] if isinstance(value, Map) and value else []
