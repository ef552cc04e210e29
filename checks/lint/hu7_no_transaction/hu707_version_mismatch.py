"""HU707: an object that says one model version and serves another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Location, Severity
from ....report.rule import Rule
from ..lazy import lazy
from ..rulebase import Context
from ..sources.argv import is_placeholder
from ..sources.kubernetes import Resource
from ..sources.pods import Pod
from ..sources.yamlnodes import Map, text, walk

RULE = Rule(
    id="HU707",
    name="version-label-mismatch",
    family="HU7",
    severity=Severity.WARNING,
    summary="version label that differs from the version served",
    what="Serving objects whose model version label or annotation (model-version, model_version, version) differs "
    "from the "
    "one version segment in their storageUri, model path or MODEL_VERSION.",
    why="Dashboards, canary analysis and rollback go by the label. When the URI moved and the label did not, a bad "
    "version "
    "is measured as the old one and rolling back 'to v1' changes nothing.",
    hint="change label and location together, best from one value",
    bad="""\
metadata:
  labels: {model-version: v1}
spec:
  predictor: {model: {storageUri: s3://models/fraud/v2}}
""",
    good="""\
metadata:
  labels: {model-version: v2}
spec:
  predictor: {model: {storageUri: s3://models/fraud/v2}}
""",
    exemptions=(
        "app.kubernetes.io/version: it names the software",
        "locations with no version segment, or with several",
        "a plain version label, unless both it and the location look like v2",
    ),
    reads=("kubernetes",),
)

_LABEL = lazy(r"(^|[./])model[-_.]?version$", re.IGNORECASE)
_VERSION = lazy(r"^[vV]?\d+(\.\d+){0,3}$")
_URI_KEYS = frozenset({"storageUri", "modelUri", "uri"})
_SCHEME = lazy(r"^[a-z0-9+]+://")


def check(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge one serving object."""
    pods = [pod for pod in resource.pods if ctx.index.servers(pod) or pod.managed == "kserve"]
    if not pods or resource.kind == "ServingRuntime":
        return
    served = dict(_served(resource, pods))
    if len(served) != 1:
        return
    ((version, where),) = served.items()
    holders = [resource.meta, *(pod.meta for pod in pods if pod.meta is not resource.meta)]
    for holder in holders:
        for section in ("labels", "annotations"):
            labels = holder.get_map(section)
            for key, value in labels.items():
                if _speaks_of_model(key, text(value), version) and _bare(text(value)) != _bare(version):
                    message = f"{key} says {text(value)}, and what is served is {version}"
                    yield ctx.finding(RULE, resource.at(labels, key), message, related=(where,))


def _speaks_of_model(key: str, value: str, version: str) -> bool:
    if not _VERSION.match(value):
        return False
    return bool(_LABEL.search(key)) or (key == "version" and value[0] in "vV" and version[0] in "vV")


def _bare(version: str) -> str:
    """`v1.0`, `1` and `V1` are one version."""
    return re.sub(r"(\.0+)+$", "", version.lstrip("vV"))


def _served(resource: Resource, pods: list[Pod]) -> Iterator[tuple[str, Location]]:
    """(version, where) of each version that locations and MODEL_VERSION name."""
    for holder, key in walk(resource.spec):
        if key in _URI_KEYS:
            yield from _of_location(holder.get_str(key), resource.at(holder, key))
    for container in (c for pod in pods for c in pod.containers):
        entry = container.env.get("MODEL_VERSION")
        value = text(entry.get("value")) if isinstance(entry, Map) else ""
        if entry is not None and _VERSION.match(value):
            yield value, resource.at(entry, "value")
        for name in container.runtime.model_flags if container.runtime else ():
            flag = container.flag(name)
            if flag is not None and flag.value and flag.value.startswith("/"):
                yield from _of_location(flag.value, resource.at_word(flag.at))


def _of_location(uri: str, where: Location) -> Iterator[tuple[str, Location]]:
    if is_placeholder(uri):
        return
    segments = [part for part in _SCHEME.sub("", uri).split("/")[1:] if _VERSION.match(part)]
    if len(segments) == 1:
        yield segments[0], where
