"""Models that give vectors without being a graph: what moves the vectors breaks, another file of the same does not."""

from __future__ import annotations

from pathlib import Path
from string import ascii_letters
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Accepted, Contract
from interlock.report.report import Report
from validate.build import adapter_config, folder, gguf, llama, llama_tensors, lora, safetensors

POOLED = {
    "modules.json": '[{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}]',
    "1_Pooling/config.json": {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True},
}
QWEN = llama(architectures=["Qwen3Model"], model_type="qwen3", hidden_act="silu", rms_norm_eps=1e-6)
BERT = {
    "general.architecture": "bert", "bert.block_count": 1, "bert.context_length": 64, "bert.embedding_length": 4,
    "bert.attention.head_count": 2, "bert.feed_forward_length": 8,
}  # fmt: skip


LETTERS = {letter: 1 + number for number, letter in enumerate(ascii_letters)}


def weights(fill: int = 1) -> bytes:
    return safetensors(llama_tensors(head=False), fill=fill)


def pooled(config: dict[str, Any] = QWEN, fill: int = 1, **more: Any) -> dict[str, Any]:
    return {**POOLED, "config.json": config, "model.safetensors": weights(fill), **more}


def judged(path: Path, old: dict[str, Any], new: dict[str, Any], contract: Contract | None = None) -> Report:
    sides = folder(path / "new", new), folder(path / "old", old)
    return validate(*sides, contract=contract or Contract())


def space(report: Report) -> set[str | None]:
    return {each.level for each in report.findings if each.rule == "EMB-SPACE"}


@pytest.mark.parametrize(
    "changes",
    [
        {"rope_theta": 1000000.0},
        {"hidden_act": "gelu"},
        {"rms_norm_eps": 1e-5},
        {"num_attention_heads": 4},
        {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}},
    ],
    ids=str,
)
def test_what_moves_the_vectors_breaks_embedders_and_them_alone(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert space(judged(tmp_path / "a", pooled(), pooled({**QWEN, **changes}))) == {"breaks"}
    plain = {"config.json": llama(), "model.safetensors": weights()}
    assert not space(judged(tmp_path / "b", plain, {**plain, "config.json": llama(**changes)}))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {"transformers_version": "5.1"}),
        ({}, {"use_cache": False}),
        ({"rope_theta": 10000.0}, {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}),
        ({}, {"torch_dtype": None, "dtype": "bfloat16"}),
    ],
)
def test_the_same_settings_in_another_form_move_none(tmp_path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    assert not space(judged(tmp_path, pooled({**QWEN, **old}), pooled({**QWEN, **new})))


def test_what_was_accepted_for_one_rule_leaves_the_index_to_be_built_again(tmp_path: Path) -> None:
    accept = [Accepted(rule="CFG-GEOM", reason="tried", until="2999-01-01")]
    report = judged(tmp_path, pooled(), pooled({**QWEN, "hidden_act": "gelu"}), Contract(accept=accept))
    assert report.facts["verdict"] == "breaks"
    accept += [Accepted(rule="EMB-SPACE", reason="embedded again", until="2999-01-01")]
    report = judged(tmp_path, pooled(), pooled({**QWEN, "hidden_act": "gelu"}), Contract(accept=accept))
    assert [each["step"] for each in report.facts["plan"]] == ["preload", "verify", "reembed-index"]


def tokenizer(lower: bool) -> dict[str, Any]:
    return {
        "normalizer": {"type": "Lowercase"} if lower else None,
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, **LETTERS}, "unk_token": "[UNK]"},
        "added_tokens": [],
    }


@pytest.mark.parametrize("level", ["wire", "ids"])
def test_another_normalizer_moves_the_vectors_at_every_level(tmp_path: Path, level: Any) -> None:
    old, new = (pooled(**{"tokenizer.json": tokenizer(lower)}) for lower in (False, True))
    assert space(judged(tmp_path / "a", old, new, Contract(level=level))) == {"breaks"}
    assert not space(judged(tmp_path / "b", new, {**new, "README.md": "more"}, Contract(level=level)))


@pytest.mark.parametrize(
    "config",
    [
        {"architectures": ["CLIPModel"], "model_type": "clip"},
        {"architectures": ["DPRContextEncoder"], "model_type": "dpr"},
        {"architectures": ["StaticModel"], "model_type": "model2vec"},
    ],
    ids=lambda each: each["model_type"],
)
def test_classes_that_only_embed_need_no_modules_json(tmp_path: Path, config: dict[str, Any]) -> None:
    old = {"config.json": config, "model.safetensors": weights()}
    assert space(judged(tmp_path / "a", old, {**old, "model.safetensors": weights(2)})) == {"breaks"}
    other = {**old, "config.json": {"architectures": ["ResNetForImageClassification"], "model_type": "resnet"}}
    assert judged(tmp_path / "b", other, {**other, "model.safetensors": weights(2)}).facts["verdict"] == "hot"


