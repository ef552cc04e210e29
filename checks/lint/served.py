"""Which local paths the servers of a run read their models from: what writes there can be caught half-way."""

from __future__ import annotations

import re
from functools import lru_cache
from posixpath import normpath

from . import runtimes
from .index import Index
from .sources.argv import is_placeholder
from .sources.pods import Container
from .sources.scripts import ShellText

# Folders that a server reads from by convention, wherever they are: a model repository or store, KServe's mount.
CONVENTIONAL = re.compile(
    r"\bmodel[_-]?(repository|repo|store)s?\b|/mnt/models\b|\bserving[_-]?(dir|path|root|model)s?\b"
    r"|\b(live|served|current|prod(uction)?)[_-]?models?\b|/(live|serving|production)/",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"^(v?\d+(\.\d+)*|v\d[\w.-]*|\d{4}-?\d\d-?\d\d[\w-]*|(sha256[-:_])?[0-9a-f]{7,64}|snapshots|revisions?|versions?)$|"
    r"@[0-9a-f]{7,}$|[-_@]v\d+(\.\d+)*$",
    re.IGNORECASE,
)
_VERSION_HOLE = re.compile(
    r"version|revision|digest|commit|sha\d*\b|hash|timestamp|\btag|release|date|build|run_?id|uuid", re.IGNORECASE
)
STAGING = re.compile(
    r"(^|[/._-])(te?mp|staging|stage|partial|incoming|download(s|ing)?|new|next|build|cache)([/._-]|$)|mkd?temp|tempfile|TMPDIR",
    re.IGNORECASE,
)


def has_version(path: str) -> bool:
    """Whether a path has a segment that names one version: a number, date, digest, or a variable that is called so."""
    return any(_VERSION.search(part) for part in path.split("/") if part) or any(
        _VERSION_HOLE.search(part) for part in re.findall(r"\$\{?\(?[^/}]*|\{[^{}]*\}|<[^<>]*>|%[A-Z_]+%", path)
    )


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


@lru_cache(maxsize=1)
def served_paths(index: Index) -> frozenset[str]:
    """Every absolute path that some server of the run reads models from, in manifests, scripts and image builds."""
    found = {path for pod in index.pods for container in index.servers(pod) for path in model_paths(container)}
    for text in index.of("shell"):
        if isinstance(text, ShellText) and text.container is None and _SERVER.search(text.text):
            found.update(_started(text))
    return frozenset(path for path in found if path.count("/") > 1 or path in ("/models", "/model"))


_SERVER = re.compile(r"tritonserver|torchserve|tensorflow_model_server|vllm|text-generation-launcher|mlserver|sglang")


def _started(text: ShellText) -> list[str]:
    found: list[str] = []
    for command in text.commands:
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
