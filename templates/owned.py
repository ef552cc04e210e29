"""What a profile sets itself: arguments and variables that would undo what the manifests promise are refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from .rules import Problem
from .values import Values

_MODEL = "set model.reference: only what was pulled and verified is served"
_FIXED = "leave it out: probes, Service and NetworkPolicy count on it"
_DRAIN = "set timing.request: drain and grace period follow from it"
_NAME = "set model.name"
_CODE = "serve a model whose code is part of the server; code in a model directory is not reviewed with it"
_FILE = "give the options themselves under args, where they are checked"
_NAMING = ("model", "path")
_NEVER = "leave it out: a new version comes as a new pod"


@dataclass(frozen=True, slots=True)
class Owned:
    """Options (with what to do instead) and variables that belong to a profile.

    `inside` are options whose values name further models, which must lie in the verified directory.
    """

    args: Mapping[str, str] = field(default_factory=dict[str, str])
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    inside: frozenset[str] = frozenset()
    # Whether the server's arguments are options only; those of a server of your own are up to it.
    options_only: bool = True


def _all(hint: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, hint)


OWNED = {
    "vllm": Owned(
        args={
            **_all(_MODEL, "--model", "--model-tag", "--revision", "--code-revision", "--download-dir", "--tokenizer"),
            **_all(_MODEL, "--tokenizer-revision", "--hf-config-path", "--speculative-model"),
            **_all(_NAME, "--served-model-name"),
            **_all(_CODE, "--trust-remote-code"),
            **_all(_FIXED, "--host", "--port", "--uds", "--ssl-keyfile", "--ssl-certfile"),
            **_all(_DRAIN, "--shutdown-timeout"),
            **_all(_FILE, "--config"),
        },
        env={
            **_all(_MODEL, "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "VLLM_USE_MODELSCOPE"),
            **_all(_NEVER, "VLLM_ALLOW_RUNTIME_LORA_UPDATING"),
        },
        inside=frozenset({"--lora-modules", "--speculative-config"}),
    ),
    "triton": Owned(
        args={
            **_all(_MODEL, "--model-repository", "--model-store"),
            **_all(_NEVER, "--model-control-mode", "--load-model", "--repository-poll-secs"),
            **_all(_FIXED, "--strict-readiness", "--exit-on-error", "--http-port", "--grpc-port", "--metrics-port"),
            **_all(_FIXED, "--allow-http", "--allow-grpc", "--allow-metrics"),
            **_all(_FIXED, "--http-address", "--grpc-address", "--metrics-address"),
            **_all(_DRAIN, "--exit-timeout-secs"),
        },
    ),
    "onnxruntime": Owned(
        env={
            **_all(_MODEL, "MODEL_DIR"),
            **_all(_NAME, "MODEL_NAME"),
            **_all("set model.version", "MODEL_VERSION"),
            **_all("set server.port", "PORT"),
        },
        options_only=False,
    ),
}


def problems(profile: str, values: Values) -> Iterator[Problem]:
    """Arguments and variables of the values that the profile sets itself."""
    owned = OWNED[profile]
    for name in values.env:
        if name in owned.env:
            yield f"/env/{name}", f"{name} is set by the {profile} profile", owned.env[name]
    if owned.options_only:
        yield from _arguments(profile, owned, values)


def _arguments(profile: str, owned: Owned, values: Values) -> Iterator[Problem]:
    directory = f"/models/{values.model.name or values.name}/"
    option = ""
    for i, text in enumerate(values.args):
        where = f"/args/{i}"
        if text == "--" or not (option or text.startswith("-")):
            hint = "write options as --name, value; the model is model.reference"
            yield where, f"'{text}' is not an option of the server", hint
            continue
        given = text
        if text.startswith("-"):
            option, _, given = text.partition("=")
            option = option.replace("_", "-")
            if meant := _meant(option, owned.args):
                short = f" (short for {meant})" if meant != option else ""
                yield where, f"{text}{short} is set by the {profile} profile", owned.args[meant]
        # `--name.key value` sets one key of an option whose value is JSON.
        name, _, key = option.partition(".")
        if given and _meant(name, owned.inside) and not all(_within(m, directory) for m in _models(key, given)):
            hint = f"publish it inside the model, and name it {directory}…"
            yield where, f"'{given}' would be served without having been verified", hint


def _meant(option: str, names: Iterable[str]) -> str:
    """The option that is meant: the servers take any unambiguous beginning of a name."""
    return next((name for name in sorted(names) if len(option) > 2 and name.startswith(option)), "")


def _models(key: str, given: str) -> list[str]:
    """The models that an option's value names: NAME=PATH, a JSON object, or the value of one of its keys."""
    if key:
        return [given] if key in _NAMING else []
    try:
        value: Any = json.loads(given)
    except (ValueError, RecursionError):
        return [given.rpartition("=")[2]]
    if not isinstance(value, dict):
        return [given]
    return [str(each) for name, each in cast("dict[str, Any]", value).items() if name in _NAMING]


def _within(path: str, directory: str) -> bool:
    return path.startswith(directory) and ".." not in path.split("/")
