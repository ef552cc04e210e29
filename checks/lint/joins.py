"""By what objects join: namespaces, labels and selectors, ports, and the names of ConfigMaps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .sources.kubernetes import Resource
from .sources.pods import Pod
from .sources.yamlnodes import Map, dig, text


def agree(one: str, other: str) -> bool:
    """Whether two namespaces may be the same."""
    return one == other or not one or not other


def labels_of(value: Map) -> dict[str, str]:
    """A mapping of labels as text."""
    return {key: text(item) for key, item in value.items()}


def match_labels(resource: Resource) -> dict[str, str]:
    """The `matchLabels` of an object's selector."""
    return labels_of(resource.spec.get_map("selector").get_map("matchLabels"))


def selector_of(service: Resource) -> dict[str, str]:
    """The equality selector of a Service or InferencePool; empty for a Knative Service."""
    if service.group == "serving.knative.dev":
        return {}
    selector = service.spec.get_map("selector")
    return labels_of(selector.get_map("matchLabels") if "matchLabels" in selector else selector)


def service_ports(service: Resource) -> list[tuple[Map, Any]]:
    """(port entry, target port name or number) of a Service; the target is the port itself when not written down."""
    found = [(port, port.get("targetPort") or port.get("port")) for port in service.spec.get_maps("ports")]
    return [(port, target) for port, target in found if isinstance(target, int | str)]


def config_uses(pod: Pod) -> Iterator[tuple[str, str, Map]]:
    """(ConfigMap, `env` | `envFrom` | `volume`, YAML entry) of every ConfigMap that a pod names."""
    for container in [*pod.containers, *pod.init_containers]:
        for entry in container.map.get_maps("envFrom"):
            if name := text(dig(entry, "configMapRef", "name")):
                yield name, "envFrom", entry
        for entry in container.map.get_maps("env"):
            if name := text(dig(entry, "valueFrom", "configMapKeyRef", "name")):
                yield name, "env", entry
    for volume in pod.spec.get_maps("volumes"):
        sources = [volume, *volume.get_map("projected").get_maps("sources")]
        for source in sources:
            if name := text(dig(source, "configMap", "name")):
                yield name, "volume", volume
