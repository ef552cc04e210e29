"""HU202: versions that share one writable model store or cache."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from posixpath import dirname

from ....report.finding import Finding, Location, Severity
from ....report.rule import Rule
from ..index import Index
from ..paths import has_version
from ..rulebase import Context
from ..sources.argv import is_placeholder
from ..sources.pods import Container, Pod
from ..volumes import Store, model_path_on, stores

RULE = Rule(
    id="HU202",
    name="shared-writable-store",
    family="HU2",
    severity=Severity.WARNING,
    summary="model store or cache that every version can write",
    what="A node directory, NFS export, ReadWriteMany claim or mounted bucket that a model server mounts writable at "
    "its model or cache path, with no version or digest in the mounted path. An error when two workloads of the run "
    "serve different versions of one model from it.",
    why="What one version downloads, converts or deletes, the other serves. Hub caches lock their files with flock, "
    "which does nothing on Lustre, GPFS and some NFS servers: processes sharing HF_HOME corrupt each other's blobs "
    "(huggingface/huggingface_hub#4228).",
    hint="mount it readOnly, or give each version its own directory: subPathExpr: $(MODEL_VERSION)",
    bad="""\
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
    volumeMounts: [{name: cache, mountPath: /root/.cache/huggingface}]
volumes:
  - name: cache
    hostPath: {path: /mnt/huggingface}
""",
    good="""\
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
    volumeMounts: [{name: cache, mountPath: /root/.cache/huggingface, subPathExpr: $(MODEL_REVISION)}]
volumes:
  - name: cache
    hostPath: {path: /mnt/huggingface}
""",
    exemptions=(
        "read-only mounts and ReadOnlyMany claims, emptyDir, ReadWriteOnce claims",
        "a version, digest or date in the path, subPath or subPathExpr",
        "claims that are not in the tree, unless their name says that they are network storage",
    ),
    references=("https://github.com/huggingface/huggingface_hub/issues/4228",),
    reads=("pod",),
)


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the mounts of a pod's servers, each volume once."""
    seen: set[int] = set()
    for container in ctx.index.servers(pod):
        for store in stores(ctx.index, container):
            path = model_path_on(container, store)
            if path is None or id(store.volume) in seen or store.read_only or store.versioned or has_version(path):
                continue
            seen.add(id(store.volume))
            other = _other_version(ctx, pod, container, store)
            place = f"writable {_named(store)}"
            message = f"{container.name} keeps {path} on a {place} that every version can write"
            if other is not None:
                message = f"{container.name} and {other.resource.identity} serve two versions from one {place}"
            yield ctx.finding(
                RULE,
                _place(pod, container, store, path),
                message,
                severity=Severity.ERROR if other else None,
                related=(pod.resource.at(store.mount, "mountPath"),),
            )


def _named(store: Store) -> str:
    return store.what if not store.name or is_placeholder(store.name) else f"{store.what} ({store.name})"


def _place(pod: Pod, container: Container, store: Store, path: str) -> Location:
    """The line to change: the node path, an explicit readOnly: false, the option that names the path, or the mount."""
    host = store.volume.get_map("hostPath")
    if "path" in host:
        return pod.resource.at(host, "path")
    if store.mount.get("readOnly") is False:
        return pod.resource.at(store.mount, "readOnly")
    for flag in container.flags:
        if flag.value and container.expand(flag.value).rstrip("/") == path:
            return pod.resource.at_word(flag.word)
    return pod.resource.at(store.mount, "mountPath")


def _other_version(ctx: Context, pod: Pod, container: Container, store: Store) -> Pod | None:
    """Another workload of the same folder that serves another version of the same model from the same store."""
    mine = _version(container)
    if mine is None:
        return None
    model, version = mine
    key = (dirname(pod.resource.path), store.what, store.name, model)
    others = _versions(ctx.index).get(key, {})
    return next(
        (other for each, other in others.items() if each != version and other.resource is not pod.resource), None
    )


@lru_cache(maxsize=1)
def _versions(index: Index) -> dict[tuple[str, str, str, str], dict[str, Pod]]:
    """(folder, kind of store, its name, model) -> a pod for each version that is served from it."""
    found: dict[tuple[str, str, str, str], dict[str, Pod]] = defaultdict(dict)
    for pod in index.pods:
        for container in index.servers(pod):
            named = _version(container)
            for store in stores(index, container) if named else ():
                if named and not store.read_only:
                    key = (dirname(pod.resource.path), store.what, store.name, named[0])
                    found[key].setdefault(named[1], pod)
    return found


def _version(container: Container) -> tuple[str, str] | None:
    """(model, version) as the options and the pod's version label say; None where either is unknown."""
    runtime = container.runtime
    if runtime is None:
        return None
    model = next((flag.value for name in runtime.model_flags if (flag := container.flag(name)) and flag.value), None)
    revision = next(
        (flag.value for name in runtime.revision_flags if (flag := container.flag(name)) and flag.value), None
    )
    labels = container.pod.labels
    version = revision or labels.get("app.kubernetes.io/version") or labels.get("version")
    return (container.expand(model), version) if model and version else None
