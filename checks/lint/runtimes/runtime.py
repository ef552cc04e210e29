"""What is known of one serving runtime."""

from __future__ import annotations

from dataclasses import dataclass

HF_CACHE = ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE")
"""The variables that move the cache of the Hugging Face libraries."""
V2_READY = r"^/v2/(health/ready|models/[^/]+(/versions/[^/]+)?/ready)/?$"
"""Readiness in the Open Inference Protocol."""
OPENAI_READY = r"^/(v1/models|health(_generate)?|v1/health/ready)/?$"
"""Readiness beside the OpenAI API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """One serving runtime.

    `image` searches the image repository (registry and tag removed, lower case); a custom image is known by its
    `signature`, the ports it declares together with a probe path. `programs` are base names of the
    started program, `modules` what follows `python -m`, `verbs` the subcommands that serve where a program has
    several. `ready_path` is the one right readiness endpoint, empty where there is none or it needs the model's name.
    `binds_first`: the port opens before the model is loaded. `drains`: SIGTERM waits for requests in flight by
    itself, for `drain_seconds`; else `drain_flags` make it. `metrics` are metric name prefixes and `version_labels`
    the labels that tell two versions of one model apart, empty where the runtime has none.
    """

    id: str
    name: str
    image: str = r"(?!)"
    signature: tuple[frozenset[int], str] | None = None
    programs: frozenset[str] = frozenset()
    modules: tuple[str, ...] = ()
    verbs: frozenset[str] = frozenset()
    ports: tuple[int, ...] = ()
    proves_ready: str = r"(?!)"
    proves_alive: str = r"(?!)"
    ready_path: str = ""
    binds_first: bool = False
    drains: bool = False
    drain_seconds: int = 0
    drain_flags: tuple[str, ...] = ()
    model_flags: tuple[str, ...] = ()
    model_env: tuple[str, ...] = ()
    model_verb: bool = False
    revision_flags: tuple[str, ...] = ()
    revision_env: tuple[str, ...] = ()
    cache_flags: tuple[str, ...] = ()
    cache_env: tuple[str, ...] = ()
    remote_code_flags: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    version_labels: tuple[str, ...] = ()
    llm: bool = False