def test_the_same_tensors_in_another_file_are_the_same_model(tmp_path: Path) -> None:
    tensors = llama_tensors(head=False)
    turned = safetensors(dict(reversed(list(tensors.items()))), fill=1)
    report = judged(tmp_path, pooled(), pooled() | {"model.safetensors": turned})
    assert report.facts["verdict"] == "hot", report.findings


@pytest.mark.parametrize("said", [{}, {"bert.pooling_type": 1}, {"bert.pooling_type": 3}])
def test_gguf_embedders(tmp_path: Path, said: dict[str, Any]) -> None:
    old = {"model.gguf": gguf(BERT | said)}
    assert space(judged(tmp_path / "a", old, {"model.gguf": gguf(BERT | said, fill=1)})) == {"breaks"}
    noted = {"model.gguf": gguf(BERT | said | {"general.description": "same"})}
    assert not space(judged(tmp_path / "b", old, noted))
    pooled = {"model.gguf": gguf(BERT | said | {"bert.pooling_type": 2})}
    assert space(judged(tmp_path / "c", old, pooled)) == {"breaks"}


def test_gguf_files_that_give_no_vectors(tmp_path: Path) -> None:
    ranks = BERT | {"bert.pooling_type": 4}
    assert not space(judged(tmp_path / "a", {"m.gguf": gguf(ranks)}, {"m.gguf": gguf(ranks, fill=1)}))
    speaks = {key.replace("bert", "qwen3"): "qwen3" if value == "bert" else value for key, value in BERT.items()}
    assert not space(judged(tmp_path / "b", {"m.gguf": gguf(speaks)}, {"m.gguf": gguf(speaks, fill=1)}))
    speaks["qwen3.pooling_type"] = 3
    assert space(judged(tmp_path / "c", {"m.gguf": gguf(speaks)}, {"m.gguf": gguf(speaks, fill=1)})) == {"breaks"}


def adapter(fill: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "adapter_config.json": adapter_config(**changes),
        "adapter_model.safetensors": safetensors(lora(), fill=fill),
    }


def test_an_adapter_on_an_embedder_moves_the_vectors(tmp_path: Path) -> None:
    with_one = pooled() | adapter()
    assert space(judged(tmp_path / "a", with_one, pooled() | adapter(2))) == {"breaks"}
    assert space(judged(tmp_path / "b", with_one, pooled() | adapter(lora_alpha=32))) == {"breaks"}
    assert space(judged(tmp_path / "c", pooled(), with_one)) == {"breaks"}
    assert space(judged(tmp_path / "d", with_one, pooled())) == {"breaks"}
    assert not space(judged(tmp_path / "e", with_one, with_one | {"README.md": "more"}))


def test_an_adapter_alone_is_one_where_its_task_or_its_base_says_so(tmp_path: Path) -> None:
    assert space(judged(tmp_path / "a", adapter(), adapter(2))) == set()
    task = "FEATURE_EXTRACTION"
    assert space(judged(tmp_path / "b", adapter(task_type=task), adapter(2, task_type=task))) == {"breaks"}
    old, new = folder(tmp_path / "old", adapter()), folder(tmp_path / "new", adapter(2))
    base = folder(tmp_path / "base", pooled())
    assert space(validate(new, old, contract=Contract(), base=base)) == {"breaks"}


@pytest.mark.parametrize(
    ("files", "flushed"),
    [
        ({"config.json": llama()}, True),
        ({"config.json": {"architectures": ["BlipForQuestionAnswering"], "model_type": "blip"}}, True),
        ({}, True),
        ({"config.json": {"architectures": ["DPRContextEncoder"], "model_type": "dpr"}}, False),
        ({"config.json": {"architectures": ["DetrForObjectDetection"], "model_type": "detr"}}, False),
        ({"config.json": {"architecture": "resnet18", "pretrained_cfg": {"num_classes": 3}}}, False),
        ({"config.json": {"_class_name": "AutoencoderKL", "_diffusers_version": "0.30"}}, False),
        ({"modules.json": '[{"path": "", "type": "sentence_transformers.models.StaticEmbedding"}]'}, False),
    ],
    ids=range(8),
)
def test_caches_are_flushed_where_one_is_kept(tmp_path: Path, files: dict[str, Any], flushed: bool) -> None:
    old, new = ({**files, "model.safetensors": weights(fill)} for fill in (1, 2))
    assert ("STA-KV" in {each.rule for each in judged(tmp_path, old, new).findings}) == flushed


def test_encoders_of_llama_cpp_keep_no_cache(tmp_path: Path) -> None:
    speaks = {key.replace("bert", "llama"): "llama" if value == "bert" else value for key, value in BERT.items()}
    for name, said, flushed in (("a", BERT, False), ("b", speaks, True)):
        report = judged(tmp_path / name, {"m.gguf": gguf(said)}, {"m.gguf": gguf(said, fill=1)})
        assert any("flush-kv" in each.plan for each in report.findings) == flushed
