"""HU601: a model is fetched and loaded with nothing in between that checks who made it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Location, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.pods import Container, Pod
from .models import of_container

RULE = Rule(
    id="HU601",
    name="unverified-fetch",
    family="HU6",
    severity=Severity.INFO,
    summary="model fetched and loaded without verification",
    what="Pods whose model server or init container fetches a model (a hub id, a bucket, a download command), with no "
    "step that verifies a signature or digest before the server loads it. Reported with --pedantic, and as an error "
    "where the settings require it (`lint.require: [verify]`).",
    why="Whoever can write to the bucket or the hub repository decides what production serves; a transfer that was cut "
    "short or a cache that was poisoned is loaded just the same (huggingface/huggingface_hub#4228).",
    hint="fetch with interlock pull --verify in an init container, and let the server read that folder only",
    bad="""\
initContainers:
  - name: fetch
    image: amazon/aws-cli:2.27.0
    args: [s3, cp, --recursive, "s3://models/ranker/7", /models]
containers:
  - name: server
    image: nvcr.io/nvidia/tritonserver:24.08-py3
""",
    good="""\
initContainers:
  - name: fetch
    image: registry.example/interlock:0.1.0
    args: [pull, "oci://registry.example/ranker@sha256:…", /models, --verify]
containers:
  - name: server
    image: nvcr.io/nvidia/tritonserver:24.08-py3
""",
    exemptions=(
        "pods with a verifying step: interlock verify or pull --verify, cosign, model_signing, or sha256sum -c",
        "models in the image, whose digest covers them",
    ),
    references=("https://github.com/huggingface/huggingface_hub/issues/4228",),
    reads=("pod",),
)

_VERIFIES = re.compile(
    r"\b(interlock|cosign|model[_-]signing|notation|slsa-verifier|gpg|minisign)\b.*\bverif|\binterlock\b.*--verify"
    r"|\bpull\b.*--verify\b|\bsha(256|512)sum\b.*(-c|--check)\b|verify-(model|signature)",
    re.DOTALL,
)
_FETCHES = re.compile(
    r"\b(aws\b.*\bs3|s3)\s+(cp|sync)\b|\bgsutil\b.*\b(cp|rsync)\b|\bgcloud storage (cp|rsync)\b|\bazcopy\b|\brclone\b"
    r"|\b(huggingface-cli|hf) download\b|\bsnapshot_download\b"
    r"|\b(wget|curl)\b.*\.(onnx|safetensors|gguf|bin|pt|tar|tgz|mar)"
    r"|\bgit (lfs )?clone\b.*(huggingface\.co|hf\.co)|\boras pull\b|\bkit (pull|unpack)\b",
    re.DOTALL,
)


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge one pod."""
    required = ctx.requires("verify")
    servers = ctx.index.servers(pod)
    everyone = [*pod.init_containers, *pod.containers]
    if not servers or not (required or ctx.pedantic) or any(_VERIFIES.search(_text(each)) for each in everyone):
        return
    where, what = _fetch(pod, servers)
    if where is not None:
        severity = Severity.ERROR if required else None
        yield ctx.finding(RULE, where, f"{what} and nothing verifies it before it is loaded", severity=severity)


def _fetch(pod: Pod, servers: list[Container]) -> tuple[Location | None, str]:
    """Where a pod fetches a model, and how."""
    for container in pod.init_containers:
        if _FETCHES.search(_text(container)):
            return pod.resource.at_map(container.map), f"init container {container.name} fetches a model"
    for container in servers:
        for use in of_container(container):
            return use.where, f"container {container.name} fetches {use.id.partition(':')[0]}"
        storage = container.map.get("storageUri")
        if isinstance(storage, str):
            return pod.resource.at(container.map, "storageUri"), f"the storage initializer fetches {storage}"
    return None, ""


def _text(container: Container) -> str:
    """Image and command line of a container as one text, for searching."""
    command, arguments = container.words
    return " ".join([container.image.repository, *(word.text for word in [*command, *arguments])])
