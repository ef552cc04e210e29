"""HU205: model configuration mounted by subPath, which never updates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.pods import Pod
from ..sources.yamlnodes import Map

RULE = Rule(
    id="HU205",
    name="subpath-model-config",
    family="HU2",
    severity=Severity.WARNING,
    summary="model configuration mounted from a ConfigMap by subPath",
    what="A model server that mounts a ConfigMap with `subPath` (or `subPathExpr`) onto a model configuration file: "
    "config.pbtxt, JSON, YAML, a chat template or a models file.",
    why="The kubelet never updates a subPath mount: after a change, pods that were there before keep the old "
    "configuration and pods started later get the new one, so one Service answers in two ways.",
    hint="mount the whole map as a folder, or make it immutable with the version in its name and roll out a change",
    bad="""\
containers:
  - name: triton
    image: nvcr.io/nvidia/tritonserver:24.08-py3
    volumeMounts: [{name: config, mountPath: /models/ranker/config.pbtxt, subPath: config.pbtxt}]
volumes:
  - name: config
    configMap: {name: ranker-config}
""",
    good="""\
containers:
  - name: triton
    image: nvcr.io/nvidia/tritonserver:24.08-py3
    volumeMounts: [{name: config, mountPath: /config}]
volumes:
  - name: config
    configMap: {name: ranker-config}
""",
    exemptions=("immutable maps of the run", "scripts and other files that are no model configuration"),
    reads=("pod",),
)

_CONFIG = re.compile(r"\.(pbtxt|json|ya?ml|jinja2?|config|properties|toml|txt)$|config|template", re.IGNORECASE)
_SCRIPT = re.compile(r"\.(sh|py|pl|lua)$|entrypoint|run\b", re.IGNORECASE)


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the mounts of one pod's servers."""
    for container in ctx.index.servers(pod):
        for mount, volume in container.mounts:
            key = "subPath" if "subPath" in mount else "subPathExpr"
            name = volume.get_map("configMap").get_str("name")
            if key not in mount or not name or _immutable(pod, name, ctx):
                continue
            target = mount.get_str("mountPath").rsplit("/", 1)[-1] or mount.get_str(key)
            if _CONFIG.search(target) and not _SCRIPT.search(target):
                message = f"{container.name} never sees a change of {target} in ConfigMap {name}"
                yield ctx.finding(RULE, pod.resource.at(mount, key), message)


def _immutable(pod: Pod, name: str, ctx: Context) -> bool:
    found = ctx.index.find("ConfigMap", name, pod.resource)
    root: Map | None = found.root if found else None
    return root is not None and root.get("immutable") is True
