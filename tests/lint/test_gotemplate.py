"""Helm templates that are not rendered: what is written down is judged, what the values decide is not."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interlock.checks.lint.run import lint
from interlock.checks.lint.sources.gotemplate import flattened, is_open, is_template
from interlock.checks.lint.sources.text import TextFile
from interlock.checks.lint.sources.yamlnodes import Document, dig
from interlock.checks.lint.sources.yamlreader import documents
from interlock.report.report import Report


def read(text: str) -> Document:
    flat = flattened(TextFile("t.yaml", dedent(text)))
    assert flat.text.count("\n") == dedent(text).count("\n")
    (document,) = documents(flat)
    return document


def test_expressions_become_placeholders_equal_for_equal_expressions() -> None:
    root = read(
        """\
        selector: {{ .Release.Name }}-web
        label: {{- .Release.Name -}}-web
        other: "{{ .Values.image }}:{{ .Values.tag }}"
        path: {{ printf "%s/models/%dx%d" $root 1 2 }}
        """
    ).root
    assert root["selector"] == root["label"]
    assert root["other"].count("$(t") == 2
    assert "/models/$(t" in root["path"]


def test_first_branch_counts_and_lines_stay() -> None:
    document = read(
        """\
        {{- if .Values.a }}
        kind: A
        {{- else if .Values.b }}
        kind: B
        {{- else }}
        kind: C
        {{- end }}
        {{- define "x" }}
        kind: D
        {{- if 1 }}
        kind: E
        {{- end }}
        {{- end }}
        {{- range .Values.list }}
        last: 1
        {{- end }}
        """
    )
    assert document.root == {"kind": "A", "last": 1}
    assert document.root.span("last").key_line == 15


def test_block_poured_in_leaves_a_hole() -> None:
    document = read(
        """\
        spec:
          containers:
            - name: a
              image: x
              {{- toYaml .Values.probes | nindent 6 }}
            - name: b
              image: {{ .Values.image }}
              resources:
                {{- toYaml .Values.resources | nindent 8 }}
        {{ include "extra" . | indent 2 }}
        """
    )
    one, two = dig(document.root, "spec", "containers")
    assert is_open(document.file, one)
    assert not is_open(document.file, two)
    assert is_open(document.file, document.root["spec"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: {{ .Values.x }}", True),
        ("a: {{ quote $.Values.x }}", True),
        ('{{- include "a" . }}', True),
        ("# {{ .Values.x }}", False),
        ("summary: '{{ $labels.pod }} is down'", False),
        ('text: {{ printf "%.2f" $value }} {{ if gt $value 1.0 }}high{{ end }}', False),
        ("chat: \"{% if x %}{{ message['content'] }}{% endif %}\"", False),
        ("a: b", False),
    ],
)
def test_recognises_templates(text: str, expected: bool) -> None:
    assert is_template(text) is expected


@settings(deadline=None)
@given(st.text(alphabet="ab:- \n{}.\"'$#|", max_size=120))
def test_lines_are_kept_whatever_the_text(text: str) -> None:
    assert flattened(TextFile("t", text)).text.count("\n") == text.count("\n")


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  selector:
    matchLabels: {app: {{ .Release.Name }}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}}
    spec:
      containers:
        - name: server
          image: nvcr.io/nvidia/tritonserver:{{ .Values.tag }}
PROBE---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  selector: {app: {{ .Release.Name }}}
  ports: [{port: 8000}]
"""


def report(tmp_path: Path, probe: str) -> Report:
    (tmp_path / "deployment.yaml").write_text(DEPLOYMENT.replace("PROBE", probe))
    return lint([str(tmp_path)])


def test_missing_probe_is_found_and_joined_with_its_service(tmp_path: Path) -> None:
    found = report(tmp_path, "")
    assert [(f.rule, f.severity.value) for f in found.findings if f.rule == "HU101"] == [("HU101", "error")]
    assert all(f.fix is None for f in found.findings)
    assert found.unread == 0
    assert any("read without values" in f.message for f in found.findings)


@pytest.mark.parametrize(
    "probe",
    [
        "          {{- toYaml .Values.extra | nindent 10 }}\n",
        "          readinessProbe: {{ toYaml .Values.readiness | nindent 12 }}\n",
        "          {{- with .Values.readiness }}\n          readinessProbe:\n            {{- toYaml . | nindent 12 }}\n"
        "          {{- end }}\n",
    ],
)
def test_probe_that_the_values_may_bring_is_not_missing(tmp_path: Path, probe: str) -> None:
    assert [f.rule for f in report(tmp_path, probe).findings if f.rule == "HU101"] == []
