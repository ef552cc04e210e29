"""How Triton watches its repository, declared in interlock.yaml or read from manifests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.report.errors import BadInput
from validate.build import folder, onnx_model

Files = dict[str, Any]
IO = {"x": ("float", ["batch", 3])}
CONFIG = 'name: "ranker"\nbackend: "onnxruntime"\n'
SEQUENCES = CONFIG + "sequence_batching { max_sequence_idle_microseconds: 1000 }\n"
POLL = "tritonserver --model-repository=/models --model-control-mode=poll"


def repository(weight: float = 1.0, config: str = CONFIG) -> Files:
    return {"config.pbtxt": config, "1/model.onnx": onnx_model(IO, {"y": ("float", ["batch"])}, weight=weight)}


def judged(path: Path, server: str, old: Files | None = None, new: Files | None = None) -> Any:
    before, after = folder(path / "old", old or repository()), folder(path / "new", new or repository(2.0))
    return validate(after, before, contract=Contract(server=server))


@pytest.mark.parametrize(
    "server",
    [
        POLL,
        POLL + " --repository-poll-secs=5",
        "tritonserver --model-control-mode poll --model-repository /models",
        "/opt/tritonserver/bin/tritonserver --model-repository=/models --model-control-mode=POLL",
        "exec tritonserver --model-store=/models --model_control_mode=poll",
        "sh -c 'x' && tritonserver --model-control-mode=poll",
    ],
)
def test_a_server_that_polls_may_load_half_a_version(tmp_path: Path, server: str) -> None:
    report = judged(tmp_path, server)
    assert report.facts["verdict"] == "unproven"
    assert {f.rule for f in report.findings if f.level == "unproven"} == {"TRI-MODE"}


@pytest.mark.parametrize(
    ("server", "says"),
    [
        ("tritonserver --model-repository=/models --repository-poll-secs=15", "is ignored without"),
        ("tritonserver --repository-poll-secs 15 --model-control-mode=none", "is ignored without"),
        ("tritonserver --model-repository=/models", "none by default"),
        ("tritonserver --model-repository=/models --model-control-mode=none", "none by default"),
    ],
)
def test_a_server_that_does_not_watch_needs_a_restart(tmp_path: Path, server: str, says: str) -> None:
    report = judged(tmp_path, server)
    assert report.facts["verdict"] == "restart"
    assert [says in f.message for f in report.findings if f.rule == "TRI-MODE"] == [True]


@pytest.mark.parametrize(
    "server",
    [
        "",
        "tritonserver --model-repository=/models --model-control-mode=explicit --load-model=ranker",
        "tritonserver --model-control-mode explicit --repository-poll-secs=15",
        "vllm serve /models --port 8000",
        "tensorflow_model_server --model-control-mode=poll",
    ],
)
def test_explicit_control_and_other_servers_stay_hot(tmp_path: Path, server: str) -> None:
    assert judged(tmp_path, server).facts["verdict"] == "hot"


def test_the_same_version_and_a_model_alone_are_no_swap(tmp_path: Path) -> None:
    assert judged(tmp_path, POLL, repository(), repository()).facts["verdict"] == "equal"
    alone = validate(tmp_path / "new", contract=Contract(server=POLL))
    assert alone.facts["verdict"] == "equal"


@pytest.mark.parametrize("side", ["old", "new"])
def test_polling_cuts_sequences(tmp_path: Path, side: str) -> None:
    files = {"old": repository(), "new": repository(2.0)} | {side: repository(3.0, SEQUENCES)}
    report = judged(tmp_path, POLL, files["old"], files["new"])
    found = [f for f in report.findings if f.rule == "TRI-MODE"]
    assert len(found) == 1
    assert "cuts the sequences" in found[0].message
    assert found[0].plan == ("drain-sessions",)


def test_a_repository_that_triton_completes_counts_too(tmp_path: Path) -> None:
    bare = [{"1/model.onnx": repository(weight)["1/model.onnx"]} for weight in (1.0, 2.0)]
    assert judged(tmp_path, POLL, *bare).facts["verdict"] == "unproven"


def test_an_unknown_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="pol"):
        judged(tmp_path, "tritonserver --model-control-mode=pol")


# manifests


def pod(*arguments: str, name: str = "triton", image: str = "nvcr.io/nvidia/tritonserver:24.08-py3") -> str:
    labels = f"{{app: {name}}}"
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\n"
        f"spec:\n  selector: {{matchLabels: {labels}}}\n  template:\n    metadata: {{labels: {labels}}}\n    spec:\n"
        f"      containers:\n        - name: {name}\n          image: {image}\n          args: {list(arguments)}\n"
    )


EXPLICIT = pod("tritonserver", "--model-repository=/models", "--model-control-mode=explicit")
POLLS = pod("tritonserver", "--model-repository=/models", "--model-control-mode=poll")
IGNORED = pod("tritonserver", "--model-repository=/models", "--repository-poll-secs=5")
VARIABLE = POLLS.replace("--model-control-mode=poll", "--exit-timeout-secs=30") + (
    "          env: [{name: TRITON_MODEL_CONTROL_MODE, value: poll}]\n"
)
MANIFESTS: list[tuple[str, Files, str]] = [
    ("polls", {"a.yaml": POLLS}, "unproven"),
    ("polls by a variable", {"a.yaml": VARIABLE}, "unproven"),
    ("polls in a script", {"run.sh": f"#!/bin/sh\nexec {POLL}\n"}, "unproven"),
    ("interval without polling", {"a.yaml": IGNORED}, "restart"),
    ("explicit", {"a.yaml": EXPLICIT}, "hot"),
    ("none by default: pods are replaced", {"a.yaml": pod("tritonserver", "--model-repository=/models")}, "hot"),
    ("two that differ", {"a.yaml": POLLS, "b.yaml": EXPLICIT}, "hot"),
    ("a test", {"tests/a.yaml": POLLS}, "hot"),
    ("another server", {"a.yaml": pod("--model", "x", image="vllm/vllm-openai:v0.6")}, "hot"),
    ("none", {"README.md": "x"}, "hot"),
]


@pytest.mark.parametrize(("manifests", "verdict"), [pytest.param(*each[1:], id=each[0]) for each in MANIFESTS])
def test_manifests_that_lint_reads_say_how_triton_watches(tmp_path: Path, manifests: Files, verdict: str) -> None:
    folder(tmp_path / "deploy", manifests)
    settings = tmp_path / "interlock.yaml"
    settings.write_text("lint: {paths: [deploy]}\n")
    before, after = folder(tmp_path / "old", repository()), folder(tmp_path / "new", repository(2.0))
    report = validate(after, before, config=str(settings))
    assert report.facts["verdict"] == verdict, report.findings
    assert ("TRI-MODE" in {f.rule for f in report.findings}) is (verdict != "hot")


def test_what_is_declared_counts_before_manifests(tmp_path: Path) -> None:
    folder(tmp_path / "deploy", {"a.yaml": POLLS})
    settings = tmp_path / "interlock.yaml"
    explicit = POLL.replace("poll", "explicit")
    settings.write_text(f"lint: {{paths: [deploy]}}\ncontract: {{server: '{explicit}'}}\n")
    before, after = folder(tmp_path / "old", repository()), folder(tmp_path / "new", repository(2.0))
    assert validate(after, before, config=str(settings)).facts["verdict"] == "hot"


def test_manifests_are_not_read_for_other_models(tmp_path: Path) -> None:
    settings = tmp_path / "interlock.yaml"
    settings.write_text("lint: {paths: [absent]}\n")
    graph = {"model.onnx": repository()["1/model.onnx"]}
    before, after = folder(tmp_path / "old", graph), folder(tmp_path / "new", graph)
    assert validate(after, before, config=str(settings)).facts["verdict"] == "equal"
