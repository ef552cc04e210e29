"""Metric queries: found in every kind of object that holds them."""

from __future__ import annotations

from interlock.checks.lint.sources import rules_file
from interlock.checks.lint.sources.kubernetes import resources
from interlock.checks.lint.sources.rules_file import MetricQuery
from interlock.checks.lint.sources.text import TextFile
from interlock.checks.lint.sources.yamlreader import documents


def read(text: str) -> tuple[list[MetricQuery], TextFile]:
    file = TextFile("rules.yaml", text)
    found = [q for document in documents(file) for q in rules_file.from_document(document, list(resources(document)))]
    return found, file


OBJECTS = """\
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: r}
spec:
  groups:
    - name: g
      rules:
        - alert: A
          expr: a > 1
        - record: b:c
          expr: |
            sum(b)
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: s}
spec:
  triggers:
    - type: prometheus
      metadata: {query: sum(c)}
    - type: cpu
      metadata: {value: "5"}
---
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: t}
spec:
  metrics:
    - name: m
      provider: {prometheus: {query: 'd{x="{{args.x}}"}'}}
    - name: job
      provider: {job: {}}
---
apiVersion: flagger.app/v1beta1
kind: MetricTemplate
metadata: {name: f}
spec:
  provider: {type: prometheus}
  query: e
---
apiVersion: sloth.slok.dev/v1
kind: PrometheusServiceLevel
metadata: {name: p}
spec:
  slos:
    - name: o
      sli: {events: {errorQuery: f, totalQuery: g}}
"""


def test_objects() -> None:
    found, file = read(OBJECTS)
    assert [(q.kind, q.group, q.name, q.query.selectors[0].metric if q.query else "") for q in found] == [
        ("alert", "g", "A", "a"),
        ("record", "g", "b:c", "b"),
        ("scaler", "", "s", "c"),
        ("analysis", "", "m", "d"),
        ("analysis", "", "f", "e"),
        ("slo", "", "o", "f"),
        ("slo", "", "o", "g"),
    ]
    assert file.notices == []
    where = found[0].at
    assert (where.line, where.column, where.end_column, where.object) == (9, 17, 22, "PrometheusRule/r")
    assert where.pointer == "/spec/groups/0/rules/0/expr"
    assert found[1].at.line == 11


def test_plain_rule_files() -> None:
    found, _ = read("groups:\n  - name: g\n    rules:\n      - alert: A\n        expr: up == 0\n")
    assert [(q.kind, q.group, q.name, q.at.line, q.at.column) for q in found] == [("alert", "g", "A", 5, 15)]
    assert read("groups: [a]\nkind: Other\n")[0] == []


def test_what_is_no_promql_is_a_notice() -> None:
    found, file = read("groups:\n  - name: g\n    rules:\n      - alert: A\n        expr: sum(\n")
    assert found[0].query is None
    assert [(n.line, n.column) for n in file.notices] == [(5, 15)]
    assert "A: not PromQL" in file.notices[0].reason


def test_rule_files_in_config_maps() -> None:
    found, file = read(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  notes: 'groups: none'\n  rules.yml: |\n"
        "    groups:\n      - name: g\n        rules:\n          - alert: A\n            expr: sum(a) > 1\n"
    )
    assert [(q.kind, q.name, q.text, q.at.line, q.at.column, q.at.object) for q in found] == [
        ("alert", "A", "sum(a) > 1", 11, 19, "ConfigMap/c")
    ]
    assert file.notices == []
