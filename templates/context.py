"""What templates see besides the values: labels, the times that follow from measured ones, the verifier's config."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from .rules import reference_parts
from .values import Values

_MODELS = "/models"


def build(profile: str, values: Values, fields: dict[str, bool], template_digest: str) -> dict[str, Any]:
    """The context of a profile's templates."""
    layout, digest = reference_parts(values.model.reference)
    served = values.model.name or values.name
    names = {"app.kubernetes.io/name": profile, "app.kubernetes.io/instance": values.name}
    labels = {
        **dict(sorted(values.labels.items())),
        **names,
        "app.kubernetes.io/component": "model-server",
        "app.kubernetes.io/part-of": served[:63],
        "app.kubernetes.io/managed-by": "interlock",
    }
    trust = trust_files(values)
    trust_name = f"{values.name}-trust-{_digest(trust)[7:17]}"
    return {
        "v": values,
        "has": fields,
        "served": served,
        "directory": f"{_MODELS}/{served}",
        "layout": layout,
        # Only the init container sees them: the server has no business with the registry.
        "credentials": "" if layout else values.pull_secret,
        "selector": names,
        "labels": labels,
        "pod_labels": {**labels, "app.kubernetes.io/version": values.model.version},
        "pod_annotations": {"interlock.dev/model": values.model.reference, "interlock.dev/model-digest": digest},
        "provenance": {
            "interlock.dev/model-digest": digest,
            "interlock.dev/template-digest": template_digest,
            "interlock.dev/values-digest": _digest(asdict(values)),
        },
        "times": times(values),
        "trust": trust,
        "trust_name": trust_name,
        "metadata": _metadata(values, labels),
        "literal": literal,
        "env": _env(values),
        "resources": _resources(values),
        "ingress": _ingress(values),
        "egress": _egress(values, layout),
    }


def times(values: Values) -> dict[str, int]:
    """Probe budgets and deadlines in seconds from the measured times.

    startup budget = 2 x slowest load, at least a minute, so that liveness can stay strict afterwards; grace = settle +
    longest request + 15, strictly more than preStop and the server's own drain together.
    """
    timing = values.timing
    budget = max(60, math.ceil(2 * timing.load / 10) * 10)
    return {
        "startup_failures": budget // 10,
        "min_ready": 10,
        # The model is pulled and verified before the server starts; that counts as progress time too.
        "progress_deadline": budget + timing.load + 900,
        "settle": timing.settle,
        "drain": timing.request,
        "grace": timing.settle + timing.request + 15,
    }


def trust_files(values: Values) -> dict[str, str]:
    """Files of the verifier's ConfigMap: public keys and an interlock.yaml (JSON is YAML) that trusts them."""
    files = {f"key-{i}.pub": key.strip() + "\n" for i, key in enumerate(values.trust.keys)}
    identities = [{k: x for k, x in asdict(identity).items() if x} for identity in values.trust.identities]
    trust = {key: part for key, part in (("keys", list(files)), ("identities", identities)) if part}
    return {"interlock.yaml": json.dumps({"trust": trust}, ensure_ascii=False) + "\n", **files}


def literal(texts: list[str]) -> list[str]:
    """Texts as a container's command, args and env must give them so that it sees the texts themselves.

    The kubelet replaces $(NAME) in these fields and reads $$ as $ (k8s.io/kubernetes, third_party/forked/golang/
    expansion), so every $ is written twice.
    """
    return [text.replace("$", "$$") for text in texts]


def _digest(value: Any) -> str:
    data = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(data.encode()).hexdigest()


def _metadata(values: Values, labels: dict[str, str]) -> Callable[..., dict[str, Any]]:
    def metadata(name: str, **more: Any) -> dict[str, Any]:
        space = {"namespace": values.namespace} if values.namespace else {}
        return {"name": name, **space, "labels": labels, **more}

    return metadata


def _env(values: Values) -> Callable[..., list[dict[str, str]]]:
    def env(**own: str) -> list[dict[str, str]]:
        """The profile's variables and the user's over them, by name."""
        merged = {**own, **values.env}
        names = sorted(merged)
        texts = literal([merged[name] for name in names])
        return [{"name": name, "value": text} for name, text in zip(names, texts, strict=True)]

    return env


def _resources(values: Values) -> dict[str, dict[str, Any]]:
    need = values.resources
    devices = {need.gpu_resource: need.gpus} if need.gpus else {}
    return {
        "requests": {"cpu": need.cpu, "memory": need.memory, **devices},
        "limits": {"memory": need.memory, **devices},
    }


def _ingress(values: Values) -> list[dict[str, Any]]:
    return [_namespace(name) for name in values.network.clients] or [{"podSelector": {}}]


def _namespace(name: str) -> dict[str, Any]:
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}


def _egress(values: Values, layout: str) -> list[int]:
    """TCP ports that pulling and keyless verification need; empty where everything is local."""
    ports = {443} if values.trust.identities else set[int]()
    if not layout:
        host = values.model.reference.removeprefix("oci://").partition("/")[0]
        _, _, port = host.partition(":")
        ports.add(int(port) if port else 443)
    return sorted(ports)
