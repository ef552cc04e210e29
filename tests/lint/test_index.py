"""The joins: what belongs together in one tree, and what only looks alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interlock.checks.lint.collect import collect
from interlock.checks.lint.index import Index
from interlock.checks.lint.nearby import Nearby

POD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: {ns}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {app}}}}}
  template:
    metadata: {{labels: {{app: {app}}}}}
    spec:
      volumes:
        - {{name: store, persistentVolumeClaim: {{claimName: weights}}}}
        - {{name: settings, configMap: {{name: settings}}}}
      containers:
        - name: server
          image: {image}
          envFrom: [{{configMapRef: {{name: settings}}}}]
          ports: [{{name: http, containerPort: 8000}}]
          volumeMounts: [{{name: store, mountPath: /models}}, {{name: deep, mountPath: /models/deep}}]
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: {ns}, labels: {{team: a}}}}
spec:
  selector: {{app: {app}}}
  ports: [{{name: api, port: 80, targetPort: http}}]
"""


def pod(name: str = "chat", **given: str) -> str:
    fields = {"app": "chat", "ns": "prod", "replicas": "2", "image": "vllm/vllm-openai:v1", **given}
    return POD.format(name=name, **fields)


def service(name: str = "chat", app: str = "chat", ns: str = "prod") -> str:
    return SERVICE.format(name=name, app=app, ns=ns)


@pytest.fixture
def build(tmp_path: Path):
    """A function that writes files and returns the index over them."""

    def make(files: dict[str, str]) -> Index:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        inputs = collect([str(tmp_path)])
        assert inputs.unread == []
        return Index(inputs.resources, inputs.subjects)

    return make


def test_service_to_pod_across_files_and_namespaces(build) -> None:
    index = build({"a/pod.yaml": pod(), "a/service.yaml": service(), "a/other.yaml": service("other", ns="test")})
    (found,) = index.pods
    assert [s.name for s in index.services_of(found)] == ["chat"]
    assert index.servers(found) == found.containers
    assert index.takes_requests(found.containers[0])
    assert index.target(found, "http") is found.containers[0]
    assert index.target(found, 8000) is found.containers[0]
    assert index.target(found, 9000) is None


def test_nearest_pods_win(build) -> None:
    index = build(
        {"one.yaml": pod("one") + "---\n" + service("one"), "two.yaml": pod("two"), "sub/three.yaml": pod("three")}
    )
    selected = {p.resource.name: [s.name for s in index.services_of(p)] for p in index.pods}
    assert selected == {"one": ["one"], "two": [], "three": []}


@pytest.mark.parametrize(
    ("where", "joined"),
    [
        ("app/pod.yaml", True),
        ("pod.yaml", True),
        ("app/deep/down/pod.yaml", True),
        ("other/pod.yaml", True),
        ("x/y/pod.yaml", False),
    ],
)
def test_distance(build, where: str, joined: bool) -> None:
    index = build({"app/service.yaml": service(), where: pod()})
    assert bool(index.services_of(index.pods[0])) is joined


SCALERS = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: s}
spec: {scaleTargetRef: {kind: Deployment, name: scaled}, minReplicas: 5}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: z}
spec: {scaleTargetRef: {name: zero}, minReplicaCount: 0}
"""


def test_minimum_of_replicas(build) -> None:
    pods = [pod("plain"), pod("scaled"), pod("zero"), pod("unknown", replicas="${N}")]
    index = build({"pods.yaml": "---\n".join(pods), "scalers.yaml": SCALERS})
    found = {p.resource.name: index.minimum(p) for p in index.pods}
    assert found == {"plain": 2, "scaled": 5, "zero": 0, "unknown": None}


CONFIG = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: weights}
spec: {accessModes: [ReadWriteMany]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: b}
"""


def test_claims_and_config_maps(build) -> None:
    index = build({"pod.yaml": pod(), "config.yaml": CONFIG})
    (found,) = index.pods
    assert index.access_modes(found, found.volume("store")) == {"ReadWriteMany"}
    assert index.claim_users("weights", found.resource) == [found]
    config = index.by_kind["ConfigMap"][0]
    assert sorted(how for _, how, _ in index.config_users(config)) == ["envFrom", "volume"]
    mount, volume = found.containers[0].mount_of("/models/ranker/1")  # type: ignore[misc]
    assert mount["name"] == volume["name"] == "store"
    assert found.containers[0].mount_of("/models/deep/x")[0]["name"] == "deep"  # type: ignore[index]
    assert found.containers[0].mount_of("/modelsX") is None


def test_kustomization_rewrites_images(build) -> None:
    index = build(
        {
            "base/pod.yaml": pod(image="server"),
            "base/kustomization.yaml": "resources: [pod.yaml]\nimages: [{name: server, newName: vllm/vllm-openai}]\n",
            "prod/kustomization.yaml": "resources: [../base]\nimages: [{name: vllm/vllm-openai, newTag: v0.10.0}]\n"
            "configMapGenerator: [{name: settings, literals: [a=b]}]\n",
            "loop/kustomization.yaml": "resources: [../loop]\n",
        }
    )
    (found,) = index.pods
    image = index.image(found.containers[0])
    assert (image.repository, image.tag) == ("vllm/vllm-openai", "v0.10.0")
    assert index.kustomizations.generates("settings", found.resource)
    assert not index.kustomizations.generates("other", found.resource)


MONITORS = """\
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: m}
spec: {selector: {matchLabels: {team: a}}}
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: p}
spec: {selector: {matchLabels: {app: chat}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: b}
spec: {selector: {matchLabels: {app: chat}}}
"""


def test_monitors_and_budgets(build) -> None:
    index = build({"pod.yaml": pod() + "---\n" + service(), "monitor.yaml": MONITORS})
    (found,) = index.pods
    for kind in ("ServiceMonitor", "PodMonitor"):
        assert index.monitored(index.by_kind[kind][0]) == [found]
    assert [b.name for b in index.budgets_of(found)] == ["b"]


PATCH = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec: {template: {spec: {containers: [{name: a}]}}}
"""


def test_patches_make_no_pods(build) -> None:
    assert build({"patch.yaml": PATCH}).pods == []


PATHS = st.lists(st.sampled_from("abc"), min_size=0, max_size=3).map(lambda parts: "/".join([*parts, "f.yaml"]))


@settings(deadline=None)
@given(st.lists(PATHS, max_size=6), PATHS)
def test_nearby_finds_the_same_file_first_and_nothing_twice(paths: list[str], near: str) -> None:
    items: Nearby[int] = Nearby()
    for number, path in enumerate(paths):
        items.add("key", path, number)
    found = items.find("key", near)
    assert len(found) == len(set(found))
    if near in paths:
        assert found == [number for number, path in enumerate(paths) if path == near]
    assert items.find("absent", near) == []
