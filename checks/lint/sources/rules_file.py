"""Queries on metrics, wherever they stand: Prometheus rule files and PrometheusRule objects, SLO objects, KEDA
ScaledObjects, adapter rules, Argo AnalysisTemplates and Flagger MetricTemplates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ....report.finding import Location
from . import promql
from .embedded_yaml import embedded
from .kubernetes import Resource
from .text import TextFile, Unreadable
from .yamlnodes import EMPTY, Document, Map, dig, pointer
from .yamlnodes import text as scalar_text

_RULE_KINDS = frozenset({"PrometheusRule", "VMRule", "Rules", "ClusterRules", "GlobalRules"})


@dataclass(eq=False)
class MetricQuery:
    """One query. `kind` is `alert`, `record`, `slo`, `scaler`, `adapter` or `analysis`; `group` and `name` are those of
    the rule; `holder` and `key` where the expression stands; `resource` the object, None in a plain rule file."""

    file: TextFile
    kind: str
    group: str
    name: str
    holder: Map
    key: str
    resource: Resource | None = None

    @property
    def path(self) -> str:
        return self.file.path

    @cached_property
    def text(self) -> str:
        """The expression as written."""
        return scalar_text(self.holder.get(self.key)).strip()

    @cached_property
    def query(self) -> promql.Query | None:
        """The expression as read, None where it is not PromQL."""
        try:
            return promql.read(self.text)
        except promql.PromqlError:
            return None

    @property
    def at(self) -> Location:
        """Where the expression starts."""
        if self.resource is not None:
            return self.resource.at(self.holder, self.key)
        span = self.holder.span(self.key)
        one_line = span.line == span.end_line
        ends = (span.end_line, span.end_column) if one_line else (None, None)
        where = pointer(self.holder, self.key)
        return self.file.location(span.line, span.column, *ends, object=self.name, pointer=where)


def from_document(document: Document, resources: list[Resource]) -> Iterator[MetricQuery]:
    """The queries of a document; one that is not PromQL is a notice on the file."""
    for query in _queries(document, resources):
        if not query.text:
            continue
        try:
            promql.read(query.text)
        except promql.PromqlError as error:
            where = query.at
            document.file.notices.append(
                Unreadable(f"{query.name}: {error.reason}", line=where.line, column=where.column)
            )
        yield query


def _queries(document: Document, resources: list[Resource]) -> Iterator[MetricQuery]:
    file, root = document.file, document.root
    if not resources and isinstance(root, Map) and "kind" not in root and "groups" in root:
        yield from _groups(file, root, None)
    for resource in resources:
        if resource.kind in _RULE_KINDS:
            yield from _groups(file, resource.spec, resource)
        elif resource.kind == "ScaledObject":
            yield from _triggers(file, resource)
        elif resource.kind in ("AnalysisTemplate", "ClusterAnalysisTemplate"):
            yield from _analysis(file, resource)
        elif resource.kind == "MetricTemplate":
            if dig(resource.spec, "provider", "type") in ("prometheus", None):
                yield MetricQuery(file, "analysis", "", resource.name, resource.spec, "query", resource)
        elif resource.kind == "PrometheusServiceLevel":
            yield from _service_levels(file, resource)
        elif resource.kind == "ConfigMap":
            yield from _config(file, resource)


def _config(file: TextFile, resource: Resource) -> Iterator[MetricQuery]:
    """Rule files that a ConfigMap carries."""
    data = resource.root.get_map("data")
    for key, value in data.items():
        if isinstance(value, str) and "groups:" in value and "expr:" in value:
            for inner in embedded(resource, data, key):
                yield from _groups(file, inner.root, inner)


def _groups(file: TextFile, holder: Map, resource: Resource | None) -> Iterator[MetricQuery]:
    for group in holder.get_maps("groups"):
        for rule in group.get_maps("rules"):
            kind = "alert" if "alert" in rule else "record"
            yield MetricQuery(file, kind, group.get_str("name"), rule.get_str(kind), rule, "expr", resource)


def _triggers(file: TextFile, resource: Resource) -> Iterator[MetricQuery]:
    for trigger in resource.spec.get_maps("triggers"):
        if trigger.get_str("type") == "prometheus" and isinstance(trigger.get("metadata"), Map):
            yield MetricQuery(file, "scaler", "", resource.name, trigger.get_map("metadata"), "query", resource)


def _analysis(file: TextFile, resource: Resource) -> Iterator[MetricQuery]:
    for metric in resource.spec.get_maps("metrics"):
        provider = dig(metric, "provider", "prometheus") or EMPTY
        if isinstance(provider, Map) and "query" in provider:
            yield MetricQuery(file, "analysis", "", metric.get_str("name"), provider, "query", resource)


def _service_levels(file: TextFile, resource: Resource) -> Iterator[MetricQuery]:
    for slo in resource.spec.get_maps("slos"):
        events = slo.get_map("sli").get_map("events")
        for key in ("errorQuery", "totalQuery", "error_query", "total_query"):
            if key in events:
                yield MetricQuery(file, "slo", "", slo.get_str("name"), events, key, resource)
