"""The profiles: which templates make up a set, in the order they are applied, and the ports of each server."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from .engine import FOLDER
from .values import Values


@dataclass(frozen=True, slots=True)
class Profile:
    """`ports` are the ports clients use, `metrics` the port name that Prometheus scrapes; None: from values.server."""

    name: str
    ports: tuple[tuple[str, int], ...] | None
    metrics: str

    def templates(self) -> tuple[str, ...]:
        """Template files in order of application: identity and policy before the pods, watching after them."""
        return (
            "shared/service_account.yaml.j2",
            "shared/trust.yaml.j2",
            "shared/network_policy.yaml.j2",
            "shared/service.yaml.j2",
            f"{self.name}/deployment.yaml.j2",
            "shared/disruption_budget.yaml.j2",
            "shared/pod_monitor.yaml.j2",
        )

    def context(self, values: Values) -> dict[str, object]:
        """Ports and paths of the server."""
        return {
            "served_ports": self.ports or (("http", values.server.port),),
            "metrics_port": self.metrics,
            "metrics_path": values.server.metrics if self.ports is None else "/metrics",
        }

    def digest(self) -> str:
        """sha256 over the files that this profile is rendered from."""
        state = hashlib.sha256()
        for folder in ("shared", self.name):
            for path in sorted((FOLDER / folder).glob("*.j2")):
                data = path.read_bytes()
                state.update(f"{folder}/{path.name}\0{len(data)}\0".encode() + data)
        return f"sha256:{state.hexdigest()}"


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("vllm", (("http", 8000),), "http"),
        Profile("triton", (("http", 8000), ("grpc", 8001)), "metrics"),
        Profile("onnxruntime", None, "http"),
    )
}
