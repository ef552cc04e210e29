"""Render against its floor (parse and print the same manifests with PyYAML) and its peers (Helm, Kustomize)."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from interlock.templates.run import render

ROUNDS = 30
DIGEST = "sha256:" + "0f" * 32
VALUES: dict[str, Any] = {
    "name": "llama",
    "image": f"vllm/vllm-openai@{DIGEST}",
    "interlock_image": f"registry.example/interlock@{DIGEST}",
    "model": {"version": "1.4.0", "reference": f"oci://registry.example/llama@{DIGEST}"},
    "trust": {"identities": [{"issuer": "https://issuer.example", "subject": "ci@example.org"}]},
    "resources": {"gpus": 1, "memory": "64Gi"},
}


def chart(folder: Path, text: str) -> str:
    """A Helm chart whose templates are the rendered manifests, with one value in each."""
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: llama\nversion: 0.1.0\n")
    (folder / "values.yaml").write_text("namespace: serving\n")
    for number, document in enumerate(text.split("---\n")):
        body = document.replace("name: llama\n", "name: llama\n  namespace: {{ .Values.namespace | quote }}\n", 1)
        (folder / "templates" / f"{number}.yaml").write_text(body)
    return str(folder)


def peers(text: str, folder: Path) -> dict[str, Callable[[], object]]:
    """What else renders manifests on this machine."""
    found: dict[str, Callable[[], object]] = {}
    where = chart(folder / "chart", text)
    if shutil.which("helm"):
        found["helm template (process)"] = lambda: subprocess.run(
            ["helm", "template", "x", where], check=True, capture_output=True
        )
    kustomize = folder / "kustomize"
    kustomize.mkdir()
    (kustomize / "all.yaml").write_text(text)
    (kustomize / "kustomization.yaml").write_text("namespace: serving\nresources: [all.yaml]\n")
    if shutil.which("kubectl"):
        found["kubectl kustomize (process)"] = lambda: subprocess.run(
            ["kubectl", "kustomize", str(kustomize)], check=True, capture_output=True
        )
    values = folder / "values.json"
    values.write_text(json.dumps(VALUES))
    found["interlock render (process)"] = lambda: subprocess.run(
        [sys.executable, "-m", "interlock", "render", "vllm", "--values", str(values)], check=True, capture_output=True
    )
    return found


def main() -> int:
    """Print medians and ratios; everything takes turns in one run."""
    text = render("vllm", values=VALUES).payload
    with tempfile.TemporaryDirectory() as folder:
        cases: dict[str, Callable[[], object]] = {
            "floor: parse and print with PyYAML": lambda: yaml.dump_all(
                list(yaml.load_all(text, yaml.CSafeLoader)), Dumper=yaml.CSafeDumper
            ),
            "interlock render (in process)": lambda: render("vllm", values=VALUES),
            **peers(text, Path(folder)),
        }
        times: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(ROUNDS):
            for name, case in cases.items():
                start = time.perf_counter()
                case()
                times[name].append((time.perf_counter() - start) * 1e3)
    medians = {name: statistics.median(values) for name, values in times.items()}
    floor = medians["floor: parse and print with PyYAML"]
    ours = medians["interlock render (process)"]
    sys.stdout.write(f"7 objects, {len(text) / 1e3:.1f} kB, medians of {ROUNDS} interleaved rounds\n")
    for name, median in medians.items():
        base, what = (ours, "interlock") if "(process)" in name else (floor, "floor")
        sys.stdout.write(f"{name:<36} {median:8.1f} ms   {median / base:5.2f} x {what}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
