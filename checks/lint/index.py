"""The joins of one run: Services to pods to ports, claims to access modes, config maps to consumers, and so on.

Objects join when their namespaces agree (an absent one agrees with any) and they stand near each other in the tree
(`nearby`). Everything is computed when first asked for, so that a run without monitors pays nothing for them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from ...models.numerals import whole
from .joins import agree, config_uses, labels_of, match_labels, selector_of, service_ports
from .kustomization import Kustomizations
from .nearby import Nearby
from .sources.kubernetes import Resource
from .sources.pods import Container, Image, Pod
from .sources.yamlnodes import EMPTY, Map, Seq, dig, text

SELECTORS = frozenset({"Service", "InferencePool"})
SCALERS = frozenset({"HorizontalPodAutoscaler", "ScaledObject"})
MONITORS = frozenset({"ServiceMonitor", "PodMonitor", "PodMonitoring", "ClusterPodMonitoring"})


class Index:
    """All objects and other subjects of a run, and what they are to each other."""

    path = ""

    def __init__(self, resources: list[Resource], subjects: dict[str, list[Any]]) -> None:
        self.resources = resources
        self.subjects = subjects
        self._services_of: dict[Pod, list[Resource]] | None = None
        self._servers: dict[Pod, list[Container]] = {}

    @cached_property
    def by_kind(self) -> dict[str, list[Resource]]:
        """Objects by kind."""
        found: dict[str, list[Resource]] = defaultdict(list)
        for resource in self.resources:
            found[resource.kind].append(resource)
        return found

    def of(self, kind: str) -> list[Any]:
        """The subjects of another source (`pbtxt`, `shell`, ...)."""
        return self.subjects.get(kind, [])

    # objects by name

    @cached_property
    def _named(self) -> Nearby[Resource]:
        found: Nearby[Resource] = Nearby()
        for resource in self.resources:
            found.add((resource.kind, resource.name), resource.path, resource)
        return found

    def find(self, kind: str, name: str, near: Resource) -> Resource | None:
        """The object of that kind and name that `near` means, None when the run does not hold it."""
        hits = self._named.find((kind, name), near.path, lambda r: agree(r.namespace, near.namespace))
        return hits[0] if hits else None

    # pods and what selects them

    @cached_property
    def pods(self) -> list[Pod]:
        """Every pod of every workload, patches left out."""
        return [pod for resource in self.resources if not resource.is_patch for pod in resource.pods]

    @cached_property
    def _labelled(self) -> Nearby[Pod]:
        found: Nearby[Pod] = Nearby()
        for pod in self.pods:
            for pair in pod.labels.items():
                found.add(pair, pod.resource.path, pod)
        return found

    def selected(self, selector: dict[str, str], near: Resource) -> list[Pod]:
        """The pods that an equality selector of the object `near` picks; an empty selector picks none."""
        if not selector:
            return []

        def accept(pod: Pod) -> bool:
            inside = agree(pod.resource.namespace, near.namespace)
            return inside and all(pod.labels.get(key) == value for key, value in selector.items())

        return self._labelled.find(max(selector.items(), key=lambda pair: len(pair[1])), near.path, accept)

    def services_of(self, pod: Pod) -> list[Resource]:
        """The Services and InferencePools that send requests to a pod."""
        if self._services_of is None:
            self._services_of = defaultdict(list)
            for kind in SELECTORS:
                for service in self.by_kind.get(kind, []):
                    for hit in self.selected(selector_of(service), service):
                        self._services_of[hit].append(service)
        return self._services_of.get(pod, [])

    def served_by(self, service: Resource) -> list[Pod]:
        """The pods with a model server that a Service or InferencePool selects."""
        return [pod for pod in self.selected(selector_of(service), service) if self.servers(pod)]

    def target(self, pod: Pod, port: Any) -> Container | None:
        """The container of a pod that a port name or number reaches."""
        for container in [*pod.containers, *(c for c in pod.init_containers if c.is_sidecar)]:
            if any(port in (name, number) for name, number in container.ports):
                return container
        return None

    def takes_requests(self, container: Container) -> bool:
        """Whether some Service port of the run leads to a declared port of this container."""
        ports = {p for pair in container.ports for p in pair if p}
        for service in self.services_of(container.pod):
            if service.kind == "InferencePool" or any(target in ports for _, target in service_ports(service)):
                return True
        return False

    def is_serving(self, container: Container) -> bool:
        """A model server: recognised, or one with an accelerator that a Service port leads to."""
        if container.init or container.pod.managed == "job" or container.pod.resource.is_patch:
            return False
        return container.runtime is not None or (container.accelerated and self.takes_requests(container))

    def servers(self, pod: Pod) -> list[Container]:
        """The model servers of a pod; empty for patches and batch work."""
        known = self._servers.get(pod)
        if known is None:
            known = self._servers[pod] = [container for container in pod.containers if self.is_serving(container)]
        return known

    # replicas, scaling, disruption

    @cached_property
    def _scalers(self) -> Nearby[Resource]:
        found: Nearby[Resource] = Nearby()
        for kind in SCALERS:
            for scaler in self.by_kind.get(kind, []):
                found.add(text(dig(scaler.spec, "scaleTargetRef", "name")), scaler.path, scaler)
        return found

    def scaler_of(self, resource: Resource) -> Resource | None:
        """The HPA or KEDA ScaledObject of a workload."""

        def accept(scaler: Resource) -> bool:
            kind = text(dig(scaler.spec, "scaleTargetRef", "kind")) or "Deployment"
            return kind == resource.kind and agree(scaler.namespace, resource.namespace)

        hits = self._scalers.find(resource.name, resource.path, accept)
        return hits[0] if hits else None

    def minimum(self, pod: Pod) -> int | None:
        """The fewest replicas a workload runs with; 1 when neither it nor a scaler says, None when unknown."""
        scaler = self.scaler_of(pod.resource)
        if scaler is not None:
            value = scaler.spec.get("minReplicas", scaler.spec.get("minReplicaCount", 1))
            return value if isinstance(value, int) else None
        if "replicas" in pod.resource.spec and pod.replicas is None:
            return None
        return 1 if pod.replicas is None else pod.replicas

    def budgets_of(self, pod: Pod) -> list[Resource]:
        """The PodDisruptionBudgets that cover a pod; one with matchExpressions may cover any pod with its labels."""
        budgets = self.by_kind.get("PodDisruptionBudget", [])
        return [budget for budget in budgets if pod in self.selected(match_labels(budget), budget)]

    # storage and configuration

    def claim(self, pod: Pod, volume: Map) -> tuple[str, Map]:
        """(name, claim spec) of the claim behind a volume; the spec is empty when the run does not hold the claim."""
        if "spec" in volume:  # a StatefulSet's claim template
            return text(dig(volume, "metadata", "name")), volume.get_map("spec")
        if "ephemeral" in volume:
            return "", EMPTY
        name = text(dig(volume, "persistentVolumeClaim", "claimName"))
        found = self.find("PersistentVolumeClaim", name, pod.resource) if name else None
        return name, found.spec if found else EMPTY

    def access_modes(self, pod: Pod, volume: Map) -> frozenset[str]:
        """The access modes of the claim behind a volume, empty when unknown."""
        modes: Any = self.claim(pod, volume)[1].get("accessModes")
        return frozenset(map(text, modes)) if isinstance(modes, Seq) else frozenset()

    @cached_property
    def _claim_users(self) -> Nearby[Pod]:
        found: Nearby[Pod] = Nearby()
        for pod in self.pods:
            for volume in pod.spec.get_maps("volumes"):
                name = text(dig(volume, "persistentVolumeClaim", "claimName"))
                if name:
                    found.add(name, pod.resource.path, pod)
        return found

    def claim_users(self, name: str, near: Resource) -> list[Pod]:
        """The pods that mount a claim."""
        return self._claim_users.find(name, near.path, lambda pod: agree(pod.resource.namespace, near.namespace))

    @cached_property
    def _config_users(self) -> Nearby[tuple[Pod, str, Map]]:
        found: Nearby[tuple[Pod, str, Map]] = Nearby()
        for pod in self.pods:
            for name, how, place in config_uses(pod):
                found.add(name, pod.resource.path, (pod, how, place))
        return found

    def config_users(self, config: Resource) -> list[tuple[Pod, str, Map]]:
        """(pod, `env` | `envFrom` | `volume`, YAML entry) of every use of a ConfigMap."""
        return self._config_users.find(
            config.name, config.path, lambda use: agree(use[0].resource.namespace, config.namespace)
        )

    @cached_property
    def kustomizations(self) -> Kustomizations:
        """The kustomization files of the run."""
        return Kustomizations(self.by_kind.get("Kustomization", []))

    def image(self, container: Container) -> Image:
        """A container's image after the `images:` transformers of the kustomizations that include its file."""
        return self.kustomizations.image(container)

    # model repositories

    def versions(self, folder: str) -> list[int]:
        """The version directories of a Triton model on disk, ascending."""
        base = Path(folder)
        numbers = [whole(each.name) for each in base.iterdir() if each.is_dir()] if base.is_dir() else []
        return sorted(each for each in numbers if each is not None)

    # KServe

    def serving_runtime(self, resource: Resource) -> Resource | None:
        """The ServingRuntime or ClusterServingRuntime that an InferenceService names."""
        name = text(dig(resource.spec, "predictor", "model", "runtime"))
        if not name:
            return None
        return self.find("ServingRuntime", name, resource) or self.find("ClusterServingRuntime", name, resource)

    def base_config(self, resource: Resource) -> Iterable[Resource]:
        """The LLMInferenceServiceConfigs that an LLMInferenceService names as base."""
        for reference in resource.spec.get_maps("baseRefs"):
            found = self.find("LLMInferenceServiceConfig", reference.get_str("name"), resource)
            if found is not None:
                yield found

    # monitors

    def monitored(self, monitor: Resource) -> list[Pod]:
        """The pods a ServiceMonitor, PodMonitor or PodMonitoring scrapes."""
        selector = labels_of(monitor.spec.get_map("selector").get_map("matchLabels"))
        if monitor.kind != "ServiceMonitor":
            return self.selected(selector, monitor)
        return [
            pod for service in self.monitored_services(monitor) for pod in self.selected(selector_of(service), service)
        ]

    def monitored_services(self, monitor: Resource) -> list[Resource]:
        """The Services a ServiceMonitor selects."""
        selector = match_labels(monitor)
        if not selector:
            return []

        def accept(service: Resource) -> bool:
            return all(service.labels.get(key) == value for key, value in selector.items())

        return self._labelled_services.find(next(iter(selector.items())), monitor.path, accept)

    @cached_property
    def _labelled_services(self) -> Nearby[Resource]:
        found: Nearby[Resource] = Nearby()
        for service in self.by_kind.get("Service", []):
            for pair in service.labels.items():
                found.add(pair, service.path, service)
        return found
