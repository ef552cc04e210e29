"""Rendered sets against the API schemas of every Kubernetes release we name, the CRDs, and our own linter."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from interlock.report.errors import BadInput
from interlock.templates.profiles import PROFILES
from interlock.templates.run import render
from interlock.templates.versions import NEWEST, OLDEST

VERSIONS = [f"{OLDEST[0]}.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)]


def _objects(profile: str, values: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(render(profile, values=values, **options).payload))


@pytest.mark.parametrize("version", VERSIONS)
def test_core_kinds_pass_the_strict_schema_of_their_release(version: str, values: dict[str, Any]) -> None:
    for profile in PROFILES:
        for o in _objects(profile, values, kube_version=version):
            if "monitoring.coreos.com" not in o["apiVersion"]:
                kubernetes_validate.validate(o, version, strict=True)


def test_fields_appear_with_the_release_that_knows_them(values: dict[str, Any]) -> None:
    def stop(version: str) -> dict[str, Any]:
        (deployment,) = (o for o in _objects("vllm", values, kube_version=version) if o["kind"] == "Deployment")
        return deployment["spec"]["template"]["spec"]["containers"][0]["lifecycle"]["preStop"]

    assert stop("1.28") == {"exec": {"command": ["/bin/sleep", "10"]}}
    assert stop("1.29") == stop("v1.31.4") == {"sleep": {"seconds": 10}}
    for wrong in ("1.24", "1.99", "latest", "1.x"):
        with pytest.raises(BadInput, match=f"--kube-version {wrong}"):
            stop(wrong)


def _strict(schema: Any) -> Any:
    """A structural schema that refuses unknown fields, as kubectl does by default."""
    schema = copy.deepcopy(schema)

    def close(node: Any) -> None:
        if isinstance(node, dict):
            if "properties" in node and "additionalProperties" not in node:
                node["additionalProperties"] = bool(node.get("x-kubernetes-preserve-unknown-fields"))
            for key in ("properties", "items", "additionalProperties"):
                inner = node.get(key)
                for child in inner.values() if key == "properties" and inner else [inner]:
                    close(child)

    close(schema)
    schema["properties"]["metadata"] = {"type": "object"}
    return schema


@pytest.mark.parametrize("profile", PROFILES)
def test_pod_monitor_passes_its_custom_resource_definition(profile: str, values: dict[str, Any], shared: Path) -> None:
    text = (shared / "crds" / "monitoring.coreos.com_podmonitors.yaml").read_text(encoding="utf-8")
    (version,) = (v for v in yaml.load(text, yaml.CSafeLoader)["spec"]["versions"] if v["name"] == "v1")
    (monitor,) = (o for o in _objects(profile, values) if o["kind"] == "PodMonitor")
    validator = jsonschema.Draft202012Validator(_strict(version["schema"]["openAPIV3Schema"]))
    assert not list(validator.iter_errors(monitor))
    monitor["spec"]["podMetricsEndpoints"][0]["relabeling"] = []
    assert list(validator.iter_errors(monitor)), "an unknown field must be seen"


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("pedantic", [False, True])
def test_our_own_linter_finds_nothing(profile: str, pedantic: bool, values: dict[str, Any], tmp_path: Path) -> None:
    import interlock

    layout = f"oci-layout:/registry/models@{values['model']['reference'].partition('@')[2]}"
    variants = [
        values,
        {**values, "replicas": 1, "resources": {"gpus": 0}},
        {**values, "env": {"LOG": "$(HOME)"}, "args": ["--flag", "$$"]},
        {**values, "model": {**values["model"], "reference": layout, "registry_claim": "models"}},
    ]
    for variant in variants:
        (tmp_path / "set.yaml").write_text(render(profile, values=variant).payload, encoding="utf-8")
        report = interlock.lint([str(tmp_path / "set.yaml")], pedantic=pedantic)
        assert [f"{f.rule} {f.message}" for f in report.findings] == []
        assert report.inputs == 7


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [
        ("HU603", "@sha256:", ":latest # "),
        ("HU702", "maxUnavailable: 0", "maxUnavailable: 2"),
        ("HU102", "/v2/models/vad/ready", "/v2/health/live"),
    ],
)
def test_our_own_linter_knows_these_pods(rule: str, old: str, new: str, values: dict[str, Any], tmp_path: Path) -> None:
    # Nothing found must not mean nothing looked at.
    import interlock

    values["image"] = f"nvcr.io/nvidia/tritonserver@{values['image'].partition('@')[2]}"
    (tmp_path / "set.yaml").write_text(render("triton", values=values).payload.replace(old, new), encoding="utf-8")
    assert rule in {finding.rule for finding in interlock.lint([str(tmp_path / "set.yaml")]).findings}
