"""HU407: an NFS mount of models with default attribute caching, while something writes there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..index import Index
from ..lazy import lazy
from ..rulebase import Context
from ..sources.kubernetes import Resource
from ..sources.pods import Pod
from ..sources.yamlnodes import Seq, dig, text
from ..volumes import model_path_on, stores

RULE = Rule(
    id="HU407",
    name="default-attribute-cache",
    family="HU4",
    severity=Severity.INFO,
    summary="NFS model volume with default attribute caching and a writer",
    what="PersistentVolumes on NFS or EFS without actimeo, acregmax, acdirmax, lookupcache or noac among their mount "
    "options, from which a model server reads and to which another pod of the tree writes.",
    why="With the defaults a client trusts what it knows of a file for up to a minute: replicas see a new version at "
    "different times, and a reader can map a file by an old size and be killed by SIGBUS when it was truncated "
    "(NVIDIA/TensorRT-LLM#17368).",
    hint="set mountOptions such as actimeo=1 or lookupcache=positive, and publish versions under new paths",
    bad="""\
kind: PersistentVolume
spec:
  nfs: {server: files, path: /models}
""",
    good="""\
kind: PersistentVolume
spec:
  mountOptions: [actimeo=1, lookupcache=positive]
  nfs: {server: files, path: /models}
""",
    exemptions=("volumes that no pod of the tree writes", "volumes that no model server reads"),
    references=("https://github.com/NVIDIA/TensorRT-LLM/issues/17368",),
    reads=("kubernetes",),
)

_CACHING = lazy(r"^(actimeo|ac(reg|dir)(min|max)|lookupcache|noac|sync$)")


def check(volume: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge a PersistentVolume by its options and by who uses the claim on it."""
    if volume.kind != "PersistentVolume":
        return
    driver = text(dig(volume.spec, "csi", "driver"))
    if not volume.spec.get_map("nfs") and not re.search(r"efs|nfs|filestore", driver):
        return
    options = volume.spec.get("mountOptions")
    if isinstance(options, Seq) and any(_CACHING.match(text(option)) for option in options):
        return
    users = [pod for claim in _claims(volume, ctx) for pod in ctx.index.claim_users(claim, volume)]
    readers = [pod for pod in users if _serves_from(pod, ctx)]
    writers = [pod for pod in users if pod not in readers and _writes(pod)]
    if readers and writers:
        key = "nfs" if "nfs" in volume.spec else "csi"
        message = (
            f"{writers[0].resource.identity} writes and {readers[0].resource.identity} serves from it with default "
            "attribute caching"
        )
        yield ctx.finding(RULE, volume.at_key(volume.spec, key), message)


def _claims(volume: Resource, ctx: Context) -> list[str]:
    """The claims bound to a volume, by either side's name."""
    bound = text(dig(volume.spec, "claimRef", "name"))
    return [name for name in dict.fromkeys([bound, *_bound(ctx.index).get(volume.name, [])]) if name]


@lru_cache(maxsize=1)
def _bound(index: Index) -> dict[str, list[str]]:
    """Volume name -> the claims that name it."""
    found: dict[str, list[str]] = defaultdict(list)
    for claim in index.by_kind.get("PersistentVolumeClaim", []):
        found[claim.spec.get_str("volumeName")].append(claim.name)
    return found


def _serves_from(pod: Pod, ctx: Context) -> bool:
    return any(
        store.network and model_path_on(server, store) is not None
        for server in ctx.index.servers(pod)
        for store in stores(ctx.index, server)
    )


def _writes(pod: Pod) -> bool:
    """Whether some container mounts a claim writable."""
    return any(
        "persistentVolumeClaim" in volume and mount.get("readOnly") is not True
        for container in [*pod.containers, *pod.init_containers]
        for mount, volume in container.mounts
    )
