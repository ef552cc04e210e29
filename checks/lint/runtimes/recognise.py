"""Which runtime a container runs: by its image, by its ports and probes, by the program that it starts."""

from __future__ import annotations

import re
from functools import lru_cache

from ..lazy import lazy
from .frameworks import FRAMEWORKS
from .language_servers import LANGUAGE_SERVERS
from .model_servers import MODEL_SERVERS
from .runtime import Runtime

RUNTIMES = (*MODEL_SERVERS, *LANGUAGE_SERVERS, *FRAMEWORKS)
"""Every runtime; where an image would be several, the first counts."""

# Images that carry a runtime's name and serve nothing: clients, routers, simulators, controllers.
_NOT_A_SERVER = lazy(
    r"(router|sidecar|controller|operator|exporter|benchmark|bench|client|gateway|-sdk|inference-sim|simulator|epp"
    r"|frontend|webui|open-webui|proxy|agent|downloader|initializer|loader|scheduler|syncer|requester|launcher|kubeai)$"
    # User interfaces and retrieval chains are called after the server they ask: gradio-rag-vllm-openai.
    r"|(^|/)(gradio|streamlit|chainlit|langchain|llamaindex|rag|ui|chatbot|chat-ui|demo-app)[.-][^/]*$"
)
_IMAGES = [(lazy(runtime.image), runtime) for runtime in RUNTIMES if runtime.image != r"(?!)"]
_CLIENT_TAG = lazy(r"-sdk$")


@lru_cache(maxsize=4096)
def by_image(repository: str, tag: str = "") -> Runtime | None:
    """The runtime that an image repository names, None for clients, routers and unknown images."""
    repository = repository.lower()
    if _NOT_A_SERVER.search(repository) or _CLIENT_TAG.search(tag):
        return None
    for pattern, runtime in _IMAGES:
        if pattern.search(repository):
            return runtime
    return None


def by_signature(ports: set[int], paths: list[str]) -> Runtime | None:
    """The runtime behind a custom image that declares a runtime's ports and probes one of its paths."""
    for runtime in RUNTIMES:
        declared, path = runtime.signature or (frozenset({0}), "")
        if declared <= ports and any(re.search(path, probed) for probed in paths):
            return runtime
    return None


def by_command(words: list[str]) -> Runtime | None:
    """The runtime that a command line starts: its program, `python -m` module, or program and verb."""
    if not words:
        return None
    program = words[0].rsplit("/", 1)[-1]
    following = next((word for word in words[1:] if not word.startswith("-")), "")
    if program.startswith("python"):
        module = words[words.index("-m") + 1] if "-m" in words[:-1] else ""
        script = following if following.endswith(".py") else ""
        for runtime in RUNTIMES:
            if module in runtime.modules or (
                script and script[:-3].replace("/", ".").endswith(runtime.modules or ("\0",))
            ):
                return runtime
        return None
    for runtime in RUNTIMES:
        if program in runtime.programs and (not runtime.verbs or following in runtime.verbs):
            return runtime
    return None
