"""HU104: a startup probe that gives up before the weights are downloaded."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Fix, Severity
from ....report.rule import Rule
from ..fixes import add_entry, replace_value
from ..rulebase import Context
from ..sources.pods import Container, Pod
from ..sources.yamlnodes import Map
from .probes import budget, caches_on_disk, number, remote_source

RULE = Rule(
    id="HU104",
    name="short-startup-budget",
    family="HU1",
    severity=Severity.WARNING,
    summary="startup probe that gives up before a download ends",
    what="Model servers whose startupProbe allows less than 300 s while the weights come from a hub or bucket at "
    "start.",
    why="Each restart begins the download anew, so a pod that is too slow once never becomes ready: the quickstart of "
    "vllm-project/aibrix#772 allowed 30 x 5 s for an 8B model and was restarted forever.",
    hint="raise failureThreshold so that periodSeconds * failureThreshold covers the slowest download",
    bad="startupProbe:\n  httpGet: {path: /health, port: 8000}\n  periodSeconds: 5\n  failureThreshold: 30\n",
    good="startupProbe:\n  httpGet: {path: /health, port: 8000}\n  periodSeconds: 5\n  failureThreshold: 120\n",
    exemptions=(
        "weights on a volume, in the image, or fetched by an init container",
        "caches on a claim or host path: a restart goes on where the last one stopped",
    ),
    references=("https://github.com/vllm-project/aibrix/issues/772",),
    reads=("pod",),
    fix="safe",
)

_ENOUGH = 300
_WANTED = 600


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the startup probes of one pod's model servers."""
    for container in ctx.index.servers(pod):
        probe = container.probe("startup")
        patience = budget(probe) if probe is not None else None
        if probe is None or patience is None or patience >= _ENOUGH:
            continue
        source = remote_source(container)
        if source and not caches_on_disk(container):
            message = f"startup of container {container.name} may take {patience} s, and it downloads {source} first"
            where = pod.resource.at_key(container.map, "startupProbe")
            yield ctx.finding(RULE, where, message, fix=_fix(container, probe))


def _fix(container: Container, probe: Map) -> Fix | None:
    period = number(probe, "periodSeconds", 10)
    if not period or not probe:
        return None
    wanted = str(-(-_WANTED // period))
    if "failureThreshold" in probe:
        edit = replace_value(probe, "failureThreshold", wanted)
    else:
        edit = add_entry(container.pod.resource, probe, list(probe)[-1], [f"failureThreshold: {wanted}"])
    return Fix((edit,), safe=True, title=f"allow {_WANTED} s") if edit else None
