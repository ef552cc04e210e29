"""Helm charts: rendered with values, mapped back to template lines, and never able to stop the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interlock.checks.lint.sources import helm
from interlock.checks.lint.sources.table import Options
from interlock.checks.lint.sources.templatelines import line_map
from interlock.checks.lint.sources.text import TextFile, Unreadable

DEPLOYMENT = """\
{{- if .Values.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  {{- with .Values.labels }}
  labels:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
      {{- range .Values.containers }}
      - name: {{ .name }}
        image: "{{ .image }}"
      {{- end }}
      terminationGracePeriodSeconds: 30
{{- end }}
"""
VALUES = """\
enabled: true
replicas: 1
labels: {app: x, tier: web}
containers:
- {name: a, image: "i:1"}
- {name: b, image: "i:2"}
"""


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    """A chart with conditions, loops and poured-in blocks."""
    pytest.importorskip("helm_python", reason="helm-python-sdk is missing: pip install 'interlock[helm]'")
    folder = tmp_path / "chart"
    (folder / "templates" / "tests").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 0.1.0\n")
    (folder / "values.yaml").write_text(VALUES)
    (folder / "templates" / "deployment.yaml").write_text(DEPLOYMENT)
    (folder / "templates" / "NOTES.txt").write_text("hello\n")
    (folder / "templates" / "tests" / "ping.yaml").write_text("apiVersion: v1\nkind: Pod\n")
    return folder


def test_lines_lead_back_to_the_template(chart: Path) -> None:
    (file,) = helm.render(str(chart), Options())
    assert file.path == str(chart / "templates" / "deployment.yaml")
    assert file.origin is not None
    template = DEPLOYMENT.split("\n")
    pairs = [
        (line.strip(), template[file.origin(number)[1] - 1].strip())
        for number, line in enumerate(file.text.split("\n"), 1)
        if line.strip()
    ]
    assert pairs == [
        ("apiVersion: apps/v1", "apiVersion: apps/v1"),
        ("kind: Deployment", "kind: Deployment"),
        ("metadata:", "metadata:"),
        ("name: release-name", "name: {{ .Release.Name }}"),
        ("labels:", "labels:"),
        ("app: x", "{{- toYaml . | nindent 4 }}"),
        ("tier: web", "{{- toYaml . | nindent 4 }}"),
        ("spec:", "spec:"),
        ("replicas: 1", "replicas: {{ .Values.replicas }}"),
        ("template:", "template:"),
        ("spec:", "spec:"),
        ("containers:", "containers:"),
        ("- name: a", "- name: {{ .name }}"),
        ('image: "i:1"', 'image: "{{ .image }}"'),
        ("- name: b", "- name: {{ .name }}"),
        ('image: "i:2"', 'image: "{{ .image }}"'),
        ("terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds: 30"),
    ]


def test_values_and_sets_reach_the_chart(chart: Path, tmp_path: Path) -> None:
    values = tmp_path / "prod.yaml"
    values.write_text("replicas: 5\nlabels: {app: z}\n")
    (file,) = helm.render(str(chart), Options(values=(str(values),), sets=("containers[0].name=q", "labels.tier=w")))
    assert "replicas: 5" in file.text
    assert "app: z" in file.text
    assert "tier: w" in file.text
    assert list(helm.render(str(chart), Options(sets=("enabled=false",)))) == []


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ('{{ required "a model is needed" .Values.model }}', "a model is needed"),
        ('{{ include "absent" . }}', "absent"),
        ("{{ .Values.x", "unclosed action"),
    ],
)
def test_a_chart_that_does_not_render_is_unreadable(chart: Path, template: str, reason: str) -> None:
    (chart / "templates" / "deployment.yaml").write_text(template)
    with pytest.raises(Unreadable, match="not rendered") as caught:
        list(helm.render(str(chart), Options()))
    assert reason in caught.value.reason
    assert caught.value.hint


def test_missing_values_file_is_unreadable(chart: Path) -> None:
    with pytest.raises(Unreadable, match="nowhere"):
        list(helm.render(str(chart), Options(values=("nowhere.yaml",))))


def test_a_chart_that_never_ends_is_stopped_and_the_next_one_renders(
    chart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helm, "TIMEOUT", 2)
    endless = chart / "templates" / "endless.yaml"
    endless.write_text("{{ range until 30000 }}{{ range until 30000 }}{{ end }}{{ end }}")
    with pytest.raises(Unreadable, match="more than 2 s"):
        list(helm.render(str(chart), Options()))
    endless.unlink()
    monkeypatch.setattr(helm, "TIMEOUT", 20)
    assert len(list(helm.render(str(chart), Options()))) == 1


def test_no_renderer_is_said(chart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helm, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unreadable, match="no renderer") as caught:
        list(helm.render(str(chart), Options()))
    assert "interlock[helm]" in caught.value.hint


def test_the_binary_is_used_where_the_library_is_absent(
    chart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = tmp_path / "bin" / "helm"
    stub.parent.mkdir()
    stub.write_text(
        "#!/bin/sh\n"
        'echo "$@" > "$0.args"\n'
        "printf -- '---\\n# Source: c/templates/a.yaml\\nkind: A\\n---\\n# Source: c/templates/a.yaml\\nkind: B\\n'\n"
    )
    stub.chmod(0o755)
    monkeypatch.setattr(helm, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", f"{stub.parent}:/usr/bin:/bin")
    (file,) = helm.render(str(chart), Options(values=("v.yaml",), sets=("a=1",)))
    assert file.text.split("\n") == ["kind: A", "---", "kind: B"]
    arguments = Path(f"{stub}.args").read_text().split()
    assert arguments == ["template", "release-name", str(chart), "--values", "v.yaml", "--set", "a=1"]


def test_output_of_helm_template_leads_back_too(chart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (rendered,) = helm.render(str(chart), Options())
    text = (
        f"---\n# Source: c/templates/other.yaml\nkind: A\n---\n# Source: c/templates/deployment.yaml\n{rendered.text}"
    )
    monkeypatch.chdir(chart)
    origin = helm.sources_of(TextFile("<stdin>", text))
    assert origin is not None
    lines = text.split("\n")
    assert origin(lines.index("  replicas: 1") + 1) == ("templates/deployment.yaml", 11)
    assert origin(3) == ("<stdin>", 3)
    monkeypatch.chdir(chart.parent)
    assert helm.sources_of(TextFile("<stdin>", text)) is None


_lines = st.lists(
    st.sampled_from(["a: 1", "b:", "- name: x", "{{ if .x }}", "{{ toYaml . }}", "", "c: {{ .y }}"]), max_size=15
)


@given(_lines, _lines)
def test_every_line_is_mapped_into_the_template(template: list[str], rendered: list[str]) -> None:
    mapped = line_map("\n".join(template), "\n".join(rendered))
    assert len(mapped) == max(len(rendered), 1)
    assert all(1 <= number <= max(len(template), 1) for number in mapped)


@given(_lines)
def test_a_template_without_actions_maps_to_itself(lines: list[str]) -> None:
    plain = [line for line in lines if "{{" not in line and line] or ["a: 1"]
    assert line_map("\n".join(plain), "\n".join(plain)) == list(range(1, len(plain) + 1))
