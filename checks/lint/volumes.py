"""Volumes that outlive a pod and that other pods see too: node directories, network file systems, shared claims and
mounted buckets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .index import Index
from .lazy import lazy
from .paths import has_version
from .served import inside, model_paths
from .sources.pods import Container, Pod
from .sources.yamlnodes import EMPTY, Map, Seq, dig, text

_BUCKET = lazy(
    r"gcsfuse|s3fs|s3\.csi|mountpoint|blob\.csi|goofys|juicefs|rclone|ossplugin|\bfuse\b|csi-s3", re.IGNORECASE
)
_NETWORK = lazy(
    r"nfs|efs|filestore|lustre|fsx|cifs|smb|azure-?file|file\.csi|cephfs|glusterfs|gpfs|weka|rwx|longhorn-rwx",
    re.IGNORECASE,
)
_DEFAULT_CACHES = {
    "vllm": ("/root/.cache/huggingface",),
    "sglang": ("/root/.cache/huggingface",),
    "tgi": ("/data",),
    "lorax": ("/data",),
    "tei": ("/data",),
    "torchserve": ("/home/model-server/model-store",),
    "tfserving": ("/models",),
    "nim": ("/opt/nim/.cache",),
    "ollama": ("/root/.ollama",),
    "kserve": ("/mnt/models",),
}
_MODELISH = lazy(
    r"(^|/)(models?|model[-_]?(store|repository|repo|cache|dir|data)s?|weights|checkpoints?|hugging-?face|hf[-_]?(home|cache|hub))(/|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """A shared volume as one container mounts it. `what` says what it is, `name` where (node path, claim, bucket);
    `network` whether another machine can change it under a reader."""

    what: str
    name: str
    network: bool
    mount: Map
    volume: Map
    read_only: bool

    @property
    def path(self) -> str:
        """Where the container sees it."""
        return self.mount.get_str("mountPath").rstrip("/") or "/"

    @property
    def versioned(self) -> bool:
        """Whether the part of the volume that is mounted has a version in its path."""
        parts = (self.mount.get_str("subPath"), self.mount.get_str("subPathExpr"), _source_path(self.volume))
        return any(has_version(part) for part in parts)


def stores(index: Index, container: Container) -> list[Store]:
    """The shared volumes that a container mounts."""
    found = (_store(index, container.pod, mount, volume) for mount, volume in container.mounts)
    return [store for store in found if store is not None]


def _store(index: Index, pod: Pod, mount: Map, volume: Map) -> Store | None:
    mounted_read_only = mount.get("readOnly") is True
    host = volume.get_map("hostPath")
    if host:
        return Store("node directory", host.get_str("path"), False, mount, volume, mounted_read_only)
    nfs = volume.get_map("nfs")
    if nfs:
        name = f"{nfs.get_str('server')}:{nfs.get_str('path')}"
        return Store("NFS export", name, True, mount, volume, mounted_read_only or nfs.get("readOnly") is True)
    csi = volume.get_map("csi")
    if csi:
        what = _driver(csi.get_str("driver"))
        read_only = mounted_read_only or csi.get("readOnly") is True or _mounted_ro(csi.get_map("volumeAttributes"))
        name = dig(csi, "volumeAttributes", "bucketName") or csi.get_str("driver")
        return Store(what, text(name), True, mount, volume, read_only) if what else None
    claim = volume.get_map("persistentVolumeClaim")
    if claim or "spec" in volume:
        return _claimed(index, pod, mount, volume, mounted_read_only or claim.get("readOnly") is True)
    return None


def _claimed(index: Index, pod: Pod, mount: Map, volume: Map, read_only: bool) -> Store | None:
    name, spec = index.claim(pod, volume)
    modes = index.access_modes(pod, volume)
    backing = index.find("PersistentVolume", spec.get_str("volumeName"), pod.resource) if spec else None
    source = backing.spec if backing else EMPTY
    driver = _driver(dig(source, "csi", "driver")) or ("NFS export" if source.get_map("nfs") else "")
    if not modes and "spec" not in volume:
        # The claim is not in the tree: only its name can say that many pods write it.
        what = "bucket" if _BUCKET.search(name) else "shared claim" if _NETWORK.search(name) else ""
        return Store(what, name, True, mount, volume, read_only) if what else None
    if "ReadWriteMany" not in modes:
        return None
    options: Any = source.get("mountOptions")
    mounted_ro = isinstance(options, Seq) and "ro" in [text(item) for item in options]
    read_only = read_only or mounted_ro or dig(source, "csi", "readOnly") is True
    return Store(driver or "ReadWriteMany claim", name, True, mount, volume, read_only)


def _driver(driver: Any) -> str:
    name = text(driver)
    return "bucket" if _BUCKET.search(name) else "network file system" if _NETWORK.search(name) else ""


def _mounted_ro(attributes: Map) -> bool:
    return "ro" in re.split(r"[,\s]+", attributes.get_str("mountOptions"))


def _source_path(volume: Map) -> str:
    """The path inside what backs the volume, where it is written down."""
    options = text(dig(volume, "csi", "volumeAttributes", "mountOptions"))
    only = re.search(r"only-dir[=:]([^,\s]+)", options)
    paths = (dig(volume, "hostPath", "path"), dig(volume, "nfs", "path"), only[1] if only else "")
    return next((text(path) for path in paths if path), "")


def model_path_on(container: Container, store: Store) -> str | None:
    """The model or cache path of a server that lies on a store; None when it keeps something else there."""
    runtime = container.runtime.id if container.runtime else ""
    for path in [*model_paths(container), *_DEFAULT_CACHES.get(runtime, ())]:
        if inside(path, store.path) or inside(store.path, path):
            held = container.mount_of(path)
            if held is None or held[0] is store.mount or inside(store.path, path):
                return path
    return store.path if _MODELISH.search(store.path) else None
