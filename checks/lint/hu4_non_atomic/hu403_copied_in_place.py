"""HU403: a shell command that copies a model file by file to where a server reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from posixpath import dirname
from typing import TYPE_CHECKING

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from .. import runtimes
from ..index import Index
from ..lazy import lazy
from ..paths import has_version, is_test
from ..rulebase import Context
from ..served import CONVENTIONAL, STAGING, inside, pods_beside, polled_paths, served_paths, served_uris
from ..sources.pods import Container
from ..sources.scripts import ShellText
from ..sources.yamlnodes import Map
from ..volumes import Store, model_path_on, stores
from .mentions import COPIES

if TYPE_CHECKING:
    from .copies import Copy

RULE = Rule(
    id="HU403",
    name="model-copied-in-place",
    family="HU4",
    severity=Severity.WARNING,
    summary="model copied file by file to where a server reads it",
    what="cp -r, rsync without --delay-updates, aws s3 sync, gcloud storage and gsutil, hf download --local-dir, tar "
    "and loops of single copies in scripts, CI steps, ConfigMaps and containers, whose target is a path or prefix that "
    "a server reads, without a version in it. An error when a server of the tree polls that target.",
    why="While the copy runs the target holds files of two versions, and a server that starts, scales out or polls in "
    "between loads the mixture: saved_model.pb of the new version with variables of the old (tensorflow/serving#1086, "
    "#572). A copy that fails leaves the mixture for good.",
    hint="copy into a new version directory or prefix, then switch: mv -T, a symlink swap, or a new URI to serve",
    bad="""\
rsync -a build/ranker/ /mnt/efs/model-store/ranker/
""",
    good="""\
rsync -a build/ranker/ /mnt/efs/model-store/.ranker-7/
mv -T /mnt/efs/model-store/.ranker-7 /mnt/efs/model-store/ranker/7
""",
    example="bash",
    exemptions=(
        "targets with a version, digest, date or a variable that is called so",
        "staging targets that a later mv or ln of the same script puts into place",
        "volumes of the pod alone, image builds, test suites, and targets relative to the working directory",
        "init containers, which HU408 judges",
    ),
    references=(
        "https://github.com/tensorflow/serving/issues/1086",
        "https://github.com/tensorflow/serving/issues/572",
    ),
    reads=("shell",),
)

_NETWORK = lazy(
    r"^/(mnt|media|srv|vol(ume)?s?)/(efs|nfs|fsx|lustre|gcs|s3|smb|share[sd]?|filestore)\b|^/(efs|nfs|fsx|lustre)/"
)
_MOUNTERS = frozenset({"mount", "s3fs", "gcsfuse", "blobfuse2", "goofys", "mount-s3"})
_MODEL = lazy(r"model|weights|checkpoint|ckpt", re.IGNORECASE)


def check(text: ShellText, ctx: Context) -> Iterator[Finding]:
    """Judge the copying commands of a shell text."""
    if text.how == "dockerfile" or not COPIES.search(text.text) or is_test(text.path):
        return
    if text.container is not None and text.container.init:
        return
    from .copies import copies

    for copy in copies(text.commands):
        where = _served(text, copy, ctx)
        if not where or has_version(copy.path) or STAGING.search(copy.path) or _moved_later(text, copy):
            continue
        polled = any(inside(copy.path, path) or inside(path, copy.path) for path in polled_paths(ctx.index))
        yield ctx.finding(
            RULE,
            text.at(copy.target),
            f"{copy.tool} writes {copy.path} file by file, {where}",
            severity=Severity.ERROR if polled else None,
        )


def _served(text: ShellText, copy: Copy, ctx: Context) -> str:
    """Why a target counts as served, as a phrase; empty where it does not."""
    path = copy.path.rstrip("/")
    if "://" in path:
        return _served_uri(text, path, ctx)
    if not path.startswith(("/", "$")):
        return ""
    if text.container is not None:
        return _served_volume(text.container, path, ctx)
    mounted = bool(_NETWORK.search(path)) or _mounts(text, path)
    if path.startswith("/") and any(inside(path, folder) for folder in served_paths(ctx.index, text.path)):
        return (
            "" if _starts_server_after(text, copy) and not mounted else "where a server of this tree reads its models"
        )
    if copy.tool in ("wget", "curl") or not CONVENTIONAL.search(path):
        return ""
    if mounted or path.startswith("$"):
        return "" if _starts_server_after(text, copy) and not mounted else "a model store that servers read"
    return ""


def _served_uri(text: ShellText, path: str, ctx: Context) -> str:
    if any(
        inside(path, uri) or inside(uri, path) for uri in served_uris(ctx.index) if uri.count("/") > 2 or path == uri
    ):
        return "the prefix that a server of this tree loads from"
    bucket = "/".join(path.split("/")[:3])
    serves = dirname(text.path) in _serving_folders(ctx.index)
    named = _MODEL.search(path.removeprefix(bucket))
    return "a model prefix without a version beside the manifests that serve it" if serves and named else ""


@lru_cache(maxsize=1)
def _serving_folders(index: Index) -> frozenset[str]:
    """Folders with a model server, or with something that keeps an accelerator and is no batch work."""
    return frozenset(
        dirname(pod.resource.path)
        for pod in index.pods
        if index.servers(pod) or (pod.managed != "job" and any(container.accelerated for container in pod.containers))
    )


def _served_volume(container: Container, path: str, ctx: Context) -> str:
    """Whether a server of another workload reads its model from the volume that holds the path."""
    pod = container.pod
    held = container.mount_of(path) if path.startswith("/") else None
    if held is None:
        return ""
    mine = next((store for store in stores(ctx.index, container) if store.mount is held[0]), None)
    claim = _claim(held[1])
    near = pods_beside(ctx.index, pod.resource.path)
    users = ctx.index.claim_users(claim, pod.resource) if claim else near if mine else []
    for other in users:
        if other.resource is pod.resource or dirname(other.resource.path) != dirname(pod.resource.path):
            continue
        for server in ctx.index.servers(other):
            if claim and any(
                volume.get_map("persistentVolumeClaim").get_str("claimName") == claim for _, volume in server.mounts
            ):
                return f"on the claim that {other.resource.identity} serves from"
            if mine and any(_same(mine, store) and model_path_on(server, store) for store in stores(ctx.index, server)):
                return f"on the {mine.what} that {other.resource.identity} serves from"
    return ""


def _claim(volume: Map) -> str:
    return volume.get_map("persistentVolumeClaim").get_str("claimName")


def _same(one: Store, other: Store) -> bool:
    return one.what == other.what and bool(one.name) and one.name == other.name


def _mounts(text: ShellText, path: str) -> bool:
    """Whether the script itself mounts a network file system above the path."""
    for command in text.commands:
        at = command.argv[-1] if command.name in _MOUNTERS and len(command.argv) > 2 else ""
        if at.startswith("/") and inside(path, at.rstrip("/")):
            return True
    return False


def _starts_server_after(text: ShellText, copy: Copy) -> bool:
    """Whether the script starts a server itself once the copy is done."""
    commands = text.commands
    later = commands[commands.index(copy.command) + 1 :]
    return any(runtimes.by_command(command.argv) is not None for command in later)


def _moved_later(text: ShellText, copy: Copy) -> bool:
    """Whether a later mv or ln takes the target as its source."""
    commands = text.commands
    target = copy.target.text.rstrip("/")
    for command in commands[commands.index(copy.command) + 1 :]:
        if command.name in ("mv", "ln", "rename") and any(
            word.rstrip("/") == target or inside(word, target) for word in command.argv[1:-1]
        ):
            return True
    return False
