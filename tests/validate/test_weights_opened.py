"""Weights under names that loaders look for, and two sets of weights of one model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.report.report import Report
from validate.build import judge, llama, llama_tensors, safetensors

TENSORS = llama_tensors()
FIRST = dict(list(TENSORS.items())[:3])
SECOND = dict(list(TENSORS.items())[3:])
ONE, TWO = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
INDEX = {
    "metadata": {},
    "weight_map": {**dict.fromkeys(FIRST, ONE), **dict.fromkeys(SECOND, TWO)},
}


def whole(name: str = "model.safetensors") -> dict[str, Any]:
    return {"config.json": llama(), name: safetensors(TENSORS)}


def sharded(index: str = "model.safetensors.index.json") -> dict[str, Any]:
    found = {"config.json": llama(), ONE: safetensors(FIRST), TWO: safetensors(SECOND)}
    return {**found, index: INDEX} if index else found


def levels(report: Report) -> set[str | None]:
    return {finding.level for finding in report.findings if finding.rule == "WTS-INDEX"}


@pytest.mark.parametrize("new", [sharded(""), sharded("foo.safetensors.index.json"), whole("foo.safetensors")])
def test_what_some_loaders_do_not_open_is_unproven(tmp_path: Path, new: dict[str, Any]) -> None:
    old = whole() if len(new) == 2 else sharded()
    assert levels(judge(tmp_path, new, old)) == {"unproven"}
    assert levels(judge(tmp_path, new)) == {"unproven"}


@pytest.mark.parametrize("server", [{"server": "vllm serve /models/m"}, {"runtimes": {"sglang": "0.4"}}])
def test_servers_that_take_every_file_need_no_name(tmp_path: Path, server: dict[str, Any]) -> None:
    assert levels(judge(tmp_path, sharded(""), sharded(), **server)) == set()


def test_names_under_which_the_live_version_serves_are_found(tmp_path: Path) -> None:
    new = {**whole("foo.safetensors"), "foo.safetensors": safetensors(TENSORS, fill=0)}
    assert judge(tmp_path, new, whole("foo.safetensors")).facts["verdict"] == "hot"


@pytest.mark.parametrize(
    "files",
    [
        {"model.safetensors": b""},
        {"model.fp16.safetensors": b""},
        {"consolidated.safetensors": b"", "params.json": {"dim": 8}},
        {
            "gptq_model-4bit-128g.safetensors": b"",
            "config.json": llama(quantization_config={"quant_method": "gptq", "bits": 4}),
        },
        {"open_clip_model.safetensors": b"", "config.json": {"model_type": "clip"}},
    ],
)
def test_names_of_other_loaders_are_left_alone(tmp_path: Path, files: dict[str, Any]) -> None:
    data = safetensors(TENSORS)
    made = {name: data if content == b"" else content for name, content in files.items()}
    assert levels(judge(tmp_path, {"config.json": llama(), **made})) == set()


def test_two_sets_of_different_weights_are_unproven(tmp_path: Path) -> None:
    copy = {**sharded(), "model.safetensors": safetensors(TENSORS)}
    stale = {**copy, "model.safetensors": safetensors(TENSORS, fill=0)}
    assert levels(judge(tmp_path / "a", stale)) == {"unproven"}
    assert levels(judge(tmp_path / "b", stale, sharded())) == {"unproven"}
    assert levels(judge(tmp_path / "c", sharded(), stale)) == {"unproven"}
    # A copy of the same weights changes nothing, and goes without a word.
    assert judge(tmp_path / "d", copy).facts["consistent"] is True
    assert judge(tmp_path / "e", copy, sharded()).facts["verdict"] == "hot"
    assert judge(tmp_path / "f", sharded(), copy).facts["verdict"] == "hot"
    assert levels(judge(tmp_path / "g", stale, stale)) == set()
