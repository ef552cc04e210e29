"""TensorRT-LLM engines and checkpoints: what their files can be, and what their configuration promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.report.report import Report
from validate.build import judge, llama, llama_tensors, safetensors

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"


def model(ranks: int = 1, **more: Any) -> dict[str, Any]:
    mapping = {"world_size": ranks, "tp_size": ranks, "pp_size": 1}
    return {
        "architecture": "LlamaForCausalLM",
        "dtype": "bfloat16",
        "num_hidden_layers": 2,
        "max_position_embeddings": 2048,
        "mapping": mapping,
        **more,
    }


def engine(ranks: int = 1, *, seed: int = 1, size: int = 4000, version: str = "0.15.0", **build: Any) -> dict[str, Any]:
    config = {"version": version, "pretrained_config": model(ranks), "build_config": {"max_batch_size": 8, **build}}
    data = bytes((i * 37 * seed) % 256 for i in range(size))
    return {"config.json": config, **{f"rank{i}.engine": b"ptrt" + data for i in range(ranks)}}


def checkpoint(ranks: int = 1, layers: int = 2, fill: int = 0, **more: Any) -> dict[str, Any]:
    tensors = {f"transformer.layers.{i}.mlp.fc.weight": ("BF16", (8, 4)) for i in range(layers)}
    data = safetensors(tensors, fill=fill)
    return {"config.json": model(ranks, **more), **{f"rank{i}.safetensors": data for i in range(ranks)}}


def spoke(report: Report, level: str) -> set[str]:
    return {finding.rule for finding in report.findings if finding.level == level}


@pytest.mark.parametrize("content", [b"", b"<html>404</html>", POINTER, b'{"error": "no such object"}'])
def test_what_is_no_engine_for_certain_is_not_read(tmp_path: Path, content: bytes) -> None:
    new = {**engine(), "rank0.engine": content}
    for old in (engine(), None):
        report = judge(tmp_path, new, old)
        assert report.facts["verdict"] is None
        assert report.exit_code == 2
        assert [finding.rule for finding in report.findings if finding.severity == "error"] == ["FIL-READ"]


def test_new_weights_in_an_engine_are_hot_and_flush_caches(tmp_path: Path) -> None:
    report = judge(tmp_path, engine(seed=3), engine())
    assert report.facts["verdict"] == "hot"
    assert [step["step"] for step in report.facts["plan"]] == ["preload", "verify", "flush-kv"]
    lora = {"lora_config": {"lora_target_modules": ["attn_q"]}}
    report = judge(tmp_path, engine(seed=3, **lora), engine(**lora))
    assert "revalidate-adapters" in [step["step"] for step in report.facts["plan"]]
    assert judge(tmp_path, engine(), engine()).facts["verdict"] == "equal"


def test_an_engine_that_is_much_too_small_is_not_believed(tmp_path: Path) -> None:
    assert spoke(judge(tmp_path, engine(size=1000), engine()), "unproven") == {"TRT-OPAQUE"}
    # Another run of the builder picks other kernels; two ranks differ a little.
    assert judge(tmp_path, engine(seed=3, size=3900), engine()).facts["verdict"] == "hot"
    two = engine(2)
    cut = {**two, "rank1.engine": two["rank1.engine"][:500]}
    assert spoke(judge(tmp_path, cut), "unproven") == {"TRT-OPAQUE"}
    assert judge(tmp_path, {**two, "rank1.engine": two["rank1.engine"][:3900]}).facts["consistent"] is True


def test_every_rank_has_a_file_of_its_name(tmp_path: Path) -> None:
    def renamed(seed: int = 1) -> dict[str, Any]:
        files = engine(seed=seed)
        return {"config.json": files["config.json"], "model.engine": files["rank0.engine"]}

    assert spoke(judge(tmp_path, renamed()), "breaks") == {"TRT-TP"}
    assert spoke(judge(tmp_path / "a", renamed(), engine()), "breaks") == {"TRT-TP"}
    # A server that finds it under another name goes on to.
    assert judge(tmp_path / "b", renamed(seed=3), renamed()).facts["verdict"] == "hot"
    assert spoke(judge(tmp_path / "c", {"config.json": engine()["config.json"]}), "breaks") == {"TRT-TP"}


def test_world_size_is_the_product_of_the_parallel_sizes(tmp_path: Path) -> None:
    mapping = {"world_size": 4, "tp_size": 2, "pp_size": 1}
    new = {**engine(4), "config.json": {**engine()["config.json"], "pretrained_config": model(mapping=mapping)}}
    assert spoke(judge(tmp_path, new), "breaks") == {"TRT-TP"}
    good = {**new, "config.json": {**new["config.json"], "pretrained_config": model(mapping={**mapping, "pp_size": 2})}}
    assert judge(tmp_path, good).facts["consistent"] is True


def test_fewer_positions_of_a_checkpoint_break_clients(tmp_path: Path) -> None:
    short, long = checkpoint(max_position_embeddings=1024), checkpoint()
    assert spoke(judge(tmp_path / "a", short, long), "breaks") == {"TRT-IO"}
    assert judge(tmp_path / "b", long, short).facts["verdict"] == "restart"


@pytest.mark.parametrize("key", ["architecture", "dtype", "logits_dtype", "quantization", "rotary_base"])
def test_the_configuration_of_a_checkpoint_is_compared(tmp_path: Path, key: str) -> None:
    new = checkpoint(**{key: "FalconForCausalLM" if key == "architecture" else 7})
    assert spoke(judge(tmp_path, new, checkpoint()), "restart") == {"TRT-IO"}


def test_a_checkpoint_holds_what_its_configuration_says(tmp_path: Path) -> None:
    lie = {**checkpoint(), "config.json": model(2)}
    assert spoke(judge(tmp_path, lie), "breaks") == {"TRT-TP"}
    assert spoke(judge(tmp_path / "a", checkpoint(num_hidden_layers=3)), "breaks") == {"TRT-IO"}
    assert judge(tmp_path / "b", checkpoint(2)).facts["consistent"] is True
    report = judge(tmp_path / "c", checkpoint(fill=1), checkpoint())
    assert report.facts["verdict"] == "hot"
    assert "flush-kv" in [step["step"] for step in report.facts["plan"]]


@pytest.mark.parametrize("key", ["pretrained_config", "build_config"])
def test_a_hugging_face_configuration_may_hold_the_keys_of_another_stack(tmp_path: Path, key: str) -> None:
    def files(**more: Any) -> dict[str, Any]:
        return {"config.json": llama(**{key: {}}, **more), "model.safetensors": safetensors(llama_tensors())}

    assert spoke(judge(tmp_path, files(max_position_embeddings=64), files(max_position_embeddings=128)), "breaks") == {
        "CFG-CTX"
    }
    assert judge(tmp_path / "a", files(), files()).facts["verdict"] == "equal"


@pytest.mark.parametrize(
    ("declared", "level"),
    [("0.15", "hot"), ("0.15.0", "hot"), ("v0.15", "hot"), ("0.1", "restart"), ("0.16", "restart")],
)
def test_a_declared_version_counts_as_far_as_it_goes(tmp_path: Path, declared: str, level: str) -> None:
    report = judge(tmp_path, engine(seed=3), engine(), runtimes={"tensorrt_llm": declared})
    assert report.facts["verdict"] == level


def test_numbers_beyond_any_machine_are_looked_at_and_not_counted_to(tmp_path: Path) -> None:
    report = judge(tmp_path / "layers", {**checkpoint(), "config.json": model(num_hidden_layers=10**12)})
    assert any("num_hidden_layers" in finding.message for finding in report.findings)
    name = f"transformer.layers.{'9' * 5000}.x"
    data = safetensors({name: ("BF16", (1,)), "transformer.layers.0.mlp.fc.weight": ("BF16", (8, 4))})
    judge(tmp_path / "digits", {**checkpoint(), "rank0.safetensors": data})
    huge = {"world_size": 2, "tp_size": 10**2500, "pp_size": 10**2500}
    judge(tmp_path / "mapping", {**checkpoint(), "config.json": model(mapping=huge)}, checkpoint())
