"""What KV cache a model keeps: promised tokens are checked where there is one, passed over where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.report.report import Report
from validate.build import folder, gguf, llama, llama_tensors, lora, onnx_model, safetensors

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


def test_heads_are_not_split_over_gpus(tmp_path: Path) -> None:
    """Two heads, 4 wide, 2 bytes, keys and values: 16 bytes of a token for each head, on each GPU that holds one."""
    asked: dict[str, Any] = {"gpu_memory": "1MB", "gpu_utilisation": 1.0, "kv_tokens": 55_000}
    assert judge(tmp_path / "2", weights, gpus=2, **asked)[1] == "hot"
    assert judge(tmp_path / "8", weights, gpus=8, **{**asked, "kv_tokens": 62_400})[1] == "hot"
    report, level = judge(tmp_path / "4", weights, gpus=4, **{**asked, "kv_tokens": 80_000})
    assert level == "restart"
    assert report.facts["memory"]["strategies"][0]["tokens"] < 62_500


def test_a_latent_vector_is_whole_on_every_gpu(tmp_path: Path) -> None:
    def latent(seed: int) -> Files:
        return weights(seed, kv_lora_rank=24, qk_rope_head_dim=8, num_attention_heads=2)

    asked: dict[str, Any] = {"gpu_memory": "1MB", "gpu_utilisation": 1.0, "gpus": 8}
    assert judge(tmp_path / "a", latent, kv_tokens=15_000, **asked)[1] == "hot"
    assert judge(tmp_path / "b", latent, kv_tokens=20_000, **asked)[1] == "restart"


def test_a_draft_model_takes_its_room(tmp_path: Path) -> None:
    for name, seed in (("old", 1), ("new", 2)):
        folder(tmp_path / name, weights(seed))
    drafted = {**weights(1), "model.safetensors": safetensors({**llama_tensors(), "more": ("F32", [250_000])})}
    draft = folder(tmp_path / "draft", drafted)
    contract = Contract(gpu_memory="1MB", gpu_utilisation=1.0)

    def level(**more: Any) -> set[str | None]:
        report = validate(tmp_path / "new", tmp_path / "old", contract=contract, **more)
        return {f.level for f in report.findings if f.rule == "MEM-FIT"}

    assert level() == {"hot"}
    assert level(draft=draft) == {"restart"}


def test_engines_have_a_size_and_a_cache(tmp_path: Path) -> None:
    def engine(seed: int, **more: Any) -> Files:
        model = {"architecture": "LlamaForCausalLM", "dtype": "bfloat16", "num_hidden_layers": 1, "hidden_size": 8}
        model |= {"num_attention_heads": 2, "mapping": {"world_size": 1, "tp_size": 1, "pp_size": 1}, **more}
        config = {"version": "0.15.0", "pretrained_config": model, "build_config": {"max_batch_size": 8}}
        return {"config.json": config, "rank0.engine": b"ptrt" + bytes([seed, 200] * 2000)}

    def quantised(seed: int) -> Files:
        return engine(seed, quantization={"kv_cache_quant_algo": "FP8"})

    assert judge(tmp_path / "a", engine, gpu_memory="7KB", kv_tokens=0)[1] == "restart"
    assert judge(tmp_path / "b", engine, gpu_memory="9KB", kv_tokens=0)[1] == "hot"
    asked: dict[str, Any] = {"gpu_memory": "1MB", "gpu_utilisation": 1.0}
    assert judge(tmp_path / "c", engine, kv_tokens=30_000, **asked)[1] == "hot"
    assert judge(tmp_path / "d", engine, kv_tokens=40_000, **asked)[1] == "restart"
    assert judge(tmp_path / "e", quantised, kv_tokens=40_000, **asked)[1] == "hot"


def test_an_adapter_for_itself_is_not_asked_for_a_cache(tmp_path: Path) -> None:
    config = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "v_proj"]}
    for name, seed in (("old", 1), ("new", 2)):
        adapter = {"adapter_config.json": config, "adapter_model.safetensors": safetensors(lora(), fill=seed)}
        folder(tmp_path / name, adapter)
    contract = Contract(gpu_memory="1GiB", kv_tokens=1000)
    report = validate(tmp_path / "new", tmp_path / "old", contract=contract)
    assert "MEM-FIT" not in {f.rule for f in report.findings}


def test_a_number_type_counts_where_the_text_model_says_it(tmp_path: Path) -> None:
    sizes: list[int] = []
    for name, kind in (("half", "bfloat16"), ("whole", "float32")):
        report, _ = judge(
            tmp_path / name, lambda seed, kind=kind: weights(seed, text_config={**llama(), "torch_dtype": kind})
        )
        sizes.append(report.facts["memory"]["kv_per_token"])
    assert sizes[1] == 2 * sizes[0] > 0


def test_heads_that_are_texts_are_no_heads(tmp_path: Path) -> None:
    def files(seed: int) -> Files:
        more = {"llama.block_count": 2, "llama.attention.head_count_kv": ["a", "b"], "llama.embedding_length": 8}
        return {"model.gguf": gguf({"general.architecture": "llama", "llama.attention.head_count": 2, **more}, {})}

    assert judge(tmp_path, files)[0].facts["memory"]["kv_per_token"] is None
