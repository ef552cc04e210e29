"""HU208: a compile or tuning cache that several versions share."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..paths import has_version
from ..rulebase import Context
from ..served import inside
from ..sources.argv import is_placeholder
from ..sources.pods import Pod
from ..volumes import stores

RULE = Rule(
    id="HU208",
    name="shared-compile-cache",
    family="HU2",
    severity=Severity.INFO,
    summary="compile cache on a shared volume without a version",
    what="VLLM_CACHE_ROOT, TORCHINDUCTOR_CACHE_DIR, TRITON_CACHE_DIR, VLLM_XLA_CACHE_PATH and the like on a writable "
    "volume that outlives the pod, with no version or digest in the path.",
    why="These caches are keyed by graph and compiler, usually but not always by everything that matters: a version "
    "can pick up a kernel that another one compiled, and two writers can corrupt an entry.",
    hint="put the runtime and model version into the path, or keep the cache on an emptyDir",
    bad="""\
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
    env: [{name: VLLM_CACHE_ROOT, value: /cache/vllm}]
    volumeMounts: [{name: cache, mountPath: /cache}]
volumes:
  - name: cache
    hostPath: {path: /mnt/cache}
""",
    good="""\
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
    env: [{name: VLLM_CACHE_ROOT, value: /cache/vllm-0.10.0}]
    volumeMounts: [{name: cache, mountPath: /cache}]
volumes:
  - name: cache
    hostPath: {path: /mnt/cache}
""",
    exemptions=("read-only mounts, emptyDir and ReadWriteOnce claims", "paths with a version, date or digest"),
    reads=("pod",),
)

_CACHES = (
    "VLLM_CACHE_ROOT",
    "VLLM_XLA_CACHE_PATH",
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
    "JAX_COMPILATION_CACHE_DIR",
    "NEURON_COMPILE_CACHE_URL",
    "SGLANG_CACHE_DIR",
    "CUDA_CACHE_PATH",
)


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the caches of one pod's servers."""
    for container in ctx.index.servers(pod):
        shared = [store for store in stores(ctx.index, container) if not store.read_only and not store.versioned]
        for name in _CACHES:
            path = container.env_value(name) or ""
            if not path or is_placeholder(path) or has_version(path):
                continue
            store = next((each for each in shared if inside(path, each.path)), None)
            if store is not None:
                where = pod.resource.at(container.env[name], "value")
                message = f"{container.name} shares its compile cache {path} on a {store.what} with other versions"
                yield ctx.finding(RULE, where, message)
