"""The pods of every workload kind, custom resources included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .pods import Pod
from .yamlnodes import EMPTY, Map

if TYPE_CHECKING:
    from .kubernetes import Resource

_FRAMEWORKS = (
    "sklearn", "xgboost", "tensorflow", "pytorch", "triton", "onnx", "pmml", "lightgbm", "paddle", "huggingface",
    "model",
)  # fmt: skip


def pods_of(resource: Resource) -> Iterator[Pod]:
    """The pods of an object, none for kinds that run none."""
    make = _KINDS.get(resource.kind)
    if make is not None:
        yield from make(resource)
    elif resource.group not in ("", "apiextensions.k8s.io"):
        yield from _custom(resource, resource.spec.get_map("template"))


def _custom(resource: Resource, template: Map) -> Iterator[Pod]:
    """What a kind we do not know makes, where it is written as others write it: a pod, a Ray cluster, or roles."""
    spec = template.get_map("spec")
    if spec.get_maps("containers"):
        yield _templated(resource, template, managed="unknown")
    elif spec.get_map("headGroupSpec"):
        yield from _ray_cluster(resource, spec)
    for role in spec.get_maps("roles"):
        if role.get_map("template").get_map("spec").get_maps("containers"):
            yield _templated(resource, role.get_map("template"), role.get_str("name"), "unknown", _count(role))


def _count(holder: Map, key: str = "replicas") -> int | None:
    value = holder.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _templated(
    resource: Resource, template: Map, role: str = "", managed: str = "", replicas: int | None = None
) -> Pod:
    return Pod(resource, template.get_map("spec"), template.get_map("metadata"), role, managed, replicas)


def _pod(resource: Resource) -> Iterator[Pod]:
    yield Pod(resource, resource.spec, resource.meta, replicas=1)


def _workload(resource: Resource) -> Iterator[Pod]:
    template = resource.spec.get_map("template")
    if template:
        yield _templated(resource, template, replicas=_count(resource.spec))


def _job(resource: Resource) -> Iterator[Pod]:
    spec = resource.spec.get_map("jobTemplate").get_map("spec") if resource.kind == "CronJob" else resource.spec
    yield _templated(resource, spec.get_map("template"), managed="job")


def _job_set(resource: Resource) -> Iterator[Pod]:
    for job in resource.spec.get_maps("replicatedJobs"):
        template = job.get_map("template").get_map("spec").get_map("template")
        yield _templated(resource, template, job.get_str("name"), "job", _count(job))


def _knative_or_core(resource: Resource) -> Iterator[Pod]:
    if resource.group == "serving.knative.dev":
        yield _templated(resource, resource.spec.get_map("template"), managed="knative")


def _leader_worker_set(resource: Resource) -> Iterator[Pod]:
    template = resource.spec.get_map("leaderWorkerTemplate")
    leader, worker = template.get_map("leaderTemplate"), template.get_map("workerTemplate")
    if leader:
        yield _templated(resource, leader, "leader", "lws-leader", _count(resource.spec))
    if worker:
        # Without a leader template the worker template makes the leader as well.
        yield _templated(resource, worker, "worker", "lws-worker" if leader else "lws-leader", _count(resource.spec))


def _inference_service(resource: Resource) -> Iterator[Pod]:
    if resource.group not in ("serving.kserve.io", "serving.kubeflow.org"):
        return
    for role in ("predictor", "transformer", "explainer"):
        component = resource.spec.get_map(role)
        if not component:
            continue
        extra = [component.get_map(name) for name in _FRAMEWORKS if isinstance(component.get(name), Map)]
        yield Pod(resource, component, resource.meta, role, "kserve", _count(component, "minReplicas"), extra)
        if component.get_map("workerSpec"):
            yield Pod(resource, component.get_map("workerSpec"), resource.meta, role + "-worker", "lws-worker")


def _serving_runtime(resource: Resource) -> Iterator[Pod]:
    yield Pod(resource, resource.spec, EMPTY, "runtime", "kserve", _count(resource.spec))


def _llm_inference_service(resource: Resource) -> Iterator[Pod]:
    for role, holder in (("", resource.spec), ("prefill", resource.spec.get_map("prefill"))):
        replicas = _count(holder)
        if holder.get_map("template"):
            yield Pod(resource, holder.get_map("template"), resource.meta, role, "llmisvc", replicas)
        if holder.get_map("worker"):
            yield Pod(resource, holder.get_map("worker"), resource.meta, f"{role}worker", "lws-worker", replicas)


def _ray(resource: Resource) -> Iterator[Pod]:
    named = resource.spec.get_map("rayClusterConfig") or resource.spec.get_map("rayClusterSpec")
    yield from _ray_cluster(resource, named or resource.spec)


def _ray_cluster(resource: Resource, spec: Map) -> Iterator[Pod]:
    head = spec.get_map("headGroupSpec").get_map("template")
    if head:
        yield _templated(resource, head, "head", "ray")
    for group in spec.get_maps("workerGroupSpecs"):
        yield _templated(resource, group.get_map("template"), group.get_str("groupName"), "ray", _count(group))


def _seldon(resource: Resource) -> Iterator[Pod]:
    for predictor in resource.spec.get_maps("predictors"):
        for component in predictor.get_maps("componentSpecs"):
            yield _templated(resource, component, predictor.get_str("name"), "seldon", _count(predictor))


_KINDS = {
    "Pod": _pod,
    **dict.fromkeys(
        (
            "Deployment",
            "StatefulSet",
            "DaemonSet",
            "ReplicaSet",
            "ReplicationController",
            "DeploymentConfig",
            "Rollout",
        ),
        _workload,
    ),
    "Job": _job,
    "CronJob": _job,
    "JobSet": _job_set,
    "Service": _knative_or_core,
    "LeaderWorkerSet": _leader_worker_set,
    "InferenceService": _inference_service,
    "ServingRuntime": _serving_runtime,
    "ClusterServingRuntime": _serving_runtime,
    "LLMInferenceService": _llm_inference_service,
    "LLMInferenceServiceConfig": _llm_inference_service,
    "RayService": _ray,
    "RayCluster": _ray,
    "RayJob": _ray,
    "SeldonDeployment": _seldon,
}
