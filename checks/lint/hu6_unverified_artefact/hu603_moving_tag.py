"""HU603: a serving image or an OCI model that a moving tag names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.argv import is_placeholder
from ..sources.kubernetes import Resource
from ..sources.pods import Image, Pod, parse_image
from .models import of_resource

RULE = Rule(
    id="HU603",
    name="moving-image-tag",
    family="HU6",
    severity=Severity.WARNING,
    summary="serving image with a moving tag or none, or OCI model without digest",
    what="Images of model servers tagged latest, nightly, main, master, dev and the like, or not tagged at all, after "
    "kustomize's `images:` are applied; and `oci://` model locations or image volumes without `@sha256:`.",
    why="The runtime or the model changes under a manifest that did not: a node that pulls again serves something else "
    "than its neighbour, and a rollback of the manifest rolls nothing back.",
    hint="name a released version, best by digest (image@sha256:…)",
    bad="""\
containers:
  - name: server
    image: vllm/vllm-openai:latest
""",
    good="""\
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
""",
    exemptions=(
        "versioned tags without a digest: a general image policy, not a matter of the model",
        "placeholders, and repository names that carry the version themselves",
        "containers that are no model servers",
    ),
    reads=("pod", "kubernetes"),
)

_MOVING = re.compile(
    r"^(latest|nightly|main|master|trunk|head|dev|devel|develop|edge|stable|snapshot|unstable|rolling)"
    r"([-_.](?!.*(\d{8}|\d{4}-\d{2}-\d{2}|[0-9a-f]{7,}|\d+\.\d+)).*)?$|[-_.](latest|nightly|snapshot)$",
    re.IGNORECASE,
)
_NAME_HAS_VERSION = re.compile(r"\d+[.-]\d+")
_OCI = ("oci://", "oci+native://", "oci+fetch://")


def check_pod(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the images of a pod's model servers and its image volumes."""
    for container in ctx.index.servers(pod):
        image = ctx.index.image(container)
        if "image" in container.map and (problem := _moving(image)):
            where = pod.resource.at(container.map, "image")
            yield ctx.finding(RULE, where, f"image of container {container.name} {problem}")
        mounted = {mount.get_str("name") for mount, _ in container.mounts}
        for volume in pod.spec.get_maps("volumes"):
            source = volume.get_map("image")
            reference = source.get_str("reference")
            if volume.get_str("name") in mounted and reference and _unpinned(reference):
                where = pod.resource.at(source, "reference")
                yield ctx.finding(RULE, where, f"model volume {volume.get_str('name')} is {reference}, not a digest")


def check_kubernetes(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge OCI model locations of serving objects."""
    for uri, where in of_resource(resource):
        scheme = next((each for each in _OCI if uri.startswith(each)), "")
        if scheme and _unpinned(uri.removeprefix(scheme)):
            hint = "use the digest that interlock publish printed: …@sha256:…"
            yield ctx.finding(RULE, where, f"model {uri} is named by tag, not by digest", hint=hint)
    if resource.kind == "InferenceService":
        yield from _components(resource, ctx)
    if resource.kind == "RayService":
        yield from _ray_nodes(resource, ctx)


def _ray_nodes(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge the nodes of a RayService: its replicas run in them, whatever their image. Other containers are helpers."""
    for pod in resource.pods:
        for container in pod.containers[:1]:
            if container not in ctx.index.servers(pod) and (problem := _moving(ctx.index.image(container))):
                where = resource.at(container.map, "image")
                yield ctx.finding(RULE, where, f"image of the Ray container {container.name} {problem}")


def _components(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge the user's own containers of an InferenceService: each of them answers requests, whatever its image."""
    known = {container.map.get_str("image") for pod in resource.pods for container in ctx.index.servers(pod)}
    for role in ("predictor", "transformer", "explainer"):
        component = resource.spec.get_map(role)
        for container in [*component.get_maps("containers"), component.get_map("custom").get_map("container")]:
            reference = container.get_str("image")
            if reference and reference not in known and (problem := _moving(parse_image(reference))):
                yield ctx.finding(RULE, resource.at(container, "image"), f"image of the {role} {problem}")


def _unpinned(reference: str) -> bool:
    return "@sha256:" not in reference and not is_placeholder(reference)


def _moving(image: Image) -> str:
    """What is wrong with an image reference, empty when nothing is."""
    if not image.known or image.digest:
        return ""
    if not image.tag:
        name = image.repository.rsplit("/", 1)[-1]
        return "" if _NAME_HAS_VERSION.search(name) else f"has no tag, which means latest: {image.text}"
    return f"has the moving tag {image.tag}" if _MOVING.search(image.tag) else ""
