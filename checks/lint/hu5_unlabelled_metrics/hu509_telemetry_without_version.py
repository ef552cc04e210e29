"""HU509: traces and metrics are exported without the version that made them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Fix, Severity
from ....report.rule import Rule
from ..fixes import replace_value
from ..rulebase import Context
from ..sources.argv import is_placeholder
from ..sources.pods import Container, Pod
from .monitors import version_labels

RULE = Rule(
    id="HU509",
    name="telemetry-without-version",
    family="HU5",
    severity=Severity.INFO,
    summary="OpenTelemetry exporter without a version among its resource attributes",
    what="A model server with an OTEL exporter endpoint and OTEL_RESOURCE_ATTRIBUTES that is absent or names neither "
    "service.version nor a model version.",
    why="Spans of the old and the new version arrive under one service: a trace that is slow or wrong does not say "
    "which version answered.",
    hint="set OTEL_RESOURCE_ATTRIBUTES to service.version=<model version>",
    bad="""\
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
    env:
      - {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: "http://collector:4317"}
      - {name: OTEL_RESOURCE_ATTRIBUTES, value: "service.name=chat"}
""",
    good="""\
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
    env:
      - {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: "http://collector:4317"}
      - {name: OTEL_RESOURCE_ATTRIBUTES, value: "service.name=chat,service.version=1.4.0"}
""",
    exemptions=("attributes taken from elsewhere (valueFrom), placeholders", "no exporter endpoint"),
    references=("https://opentelemetry.io/docs/specs/semconv/resource/",),
    reads=("pod",),
    fix="safe",
)

_ATTRIBUTES = "OTEL_RESOURCE_ATTRIBUTES"
_TELLS = re.compile(r"(^|,)\s*(service\.version|[\w.]*(model|revision)[\w.]*|deployment\.version)\s*=")


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the exporters of one pod's servers."""
    for container in ctx.index.servers(pod):
        endpoint = next((name for name in container.env if re.match(r"OTEL_EXPORTER_OTLP.*ENDPOINT$", name)), "")
        entry = container.env.get(_ATTRIBUTES)
        if not endpoint or (entry is not None and "valueFrom" in entry):
            continue
        value = container.env_value(_ATTRIBUTES) or ""
        if is_placeholder(value) or _TELLS.search(value):
            continue
        holder, key = (entry, "value") if entry is not None and value else (container.env[endpoint], "name")
        message = f"telemetry of {container.name} does not say which model version made it"
        yield ctx.finding(RULE, pod.resource.at(holder, key), message, fix=_fix(pod, container, value))


def _fix(pod: Pod, container: Container, value: str) -> Fix | None:
    """Add the version that the pod's one version label names."""
    names = version_labels(pod)
    versions = {pod.labels[name] for name in names}
    entry = container.env.get(_ATTRIBUTES)
    if entry is None or not value or len(versions) != 1 or not re.fullmatch(r"[\w.+-]+", version := versions.pop()):
        return None
    edit = replace_value(entry, "value", f'"{value},service.version={version}"')
    return Fix((edit,), title=f"add service.version={version}") if edit and '"' not in value else None
