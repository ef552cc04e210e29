"""HU203: a model server that shares memory or processes with everything on its node."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.pods import Pod

RULE = Rule(
    id="HU203",
    name="host-namespaces",
    family="HU2",
    severity=Severity.WARNING,
    summary="model server in the node's IPC or process namespace",
    what="`hostIPC` or `hostPID` on a pod with a model server, or the node's /dev/shm mounted into one.",
    why="Old and new version of a rollout stand on one node and then share /dev/shm and process ids: a segment or "
    "semaphore that one leaves behind is attached by the other, and one of them can signal the other's workers.",
    hint="remove it and give the pod its own /dev/shm: emptyDir {medium: Memory, sizeLimit: 1Gi}",
    bad="""\
hostIPC: true
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
""",
    good="""\
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
    volumeMounts: [{name: shm, mountPath: /dev/shm}]
volumes:
  - name: shm
    emptyDir: {medium: Memory, sizeLimit: 1Gi}
""",
    exemptions=("pods without a model server", "a memory-backed emptyDir at /dev/shm"),
    reads=("pod",),
)


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge one pod."""
    servers = ctx.index.servers(pod)
    if not servers:
        return
    for key, what in (("hostIPC", "shared memory"), ("hostPID", "process ids")):
        if pod.spec.get(key) is True:
            yield ctx.finding(RULE, pod.resource.at(pod.spec, key), f"{what} of {servers[0].name} is the node's")
    for container in servers:
        for mount, volume in container.mounts:
            host = volume.get_map("hostPath")
            if host.get_str("path").rstrip("/") in ("/dev/shm", "/run/shm"):  # noqa: S108
                message = f"{container.name} mounts the node's shared memory at {mount.get_str('mountPath')}"
                yield ctx.finding(RULE, pod.resource.at(host, "path"), message)
