"""HU503: a monitor that scrapes model servers and leaves their version behind."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Fix, Severity
from ....report.rule import Rule
from ..fixes import add_entry
from ..index import MONITORS
from ..rulebase import Context
from ..sources.kubernetes import Resource
from .monitors import EMITS_VERSION, ENDPOINTS, carries_version, version_labels

RULE = Rule(
    id="HU503",
    name="monitor-without-version",
    family="HU5",
    severity=Severity.WARNING,
    summary="monitor of model servers that does not copy their version label",
    what="ServiceMonitor, PodMonitor, PodMonitoring and ClusterPodMonitoring objects that select pods with a model "
    "server whose metrics name no version, and that neither list a version label among the copied labels "
    "(targetLabels, podTargetLabels, targetLabels.fromPod) nor write one by relabeling. Information only where the "
    "pods carry no version label that could be copied.",
    why="vLLM, TGI and SGLang label their metrics with a model name that is the same for the old and the new version. "
    "Without the pod's version label the two merge into one series, and no dashboard, alert or canary analysis can "
    "tell them apart (huggingface/text-generation-inference#3026, kserve/website canary-rollout-observability).",
    hint="give the pod template a version label and copy it: podTargetLabels: [version]",
    bad="""\
kind: PodMonitor
spec:
  selector: {matchLabels: {app: vllm}}
  podMetricsEndpoints: [{port: http}]
""",
    good="""\
kind: PodMonitor
spec:
  selector: {matchLabels: {app: vllm}}
  podTargetLabels: [app.kubernetes.io/version]
  podMetricsEndpoints: [{port: http}]
""",
    exemptions=(
        "runtimes that label their metrics with the model version themselves: Triton, MLServer, TensorFlow Serving, "
        "BentoML, Seldon",
        "monitors whose pods are not in the tree",
    ),
    references=("https://github.com/huggingface/text-generation-inference/issues/3026",),
    reads=("kubernetes",),
    fix="safe",
)


def check(monitor: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge a monitor by the pods it selects."""
    if monitor.kind not in MONITORS or carries_version(monitor):
        return
    scraped = [
        (pod, container)
        for pod in ctx.index.monitored(monitor)
        for container in ctx.index.servers(pod)
        if container.runtime is None or container.runtime.id not in EMITS_VERSION
    ]
    if not scraped:
        return
    pod, container = scraped[0]
    labels = sorted({label for each, _ in scraped for label in version_labels(each)})
    has = f"label {labels[0]}" if labels else "version"
    key = ENDPOINTS[monitor.kind]
    where = monitor.at_key(monitor.spec, key) if key in monitor.spec else monitor.at_key(monitor.root, "spec")
    yield ctx.finding(
        RULE,
        where,
        f"scrapes {pod.resource.identity} ({container.name}) without its {has}: two versions merge into one series",
        severity=None if labels else Severity.INFO,
        hint=f"copy the pod label {labels[0]} into the series" if labels else "",
        fix=_copy(monitor, labels[0]) if len(labels) == 1 else None,
        related=(pod.resource.at_map(container.map),),
    )


def _copy(monitor: Resource, label: str) -> Fix | None:
    """Add the one label to those that the monitor copies."""
    if "podTargetLabels" in monitor.spec or ("PodMonitoring" in monitor.kind and "targetLabels" in monitor.spec):
        return None
    if "PodMonitoring" in monitor.kind:
        lines = ["targetLabels:", "  fromPod:", f"  - from: {label}"]
    else:
        lines = ["podTargetLabels:", f"- {label}"]
    edit = add_entry(monitor, monitor.spec, next(reversed(monitor.spec)), lines)
    return Fix((edit,), title=f"copy the pod label {label}") if edit else None
