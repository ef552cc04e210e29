"""Which local paths the servers of a run read their models from: what writes there can be caught half-way."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from posixpath import dirname, normpath

from . import runtimes
from .index import Index
from .lazy import lazy
from .nearby import Nearby
from .sources.argv import is_placeholder
from .sources.pods import Container, Pod
from .sources.scripts import ShellText
from .sources.yamlnodes import dig, text, walk

# Folders that a server reads from by convention, wherever they are: a model repository or store, KServe's mount.
CONVENTIONAL = lazy(
    r"\bmodel[_-]?(repository|repo|store)s?\b|/mnt/models\b|\bserving[_-]?(dir|path|root|model)s?\b"
    r"|\b(live|served|current|prod(uction)?)[_-]?models?\b|/(live|serving|production)/",
    re.IGNORECASE,
)
STAGING = lazy(
    r"(^|[/._-])(te?mp|staging|stage|partial|incoming|download(s|ing)?|new|next|build|cache)([/._-]|$)|mkd?temp|tempfile|TMPDIR",
    re.IGNORECASE,
)


def pods_beside(index: Index, path: str) -> list[Pod]:
    """The pods whose manifests stand in the same folder as a file."""
    return _by_folder(index).get(dirname(path), [])


@lru_cache(maxsize=1)
def _by_folder(index: Index) -> dict[str, list[Pod]]:
    found: dict[str, list[Pod]] = defaultdict(list)
    for pod in index.pods:
        found[dirname(pod.resource.path)].append(pod)
    return found


def inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def model_paths(container: Container) -> list[str]:
    """The absolute paths that a container's options and environment name as model, repository or cache."""
    runtime = container.runtime
    if runtime is None:
        return []
    found: list[str] = []
    for name in (*runtime.model_flags, *runtime.cache_flags):
        flag = container.flag(name)
        found.append(container.expand(flag.value) if flag is not None and flag.value else "")
    found.extend(container.env_value(name) or "" for name in (*runtime.model_env, *runtime.cache_env))
    if runtime.model_verb:
        found.extend(_verb_operand(container, runtime))
    return [normpath(path) for path in found if path.startswith("/") and path != "/" and not is_placeholder(path)]


def _verb_operand(container: Container, runtime: runtimes.Runtime) -> list[str]:
    """What follows `vllm serve`."""
    for line in container.lines:
        words = [container.expand(word.text) for word in line]
        for index, word in enumerate(words[:-1]):
            if word in runtime.verbs and words[index - 1].rsplit("/", 1)[-1] in runtime.programs:
                return [words[index + 1]]
    return []


def served_paths(index: Index, near: str) -> list[str]:
    """The absolute paths that servers read models from in the manifests, scripts and image builds around a file."""
    return _served(index).find("", near)


@lru_cache(maxsize=1)
def _served(index: Index) -> Nearby[str]:
    found: Nearby[str] = Nearby()
    for pod in index.pods:
        for container in index.servers(pod):
            for path in model_paths(container):
                found.add("", pod.resource.path, path)
    for script in index.of("shell"):
        if isinstance(script, ShellText) and script.container is None and _SERVER.search(script.text):
            for path in _started(script):
                found.add("", script.path, path)
    return found


@lru_cache(maxsize=1)
def served_uris(index: Index) -> frozenset[str]:
    """Every object-store prefix that the manifests of a run serve models from, also as a mounted bucket."""
    found: set[str] = set()
    for resource in index.resources:
        if resource.kind in ("InferenceService", "LLMInferenceService", "SeldonDeployment", "TrainedModel", "Model"):
            for holder, key in walk(resource.spec):
                value = holder[key]
                if key in ("storageUri", "modelUri", "uri", "url") and isinstance(value, str):
                    found.add(value)
    for pod in index.pods:
        for container in index.servers(pod):
            found.update(_uris(container))
    return frozenset(uri.rstrip("/") for uri in found if _BUCKET_URI.match(uri) and not is_placeholder(uri))


def _uris(container: Container) -> Iterator[str]:
    runtime = container.runtime
    for name in (*runtime.model_flags, *runtime.cache_flags) if runtime else ():
        flag = container.flag(name)
        if flag is not None and flag.value:
            yield container.expand(flag.value)
    for name in runtime.model_env if runtime else ():
        yield container.env_value(name) or ""
    for _, volume in container.mounts:
        bucket = text(dig(volume, "csi", "volumeAttributes", "bucketName"))
        if bucket:
            scheme = "s3" if "s3" in text(dig(volume, "csi", "driver")) else "gs"
            yield f"{scheme}://{bucket}"


_BUCKET_URI = lazy(r"^(gs|s3|hdfs|abfss?|wasbs?|az|oss|r2)://[^/]")


@lru_cache(maxsize=1)
def polled_paths(index: Index) -> frozenset[str]:
    """Paths and prefixes that a Triton or TensorFlow server of the run polls for new versions."""
    found: set[str] = set()
    for pod in index.pods:
        for container in index.servers(pod):
            runtime = container.runtime.id if container.runtime else ""
            mode = container.flag("--model-control-mode")
            wait = container.flag("--file_system_poll_wait_seconds")
            polls = runtime == "triton" and mode is not None and container.expand(mode.value or "") == "poll"
            if polls or (runtime == "tfserving" and (wait is None or wait.value not in ("0", "-1"))):
                found.update([*model_paths(container), *_uris(container)])
    return frozenset(path for path in found if path)


_SERVER = lazy(r"tritonserver|torchserve|tensorflow_model_server|vllm|text-generation-launcher|mlserver|sglang")


def _started(script: ShellText) -> list[str]:
    found: list[str] = []
    for command in script.commands:
        argv = command.argv
        runtime = runtimes.by_command(argv)
        if runtime is None:
            continue
        names = {name.lstrip("-").replace("_", "-") for name in (*runtime.model_flags, *runtime.cache_flags)}
        for index, word in enumerate(argv):
            name, equals, value = word.partition("=")
            if word.startswith("-") and name.lstrip("-").replace("_", "-") in names:
                found.append(value if equals else next(iter(argv[index + 1 : index + 2]), ""))
    return [normpath(path) for path in found if path.startswith("/") and "$" not in path and path != "/"]
