"""HU204: the served model is named in a ConfigMap that can change without a rollout."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Fix, Severity
from ....report.rule import Rule
from ..fixes import add_entry
from ..rulebase import Context
from ..sources.argv import is_placeholder
from ..sources.kubernetes import Resource
from ..sources.pods import Pod

RULE = Rule(
    id="HU204",
    name="mutable-model-config",
    family="HU2",
    severity=Severity.WARNING,
    summary="model named in a ConfigMap that changes without a rollout",
    what="A ConfigMap entry that names a model or its revision (MODEL_ID, MODEL_NAME, REVISION, storage URIs) and that "
    "a model server takes as environment or volume, where the map is not immutable, has no hash in its name, and no "
    "checksum annotation or reloader ties the pods to it.",
    why="Editing the map changes nothing until some pod restarts, and then that one alone serves another model than "
    "its neighbours; nobody rolled anything out, and there is nothing to roll back (BerriAI/litellm#5318).",
    hint="make the map immutable with the version in its name, or annotate the pod template with its checksum",
    bad="""\
apiVersion: v1
kind: ConfigMap
metadata: {name: chat-model}
data: {MODEL_ID: acme/chat, REVISION: a09a35458c702b33eeacc393d103063234e8bc28}
# a server takes it by envFrom
""",
    good="""\
apiVersion: v1
kind: ConfigMap
metadata: {name: chat-model-a09a354}
immutable: true
data: {MODEL_ID: acme/chat, REVISION: a09a35458c702b33eeacc393d103063234e8bc28}
""",
    exemptions=(
        "immutable maps, names with a hash or version suffix that are immutable, kustomize's generated maps",
        "pods with a checksum annotation, or watched by a reloader (stakater, a config or LoRA syncer sidecar)",
        "maps that no model server uses",
    ),
    references=("https://github.com/BerriAI/litellm/issues/5318",),
    reads=("kubernetes",),
    fix="safe",
)

_KEY = re.compile(
    r"^(.*_)?(MODEL(_?(ID|NAME|PATH|URI|URL|REVISION|VERSION|SOURCE))?|REVISION|STORAGE_?URI)$", re.IGNORECASE
)
_GENERATED = re.compile(r"-(v?\d+([.-]\d+)*|[0-9a-f]{7,40}|[a-z0-9]{10})$")
_CHECKSUM = re.compile(r"checksum|config-?hash|sha256|configmap\.reloader|reloader\.stakater\.com")
_SYNCER = re.compile(r"reloader|sync(er)?\b|config-watcher")


def check(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge one ConfigMap."""
    if resource.kind != "ConfigMap" or resource.root.get("immutable") is True:
        return
    data = resource.root.get_map("data")
    named = [key for key in data if _KEY.match(key) and data.get_str(key) and not is_placeholder(data.get_str(key))]
    if not named:
        return
    users = [pod for pod, _, _ in ctx.index.config_users(resource) if ctx.index.servers(pod) and not _tied(pod)]
    if not users:
        return
    fix = None
    if _GENERATED.search(resource.name):
        edit = add_entry(resource, resource.root, "metadata", ["immutable: true"])
        fix = Fix((edit,), title="make the map immutable") if edit else None
    message = f"{named[0]} of {users[0].resource.identity} can change here without a rollout"
    where = resource.at(data, named[0])
    yield ctx.finding(RULE, where, message, fix=fix, related=(users[0].resource.at_map(users[0].resource.meta),))


def _tied(pod: Pod) -> bool:
    """Whether a change of its configuration reaches the pod as a rollout, or at once through a reloader."""
    notes = {**pod.annotations, **pod.resource.annotations}
    sidecars = [*pod.containers, *pod.init_containers]
    return any(map(_CHECKSUM.search, notes)) or any(_SYNCER.search(each.image.repository) for each in sidecars)
