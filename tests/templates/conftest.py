"""Values that every profile renders with."""

from __future__ import annotations

from typing import Any

import pytest

DIGEST = "sha256:" + "0f" * 32
PEM = """\
-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEI933tQvjkRryxLtyvlHMP/rO/neM
Fhyx29J+XaMbfyySMSInxDTeOS3JOE3b7lc570uNrcwDLFFmnXHwDBkkGg==
-----END PUBLIC KEY-----
"""


@pytest.fixture
def values() -> dict[str, Any]:
    """A set of values that uses every section; `server` belongs to the onnxruntime profile and is left out."""
    return {
        "name": "vad",
        "namespace": "serving",
        "image": f"registry.example:5000/serving/server@{DIGEST}",
        "interlock_image": f"ghcr.io/acme/interlock@{DIGEST}",
        "pull_secret": "registry",
        "args": ["--flag", "x=1"],
        "env": {"LOG_LEVEL": "info", "HOME": "/home"},
        "labels": {"team": "speech"},
        "runtime_class": "nvidia",
        "user": 2000,
        "node_selector": {"nvidia.com/gpu.product": "H200"},
        "model": {"version": "1.4.0", "reference": f"oci://registry.example/models/vad@{DIGEST}", "size": "2Gi"},
        "trust": {"keys": [PEM], "identities": [{"issuer": "https://issuer.example", "subject": "ci@acme.example"}]},
        "resources": {"gpus": 1, "memory": "16Gi"},
        "timing": {"load": 90, "request": 20, "settle": 10},
        "network": {"clients": ["gateway"], "monitoring": "observability"},
    }
