"""Weights of eight bits and their scales: what the configuration promises is in the headers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from validate.build import judge, llama, llama_tensors, safetensors

WEIGHTS = ("q_proj", "v_proj", "up_proj")
FP8: dict[str, Any] = {"quant_method": "fp8", "activation_scheme": "dynamic"}
GROUP = {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float", "strategy": "tensor"}}
CT: dict[str, Any] = {
    "quant_method": "compressed-tensors",
    "format": "float-quantized",
    "quantization_status": "compressed",
    "config_groups": {"group_0": GROUP},
}


def model(settings: dict[str, Any], fill: int = 1, **scales: list[int]) -> dict[str, Any]:
    """A tiny Llama with projections of eight bits, and such tensors of F32 beside each."""
    tensors: dict[str, Any] = {}
    for name, (dtype, shape) in llama_tensors().items():
        quantised = name.endswith(".weight") and name.split(".")[-2] in WEIGHTS
        tensors[name] = ("F8_E4M3" if quantised else dtype, shape)
        for word, size in scales.items() if quantised else ():
            tensors[f"{name.removesuffix('weight')}{word}"] = ("F32", size)
    return {"config.json": llama(quantization_config=settings), "model.safetensors": safetensors(tensors, fill=fill)}


GOOD = {
    "one scale": model(FP8, weight_scale=[]),
    "inverse": model(FP8, weight_scale_inv=[1]),
    "static": model({**FP8, "activation_scheme": "static"}, weight_scale=[], input_scale=[]),
    "compressed-tensors": model(CT, weight_scale=[]),
    "Mistral's names": model({**FP8, "activation_scheme": "static"}, qscale_weight=[], qscale_act=[]),
}
BAD = {
    "no scale": model(FP8),
    "input scales alone": model(FP8, input_scale=[]),
    "static without input scales": model({**FP8, "activation_scheme": "static"}, weight_scale=[]),
    "other blocks": model({**FP8, "weight_block_size": [4, 4]}, weight_scale_inv=[1, 1]),
    "another format": model({**CT, "format": "pack-quantized"}, weight_scale=[]),
    "integers": model({**CT, "format": "int-quantized"}, weight_scale=[]),
}


@pytest.mark.parametrize("name", GOOD)
def test_scales_that_are_there(tmp_path: Path, name: str) -> None:
    assert judge(tmp_path / "a", GOOD[name]).facts["consistent"] is True
    assert judge(tmp_path / "b", GOOD[name], GOOD[name]).facts["verdict"] == "equal"


def test_a_retrain_is_hot(tmp_path: Path) -> None:
    new = model(FP8, fill=2, weight_scale=[])
    assert judge(tmp_path, new, GOOD["one scale"]).facts["verdict"] == "hot"


@pytest.mark.parametrize("name", BAD)
def test_scales_that_are_not_break(tmp_path: Path, name: str) -> None:
    for old in (None, GOOD["one scale"]):
        report = judge(tmp_path, BAD[name], old)
        assert "WTS-QUANT" in {finding.rule for finding in report.findings if finding.level == "breaks"}
    # What the live version has just the same serves.
    assert judge(tmp_path, BAD[name], BAD[name]).facts["verdict"] == "equal"


def test_blocks_are_cut_at_the_edges(tmp_path: Path) -> None:
    # [8, 8] and [16, 8] in blocks of 16: one scale each.
    blocks = model({**FP8, "weight_block_size": [16, 16]}, weight_scale_inv=[1, 1])
    assert judge(tmp_path, blocks).facts["consistent"] is True
