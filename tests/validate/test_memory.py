"""What KV cache a model keeps: promised tokens are checked where there is one, passed over where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.report.report import Report
from validate.build import folder, gguf, llama, llama_tensors, onnx_model, safetensors

Files = dict[str, Any]
KEYS = ("float", ["batch", 2, "past", 4])


def judge(tmp_path: Path, files: Any, **contract: Any) -> tuple[Report, str]:
    """The report of a retrained pair, and the level of MEM-FIT."""
    for name, seed in (("old", 1), ("new", 2)):
        folder(tmp_path / name, files(seed))
    asked = {"gpu_memory": "80GB", "kv_tokens": 30_000, **contract}
    report = validate(tmp_path / "new", tmp_path / "old", contract=Contract(**asked))
    return report, next(f.level for f in report.findings if f.rule == "MEM-FIT")


def graph(seed: int, **more: Any) -> Files:
    image = {"image": ("float", ["batch", 3, 8, 8]), **dict.fromkeys(more.get("past", ()), KEYS)}
    return {"model.onnx": onnx_model(image, {"scores": ("float", ["batch", 10])}, weight=float(seed))}


def weights(seed: int, **config: Any) -> Files:
    return {"config.json": llama(**config), "model.safetensors": safetensors(llama_tensors(), fill=seed)}


NONE = {
    "image graph": graph,
    "image graph beside a configuration": lambda seed: {**graph(seed), "config.json": llama()},
    "masked language model": lambda seed: weights(seed, architectures=["BertForMaskedLM"], model_type="bert"),
    "image classifier": lambda seed: weights(seed, architectures=["ViTForImageClassification"], model_type="vit"),
}


@pytest.mark.parametrize("files", [pytest.param(each, id=name) for name, each in NONE.items()])
def test_a_model_without_kv_cache_is_not_asked_for_one(tmp_path: Path, files: Any) -> None:
    report, level = judge(tmp_path, files)
    assert level == "hot"
    assert report.facts["memory"]["kv_per_token"] == 0
    assert judge(tmp_path, files, gpu_memory="9")[1] == "restart"  # the weights still have to fit


def test_a_graph_that_keeps_keys_and_values_is_unproven(tmp_path: Path) -> None:
    names = ("past_key_values.0.key", "past_key_values.0.value")
    assert judge(tmp_path, lambda seed: graph(seed, past=names))[1] == "unproven"
    assert judge(tmp_path / "0", lambda seed: graph(seed, past=names), kv_tokens=0)[1] == "hot"


def test_weights_that_nothing_describes_are_unproven(tmp_path: Path) -> None:
    only = judge(tmp_path, lambda seed: {"model.safetensors": safetensors(llama_tensors(), fill=seed)})
    assert only[1] == "unproven"


@pytest.mark.parametrize("name", ["GPT2LMHeadModel", "LlamaForCausalLM", "ChatGLMModel"])
def test_a_model_that_answers_with_text_keeps_a_cache(tmp_path: Path, name: str) -> None:
    report, level = judge(tmp_path, lambda seed: weights(seed, architectures=[name]))
    assert (level, report.facts["memory"]["kv_per_token"]) == ("hot", 2 * 2 * 4 * 2)
    assert "flush-kv" in {step["step"] for step in report.facts["plan"]}
    assert judge(tmp_path / "2", lambda seed: weights(seed, architectures=[name]), kv_tokens=10**10)[1] == "restart"


@pytest.mark.parametrize(
    ("more", "size"),
    [
        ({}, 2 * 2 * (4 + 4) * 2),
        ({"attention.key_length": 8, "attention.value_length": 6}, 2 * 2 * (8 + 6) * 2),
        ({"attention.head_count_kv": 4}, 2 * 4 * (4 + 4) * 2),
        ({"attention.kv_lora_rank": 4}, None),
    ],
)
def test_a_gguf_file_says_what_a_token_takes(tmp_path: Path, more: dict[str, int], size: int | None) -> None:
    sizes = {"block_count": 2, "embedding_length": 16, "attention.head_count": 4, "attention.head_count_kv": 2, **more}
    data = {"general.architecture": "llama"} | {f"llama.{key}": value for key, value in sizes.items()}
    report, level = judge(tmp_path, lambda seed: {"model.gguf": gguf(data, fill=seed)})
    assert report.facts["memory"]["kv_per_token"] == size
    assert level == ("unproven" if size is None else "hot")
    short = judge(tmp_path, lambda seed: {"model.gguf": gguf(data, fill=seed)}, gpu_memory="1MB")[1]
    assert short == ("unproven" if size is None else "restart")
