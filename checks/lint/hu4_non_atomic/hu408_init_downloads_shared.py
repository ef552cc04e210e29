"""HU408: an init container that downloads into a volume from which other pods already serve."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..lazy import lazy
from ..paths import has_version
from ..rulebase import Context
from ..sources.pods import Container, Pod
from ..volumes import Store, model_path_on, stores

RULE = Rule(
    id="HU408",
    name="init-download-into-shared",
    family="HU4",
    severity=Severity.WARNING,
    summary="init container downloads into a volume that running pods serve from",
    what="Init containers that write to a node directory, NFS export, bucket or ReadWriteMany claim from which the "
    "servers of the same workload read their model, at a path without a version.",
    why="Every new replica, and every restart, downloads again over the files that the other replicas have mapped and "
    "serve: half-replaced weights, and SIGBUS on a truncated file. Of 32 public manifests with this shape none kept "
    "versions apart.",
    hint="download to a versioned directory, or once in a Job before the rollout, and mount the model read-only",
    bad="""\
initContainers:
  - name: fetch
    image: amazon/aws-cli
    command: [aws, s3, sync, "s3://models/ranker", /models/ranker]
    volumeMounts: [{name: models, mountPath: /models}]
volumes:
  - name: models
    hostPath: {path: /mnt/models}
""",
    good="""\
initContainers:
  - name: fetch
    image: amazon/aws-cli
    command: [aws, s3, sync, "s3://models/ranker/7", /models/ranker]
    volumeMounts: [{name: models, mountPath: /models}]
volumes:
  - name: models
    emptyDir: {}
""",
    exemptions=(
        "emptyDir, ReadWriteOnce and read-only volumes",
        "a version in the mounted path or in the server's model path",
        "init containers that only check, list, or change owners and modes; native sidecars",
    ),
    references=("https://github.com/vllm-project/aibrix/tree/main/samples",),
    reads=("pod",),
)

_HARMLESS = lazy(
    r"^(chown|chmod|ls|mkdir|echo|sleep|true|test|\[|\[\[|find|du|df|cat|sha\d+sum|md5sum|cosign|verify|sysctl|set|until|nc|ulimit|stat|id)$"
)


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the init containers of a pod that has model servers."""
    if pod.managed == "job" or not pod.init_containers:
        return
    served = [
        (server, store)
        for server in ctx.index.servers(pod)
        for store in stores(ctx.index, server)
        if not store.versioned and not has_version(model_path_on(server, store) or "")
        if model_path_on(server, store) is not None
    ]
    for init in pod.init_containers:
        if init.is_sidecar or _only_looks(init):
            continue
        for store in stores(ctx.index, init):
            found = next((pair for pair in served if pair[1].volume is store.volume), None)
            if found is None or store.read_only or store.versioned or has_version(_target(init, store)):
                continue
            server, _ = found
            message = (
                f"init container {init.name} writes to the {store.what} that {server.name} serves from in every pod"
            )
            where = pod.resource.at(store.mount, "mountPath")
            yield ctx.finding(RULE, where, message, related=(pod.resource.at_map(server.map),))
            break


def _only_looks(init: Container) -> bool:
    """Whether all that it runs reads, or changes owners and modes."""
    names = [line[0].text.rsplit("/", 1)[-1] for line in init.lines if line]
    return bool(names) and all(_HARMLESS.match(name) for name in names)


def _target(init: Container, store: Store) -> str:
    """The path below the mount that its words name, the mount itself when they name none."""
    for line in init.lines:
        for word in line:
            text = init.expand(word.text)
            if text.startswith(store.path) and text.rstrip("/") != store.path:
                return text[len(store.path) :]
    return ""
