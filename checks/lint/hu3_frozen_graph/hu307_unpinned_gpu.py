"""HU307: a TensorRT plan served on whatever GPU the scheduler finds."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..index import Index
from ..rulebase import Context
from ..sources.pods import Pod
from ..sources.yamlnodes import Map, walk

RULE = Rule(
    id="HU307",
    name="unpinned-gpu",
    family="HU3",
    severity=Severity.INFO,
    summary="TensorRT plan served without choosing the GPU product",
    what="A tree with a config.pbtxt of platform tensorrt_plan and a Triton workload that asks for a GPU but selects "
    "no GPU product or architecture by nodeSelector or node affinity.",
    why="A plan is built for one GPU architecture and TensorRT version: on another node it fails to load, at the "
    "rollout or at the next restart.",
    hint="select nodes by nvidia.com/gpu.product, or the cloud's accelerator label",
    bad="""\
# beside a config.pbtxt with platform: "tensorrt_plan"
containers:
  - name: triton
    image: nvcr.io/nvidia/tritonserver:24.08-py3
    resources: {limits: {nvidia.com/gpu: 1}}
""",
    good="""\
nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
containers:
  - name: triton
    image: nvcr.io/nvidia/tritonserver:24.08-py3
    resources: {limits: {nvidia.com/gpu: 1}}
""",
    exemptions=("pods that select a GPU product, accelerator type or instance type",),
    reads=("index",),
    pedantic=True,
)

_CHOICES = ("gpu.product", "gpu-accelerator", "gpu.family", "instance-type", "compute.major", "gpu-type", "accelerator")


def check(index: Index, ctx: Context) -> Iterator[Finding]:
    """Judge the Triton pods of a tree that holds TensorRT plans."""
    plans = [config for config in index.of("pbtxt") if "tensorrt_plan" in str(config.root.scalar("platform"))]
    if not plans:
        return
    for pod in index.pods:
        for container in index.servers(pod):
            triton = container.runtime is not None and container.runtime.id == "triton"
            if triton and container.accelerated and not _chooses(pod):
                where = pod.resource.at_map(container.map)
                message = f"container {container.name} serves a TensorRT plan on any GPU the scheduler finds"
                yield ctx.finding(RULE, where, message, related=(plans[0].at(plans[0].root.span),))


def _chooses(pod: Pod) -> bool:
    selector = pod.spec.get_map("nodeSelector")
    affinity = pod.spec.get_map("affinity").get_map("nodeAffinity")
    keys = [*selector, *(_key(holder, key) for holder, key in walk(affinity))]
    return any(choice in key for key in keys for choice in _CHOICES)


def _key(holder: Map, key: str) -> str:
    return holder.get_str("key") if key == "key" else ""
