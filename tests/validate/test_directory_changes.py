"""Changes of whole directories that servers take notice of, each beside a change of the same place that they don't."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.build import adapter_config, folder, llama, llama_tensors, lora, safetensors
from validate.tokenizer import kit

Files = dict[str, Any]
TENSORS = llama_tensors()
INDEX = {"weight_map": dict.fromkeys(TENSORS, "model-00001-of-00001.safetensors")}
SHARDED: Files = {
    "config.json": llama(),
    "model.safetensors.index.json": INDEX,
    "model-00001-of-00001.safetensors": safetensors(TENSORS),
}
CLASSES = llama(architectures=["LlamaForSequenceClassification"], num_labels=3)
HEAD = {"score.weight": ("BF16", [3, 8]), "score.bias": ("BF16", [3])}


def classifier(*heads: str, **config: Any) -> Files:
    tensors = llama_tensors(head=False) | {name: HEAD[name] for name in heads}
    return {"config.json": CLASSES | config, "model.safetensors": safetensors(tensors)}


def limited(limit: object, positions: int = 128) -> Files:
    return {
        "config.json": llama(max_position_embeddings=positions),
        "tokenizer_config.json": {"model_max_length": limit},
        "tokenizer.json": kit.byte_level(),
    }


def adapted(name: str, **config: Any) -> Files:
    settings = adapter_config(base_model_name_or_path=name, **config)
    return {"adapter_config.json": settings, "adapter_model.safetensors": safetensors(lora())}


def tekken(version: str, specials: int = 20) -> Files:
    document = kit.tekken(specials=specials)
    return {"tekken.json": document | {"config": document["config"] | {"version": version}}}


def engine(**build: Any) -> Files:
    pretrained = {"architecture": "LlamaForCausalLM", "dtype": "float16", "mapping": {"world_size": 1}}
    config = {"version": "0.17.0", "pretrained_config": pretrained, "build_config": build}
    return {"config.json": config, "rank0.engine": b"opaque"}


LOOP = "custom_generate/generate.py"
CASES = {
    "a part of the weights in one file beside the shards": (
        SHARDED,
        SHARDED | {"model.safetensors": safetensors({"model.norm.weight": ("BF16", [8])})},
        "WTS-INDEX",
        "breaks",
    ),
    "all weights in one file beside the shards": (
        SHARDED,
        SHARDED | {"model.safetensors": safetensors(TENSORS)},
        "WTS-INDEX",
        None,
    ),
    "the head is gone": (classifier(*HEAD), classifier(), "WTS-MISSING", "breaks"),
    "the bias of the head is gone": (classifier(*HEAD), classifier("score.weight"), "WTS-MISSING", "breaks"),
    "the head has a bias now": (classifier("score.weight"), classifier(*HEAD), "WTS-MISSING", None),
    "classes in a list": (classifier(*HEAD), classifier(*HEAD, id2label=["a", "b", "c"]), "CFG-OTHER", "breaks"),
    "quantisation in a list": (classifier(*HEAD), classifier(*HEAD, quantization_config=[]), "CFG-OTHER", "breaks"),
    "a limit that was endless": (limited(10**30), limited(128), "TOK-SIDE", None),
    "a limit below the context": (limited(10**30), limited(100), "TOK-SIDE", "breaks"),
    "a base of another size": (adapted("acme/base-8B"), adapted("acme/base-70B"), "LRA-ORPHAN", "breaks"),
    "a base on somebody's disk": (adapted("acme/base"), adapted("/models/base"), "LRA-ORPHAN", "unproven"),
    "a quantised base": (adapted("acme/base-8B"), adapted("other/base-8B-bnb-4bit"), "LRA-ORPHAN", "unproven"),
    "the same base": (adapted("acme/base"), adapted("acme/base", lora_alpha=8), "LRA-ORPHAN", None),
    "another chat format": (tekken("v3"), tekken("v7"), "TOK-FLAG", "restart"),
    "the same chat format": (tekken("v3"), tekken("v3"), "TOK-FLAG", None),
    "a cache of the builder": (
        engine(max_batch_size=8),
        engine(max_batch_size=8, input_timing_cache="/cache", output_timing_cache="model.cache"),
        "TRT-IO",
        None,
    ),
    "a setting of the engine": (
        engine(max_batch_size=8),
        engine(max_batch_size=8, gather_all=True),
        "TRT-IO",
        "restart",
    ),
    "a loop of its own": (SHARDED, SHARDED | {LOOP: "def generate(): ..."}, "CFG-CODE", "breaks"),
    "another loop of its own": (SHARDED | {LOOP: "a = 1"}, SHARDED | {LOOP: "a = 2"}, "CFG-CODE", "breaks"),
    "its loop as before": (SHARDED | {LOOP: "a = 1"}, SHARDED | {LOOP: "a = 1"}, "CFG-CODE", None),
}


@pytest.mark.parametrize("name", CASES)
def test_a_change_has_its_level(name: str, tmp_path: Path) -> None:
    before, after, rule, level = CASES[name]
    old, new = folder(tmp_path / "old", before), folder(tmp_path / "new", after)
    report = validate(new, old, contract=Contract())
    said = {finding.rule: finding.level for finding in report.findings}
    assert said.get(rule) == level, said
    if level is None and rule not in ("LRA-ORPHAN", "WTS-MISSING"):
        assert report.facts["verdict"] in ("equal", "hot"), said


def test_one_file_that_was_beside_the_shards_before_is_a_note(tmp_path: Path) -> None:
    files = SHARDED | {"model.safetensors": safetensors({"model.norm.weight": ("BF16", [8])})}
    report = validate(folder(tmp_path / "new", files), folder(tmp_path / "old", files), contract=Contract())
    assert {finding.level for finding in report.findings if finding.rule == "WTS-INDEX"} == {"hot"}
    alone = validate(tmp_path / "new", contract=Contract())
    assert {finding.level for finding in alone.findings if finding.rule == "WTS-INDEX"} == {"breaks"}
