"""What no API server checks: that the objects of a set fit each other. A set that fails here is never printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

Object = dict[str, Any]


def problems(objects: list[Object]) -> Iterator[str]:
    """One line for every reason not to print these objects."""
    names = [(o.get("kind"), o.get("metadata", {}).get("name")) for o in objects]
    for name in sorted({str(name) for name in names if names.count(name) > 1}):
        yield f"two objects are called {name}"
    for deployment in (o for o in objects if o["kind"] == "Deployment"):
        yield from _pod(deployment)
        yield from _selected(deployment, objects)


def _pod(deployment: Object) -> Iterator[str]:
    spec = deployment["spec"]["template"]["spec"]
    volumes = {volume["name"] for volume in spec.get("volumes", [])}
    for container in [*spec.get("initContainers", []), *spec["containers"]]:
        name = container["name"]
        if not re.search(r"@sha256:[0-9a-f]{64}$", container["image"]):
            yield f"container {name}: image {container['image']} is not named by digest"
        for mount in container.get("volumeMounts", []):
            if mount["name"] not in volumes:
                yield f"container {name}: no volume {mount['name']}"
        ports = {port["name"] for port in container.get("ports", [])}
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            if probe in container and container[probe]["httpGet"]["port"] not in ports:
                yield f"container {name}: {probe} asks an unknown port"
        stop = container.get("lifecycle", {}).get("preStop", {})
        seconds = stop["sleep"]["seconds"] if "sleep" in stop else 0
        if seconds >= spec["terminationGracePeriodSeconds"]:
            yield f"container {name}: preStop takes the whole grace period"


def _selected(deployment: Object, objects: list[Object]) -> Iterator[str]:
    template = deployment["spec"]["template"]
    labels = cast("dict[str, str]", template["metadata"]["labels"])
    ports = {port["name"] for container in template["spec"]["containers"] for port in container.get("ports", [])}
    for o in objects:
        spec: Object = o.get("spec", {})
        selector: Object = spec.get("podSelector") or spec.get("selector") or {}
        wanted = cast("dict[str, str]", selector.get("matchLabels", selector))
        if wanted and not wanted.items() <= labels.items():
            yield f"{o['kind']}: its selector does not match the pods"
        used = [port.get("targetPort") for port in spec.get("ports", [])]
        used += [endpoint.get("port") for endpoint in spec.get("podMetricsEndpoints", [])]
        for port in used:
            if port not in ports:
                yield f"{o['kind']}: no container port is called {port}"
