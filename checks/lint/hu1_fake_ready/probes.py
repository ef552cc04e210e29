"""Probes: what they ask, how long they wait, and where a model server takes its weights from."""

from __future__ import annotations

from typing import Any

from ..lazy import lazy
from ..sources.argv import is_placeholder
from ..sources.pods import Container
from ..sources.yamlnodes import Map, Seq, dig, text

_HUB_ID = lazy(r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")
_REMOTE = lazy(r"^(hf|s3|gs|gcs|https?|az|abfss?|oci|ngc|modelscope)://")


def path_of(probe: Map | None) -> str:
    """The HTTP path a probe asks, without its query; empty for other probes."""
    return text(dig(probe, "httpGet", "path")).split("?", 1)[0]


def number(probe: Map, key: str, default: int) -> int | None:
    """A number of a probe, None when it is a placeholder."""
    value = probe.get(key, default)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def budget(probe: Map) -> int | None:
    """Seconds until a probe gives up: initialDelaySeconds + periodSeconds * failureThreshold."""
    delay, period = number(probe, "initialDelaySeconds", 0), number(probe, "periodSeconds", 10)
    failures = number(probe, "failureThreshold", 3)
    return None if delay is None or period is None or failures is None else delay + period * failures


def command_of(probe: Map | None) -> str:
    """The command of an exec probe as one line."""
    command: Any = dig(probe, "exec", "command")
    return " ".join(text(word) for word in command) if isinstance(command, Seq) else text(command)


def remote_source(container: Container) -> str:
    """The hub id or URL that a server loads its weights from at start; empty when local, mounted or unknown."""
    runtime = container.runtime
    if runtime is None:
        return ""
    values = [flag.value for name in runtime.model_flags if (flag := container.flag(name)) and flag.value]
    values += [value for name in runtime.model_env if (value := container.env_value(name))]
    if runtime.model_verb and not values:
        values += [
            line[index + 1].text
            for line in container.lines
            for index, word in enumerate(line[:-1])
            if word.text in runtime.verbs and index < 3
        ]
    for value in map(container.expand, values):
        if not is_placeholder(value) and (_HUB_ID.match(value) or _REMOTE.match(value)):
            return value
    return ""


def caches_on_disk(container: Container) -> bool:
    """Whether what a server downloads outlives its container: a claim or host path under its cache."""
    runtime = container.runtime
    if runtime is None:
        return False
    paths = [
        container.expand(flag.value) for name in runtime.cache_flags if (flag := container.flag(name)) and flag.value
    ]
    paths += [value for name in runtime.cache_env if (value := container.env_value(name))]
    paths += ["/root/.cache/huggingface", "/data", "/models", "/opt/nim/.cache"]
    for path in paths:
        mount = container.mount_of(path)
        if mount is not None and not {"emptyDir", "configMap", "secret"} & set(mount[1]):
            return True
    return False


def loads_from_volume(container: Container) -> bool:
    """Whether anything but configuration and scratch space is mounted, such as a claim or a bucket with weights."""
    scratch = {"emptyDir", "configMap", "secret", "downwardAPI", "projected"}
    return any(volume and not scratch & set(volume) for _, volume in container.mounts)


def starts_empty(container: Container) -> bool:
    """Whether a server comes up without any model and is told later what to load, as in ModelMesh and Seldon pods."""
    runtime = container.runtime.id if container.runtime else ""
    if runtime == "triton":
        mode = container.flag("--model-control-mode")
        return mode is not None and mode.value == "explicit" and container.flag("--load-model") is None
    if runtime == "mlserver":
        return (container.env_value("MLSERVER_LOAD_MODELS_AT_STARTUP") or "").lower() in ("false", "0")
    return False
