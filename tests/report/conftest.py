"""Reports made by hand: one of each shape that commands return."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from interlock.report.blocks import Histogram, Table, Text
from interlock.report.errors import BadInput
from interlock.report.finding import Edit, Finding, Fix, Location, Severity
from interlock.report.report import Report, failed
from interlock.report.rule import Rule

GOLDEN = Path(__file__).parent / "golden"

LATEST = Rule(
    id="HU603",
    name="moving-image-tag",
    family="HU6",
    severity=Severity.WARNING,
    summary="a serving image without a fixed version",
    what="An image named by a tag that moves, or by none.",
    why="Two replicas of one Deployment can run different servers.",
    hint="name the image by digest",
    bad="image: vllm/vllm-openai:latest",
    good="image: vllm/vllm-openai@sha256:…",
)
REMOTE = Rule(
    id="HU604",
    name="remote-code",
    family="HU6",
    severity=Severity.ERROR,
    summary="code from the model repository runs in the server",
    what="A server told to trust remote code.",
    why="Whoever can push to the model repository runs code in the server.",
    hint="drop the flag",
    fix="unsafe",
)


def lint() -> Report:
    """Findings of each severity over a file that is there, one suppressed, one without a place."""
    return Report(
        command="lint",
        inputs=3,
        unread=1,
        rules=(LATEST, REMOTE),
        findings=[
            Finding(
                rule="HU603",
                name="moving-image-tag",
                severity=Severity.WARNING,
                message="image tag 'latest' moves",
                where=Location(
                    "deploy/vllm.yaml", 10, 16, 10, 39, "Deployment/vllm", "/spec/template/spec/containers/0/image"
                ),
                why="two replicas can run different servers",
                hint="name the image by digest",
                fix=Fix((Edit(10, 16, 10, 39, "vllm/vllm-openai@sha256:0"),), safe=False, title="pin the digest"),
                url="https://docs.example/rules/HU603",
            ),
            Finding(
                rule="HU604",
                name="remote-code",
                severity=Severity.ERROR,
                message="the server trusts remote code",
                where=Location(
                    "deploy/vllm.yaml", 11, 38, 11, 59, "Deployment/vllm", "/spec/template/spec/containers/0/args/2"
                ),
                hint="drop the flag",
                related=(Location("deploy/vllm.yaml", 9, 9, object="container vllm"),),
            ),
            Finding(
                rule="HU604",
                name="remote-code",
                severity=Severity.ERROR,
                message="the server trusts remote code",
                where=Location("deploy/old.yaml", 4, 1, object="Deployment/old"),
                suppressed="retired next week",
            ),
            Finding(
                rule="HU000",
                name="unread",
                severity=Severity.INFO,
                message="not UTF-8 at byte 12",
                where=Location("deploy/blob.yaml"),
                hint="save it as UTF-8",
            ),
            Finding(
                rule="HU506", name="no-version-label", severity=Severity.INFO, message="no workload names its version"
            ),
        ],
    )


def validate() -> Report:
    """A verdict with witness, proof and plan over a tensor file."""
    return Report(
        command="validate",
        inputs=2,
        headline="breaks: 1 tensor changed its shape",
        facts={"verdict": "breaks", "plan": ["drain sessions", "swap"], "ratio": float("nan")},
        findings=[
            Finding(
                rule="WTS-SHAPE",
                name="tensor-shape",
                severity=Severity.ERROR,
                message="[1, 64] became [1, 128]",
                where=Location("new/model.safetensors", object="lstm.weight"),
                level="breaks",
                witness={"input": [1, 2], "old": 0.5},
                proof="",
                plan=("drain sessions", "swap"),
            ),
            Finding(
                rule="TOK-ADD",
                name="token-added",
                severity=Severity.INFO,
                message="1 token added at the end",
                level="hot",
                proof="every old id keeps its text",
            ),
        ],
        body=[Table(("step", "seconds"), [["drain", "30"], ["swap | flip", "1"]], "plan", frozenset({"seconds"}))],
    )


def bench() -> Report:
    """Blocks only."""
    return Report(
        command="bench",
        inputs=1,
        headline="p50 1.20 ms, p99 3.40 ms",
        body=[
            Text("CPUExecutionProvider ran 12 of 12 nodes", "providers"),
            Table(("percentile", "ms"), [["p50", "1.20"], ["p99", "3.40"]], "latency", frozenset({"ms"})),
            Histogram("latency", [0.0, 1.0, 2.0, 4.0], {"old": [3, 9, 0], "new": [1, 12, 1]}, "ms"),
        ],
    )


def stopped() -> Report:
    """An error with a position and a next step."""
    error = BadInput("interlock.yaml", "unknown key 'stagse'", hint="did you mean 'stages'?", line=3, column=1)
    return failed("gate", error)


def refused() -> Report:
    """A refusal that is not a finding."""
    return Report(command="promote", inputs=1, headline="prod keeps 1.4.0", refused="no bench evidence for sha256:0f…")


def clean() -> Report:
    """Nothing found."""
    return Report(command="lint", inputs=12, rules=(LATEST, REMOTE))


def nothing() -> Report:
    """Nothing looked at."""
    return Report(command="lint")


SAMPLES: dict[str, Callable[[], Report]] = {
    make.__name__: make for make in (lint, validate, bench, stopped, refused, clean, nothing)
}


@pytest.fixture(params=sorted(SAMPLES))
def sample(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Report]:
    """Each sample by name, with the working directory at the files that it speaks of."""
    monkeypatch.chdir(GOLDEN)
    return request.param, SAMPLES[request.param]()


@pytest.fixture
def samples() -> dict[str, Report]:
    """All samples by name."""
    return {name: make() for name, make in SAMPLES.items()}
