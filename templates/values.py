"""The values a profile is rendered with: names, types, defaults. The loader, --set and the docs read these fields."""

from __future__ import annotations

from dataclasses import dataclass

from ..config.settings import Identity, setting


@dataclass(slots=True, kw_only=True)
class Model:
    """Which model is served."""

    name: str = setting("name clients ask for; default: name", default="")
    version: str = setting("version, shown as label and on every metric", default="")
    reference: str = setting("oci://HOST/REPOSITORY@sha256:… or oci-layout:PATH@sha256:…; never a tag", default="")
    registry_claim: str = setting("PersistentVolumeClaim that holds the oci-layout PATH, mounted read-only", default="")
    size: str = setting("limit of the volume the model is pulled to, such as 40Gi", default="")


@dataclass(slots=True, kw_only=True)
class Trust:
    """Who may have signed the model; at least one key or identity."""

    keys: list[str] = setting("public keys in PEM form (the text, not a path)", factory=list[str])
    identities: list[Identity] = setting("keyless signers", factory=list[Identity])


@dataclass(slots=True, kw_only=True)
class Resources:
    """What one replica needs."""

    cpu: str = setting("CPU request", default="2")
    memory: str = setting("memory request and limit, /dev/shm included", default="8Gi")
    gpus: int = setting("accelerators of one replica", default=0)
    gpu_resource: str = setting("resource name of the accelerator", default="nvidia.com/gpu")
    shm: str = setting("size of /dev/shm; counts against memory", default="1Gi")


@dataclass(slots=True, kw_only=True)
class Timing:
    """Measured times in seconds. Probe budgets, drain and deadlines are computed from these."""

    load: int = setting("slowest load measured, from start of the server to its first answer", default=300)
    request: int = setting("longest request that must be let finish", default=30)
    settle: int = setting("time routers need to notice that a pod leaves", default=15)


@dataclass(slots=True, kw_only=True)
class Network:
    """Who may talk to the pods. Everything else is denied."""

    clients: list[str] = setting("namespaces that send requests; default: the namespace itself", factory=list[str])
    monitoring: str = setting("namespace that scrapes metrics", default="monitoring")


@dataclass(slots=True, kw_only=True)
class Server:
    """How to start and ask a server of your own; for the onnxruntime profile only."""

    command: list[str] = setting("command line; default: the image's own", factory=list[str])
    port: int = setting("HTTP port", default=8080)
    ready: str = setting("path that answers 200 once the model answers; default: /v2/models/NAME/ready", default="")
    live: str = setting("path that answers 200 while the process is sane", default="/v2/health/live")
    metrics: str = setting("path of the Prometheus metrics", default="/metrics")


@dataclass(slots=True, kw_only=True)
class Values:
    """Values of every profile."""

    name: str = setting("name of the release and of its objects", default="")
    namespace: str = setting("namespace; default: left to kubectl", default="")
    image: str = setting("serving image by digest: HOST/REPOSITORY@sha256:…", default="")
    interlock_image: str = setting("image with the interlock command line and /bin/sh, by digest", default="")
    pull_secret: str = setting("Secret of type dockerconfigjson, for images and the model", default="")
    replicas: int = setting("pods that serve; two or more survive a node", default=2)
    args: list[str] = setting("further arguments of the server", factory=list[str])
    env: dict[str, str] = setting("further environment variables", factory=dict[str, str])
    labels: dict[str, str] = setting("further labels of every object", factory=dict[str, str])
    node_selector: dict[str, str] = setting("node labels to run on", factory=dict[str, str])
    runtime_class: str = setting("RuntimeClass of the pods, such as nvidia", default="")
    user: int = setting("user and group id the containers run as", default=1000)
    read_only_root: bool = setting("read-only root file system", default=True)
    model: Model = setting("which model is served", factory=Model)
    server: Server = setting("how to start and ask a server of your own", factory=Server)
    trust: Trust = setting("who may have signed the model", factory=Trust)
    resources: Resources = setting("what one replica needs", factory=Resources)
    timing: Timing = setting("measured times", factory=Timing)
    network: Network = setting("who may talk to the pods", factory=Network)
