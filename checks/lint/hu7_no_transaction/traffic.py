"""Traffic splits of the kinds that have them: weights with where they stand, and what they must add up to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..index import Index
from ..sources.kubernetes import Resource
from ..sources.yamlnodes import Map, dig, text, walk


@dataclass(frozen=True, slots=True)
class Split:
    """One split: entries with a weight each, the key that holds it, and the total it must have (None: any but 0)."""

    holder: Map
    key: str
    weights: tuple[int, ...]
    total: int | None

    @property
    def wrong(self) -> str:
        """What is wrong with the sum, empty when it is right."""
        found = sum(self.weights)
        if self.total is None:
            return "" if found else "all weights are 0: no backend gets a request"
        return "" if found == self.total else f"the weights add up to {found}, not {self.total}"


def splits(resource: Resource, index: Index) -> Iterator[Split]:
    """The traffic splits of one object that lead to model servers."""
    if resource.kind == "VirtualService":
        for rule in resource.spec.get_maps("http"):
            routes = rule.get_maps("route")
            hosts = [text(dig(route, "destination", "host")).split(".", 1)[0] for route in routes]
            if any(serves(host, resource, index) for host in hosts):
                yield from _split(rule, "route", routes, "weight", 100)
    elif resource.kind in ("HTTPRoute", "GRPCRoute"):
        for rule in resource.spec.get_maps("rules"):
            backends = rule.get_maps("backendRefs")
            if any(serves(backend.get_str("name"), resource, index) for backend in backends):
                yield from _split(rule, "backendRefs", backends, "weight", None)
    elif resource.kind == "InferenceGraph":
        for holder, key in walk(resource.spec.get_map("nodes")):
            if key == "steps" and holder.get("routerType") == "Splitter":
                yield from _split(holder, key, holder.get_maps(key), "weight", 100)
    elif resource.kind == "SeldonDeployment":
        predictors = [p for p in resource.spec.get_maps("predictors") if p.get("shadow") is not True]
        yield from _split(resource.spec, "predictors", predictors, "traffic", 100)


def _split(holder: Map, key: str, entries: list[Map], weight: str, total: int | None) -> Iterator[Split]:
    values = [entry.get(weight) for entry in entries]
    known = [value for value in values if isinstance(value, int)]
    # One that is left out has a default of its own, and a placeholder is unknown.
    if len(entries) > 1 and len(known) == len(entries):
        yield Split(holder, key, tuple(known), total)


def serves(name: str, near: Resource, index: Index) -> bool:
    """Whether a Service of that name leads to a model server, or a serving object has that name."""
    if any(index.find(kind, name, near) for kind in ("InferencePool", "InferenceService", "LLMInferenceService")):
        return True
    service = index.find("Service", name, near)
    return service is not None and bool(index.served_by(service))


def is_split(name: str, near: Resource, index: Index) -> bool:
    """Whether some route of the run sends a Service its requests: then weights or subsets may divide them."""
    for kind in ("VirtualService", "HTTPRoute", "DestinationRule", "GRPCRoute", "TrafficSplit"):
        for route in index.by_kind.get(kind, []):
            for holder, key in walk(route.spec):
                if key in ("host", "name", "service") and text(holder[key]).split(".", 1)[0] == name:
                    return True
    return bool(near.annotations.get("nginx.ingress.kubernetes.io/canary"))
