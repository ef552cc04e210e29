"""What the rules on metrics share: which series come from model servers, which labels tell versions apart."""

from __future__ import annotations

from ..lazy import lazy
from ..runtimes import RUNTIMES
from ..sources.promql import Labels, Selector

VERSION_LABELS = frozenset({
    "model_version", "version", "revision", "model_revision", "revision_name", "service_version", "configuration_name",
    "app_kubernetes_io_version", "app_version", "llm_isvc_name", "rollouts_pod_template_hash", "pod_template_hash",
    "destination_version", "destination_workload", "image", "image_tag", "digest",
})  # fmt: skip
"""Labels that name a version."""

TARGET_LABELS = frozenset({
    "pod", "pod_name", "kubernetes_pod_name", "exported_pod", "instance", "replica", "service", "deployment",
    "workload", "job_name",
})  # fmt: skip
"""Labels of the scraped process or its Service: two versions never share one process."""

TELLING = VERSION_LABELS | TARGET_LABELS

_PREFIXES = tuple(sorted({prefix for runtime in RUNTIMES for prefix in runtime.metrics if not prefix[0].isupper()}))
_MORE = lazy(r"^(revision_(app_)?request_|kserve_|triton_|dynamo_|trtllm_|inference_(request|model)_|ts_)")
# Saturation of the machine or the process: what scalers and capacity alerts add up over all versions on purpose.
_CAPACITY = lazy(
    r"^nv_(gpu|cpu|energy|pinned|cache)_|num_requests_(waiting|running|swapped)|cache_usage|usage_perc|queue_size|queue_depth"
    r"|batch_current|num_(used|running|queue|waiting)|memory|utili[sz]ation|autoscaler|replicas|_info$|power|temperature"
)


def is_serving(metric: str) -> bool:
    """Whether a metric comes from a known model server and says something about a model's answers."""
    return (metric.startswith(_PREFIXES) or bool(_MORE.match(metric))) and not _CAPACITY.search(metric)


def is_any_serving(metric: str) -> bool:
    """Whether a metric comes from a known model server, saturation included."""
    return metric.startswith(_PREFIXES) or bool(_MORE.match(metric))


def tells_versions(labels: Labels) -> bool:
    """Whether a result keeps a label that tells two versions apart."""
    return any(labels.keeps(name) for name in TELLING)


def picks_version(selector: Selector) -> bool:
    """Whether a selector asks for one version, or for one process, by a matcher."""
    return any(matcher.name in TELLING and matcher.op in ("=", "=~") and matcher.value for matcher in selector.matchers)
