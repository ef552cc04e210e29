"""Folders of sentence-transformers that another release saved: the same in another form, and neighbours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.build import folder, llama, llama_tensors, safetensors

MODULES = '[{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}]'
MEAN = {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True}
LIMIT = "sentence_bert_config.json"
CONF = "tokenizer_config.json"
FORM = {
    "transformer_task": "feature-extraction",
    "module_output_name": "token_embeddings",
    "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
}
CUT = {"direction": "Right", "max_length": 64, "strategy": "LongestFirst", "stride": 0}
PAD = {
    "strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0,
    "pad_token": "[UNK]",
}  # fmt: skip


def tokenizer(cut: Any = None, pad: Any = None) -> dict[str, Any]:
    model = {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]"}
    return {"truncation": cut, "padding": pad, "model": model, "added_tokens": []}


def pooled(**changes: Any) -> dict[str, Any]:
    files = {
        "modules.json": MODULES,
        "1_Pooling/config.json": MEAN,
        "config.json": llama(architectures=["BertModel"], model_type="bert", max_position_embeddings=64),
        "model.safetensors": safetensors(llama_tensors(head=False)),
        LIMIT: {"max_seq_length": 64, "do_lower_case": False},
        CONF: {"model_max_length": 2048},
        "tokenizer.json": tokenizer(),
    }
    return {name: content for name, content in {**files, **changes}.items() if content is not None}


def moved(name: str, pooling: dict[str, Any]) -> dict[str, Any]:
    files = {"modules.json": MODULES.replace("1_Pooling", name), "1_Pooling/config.json": None}
    return {**files, f"{name}/config.json": pooling}


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({LIMIT: {"max_seq_length": None, "do_lower_case": False}}, "hot"),
        ({LIMIT: FORM}, "hot"),
        ({LIMIT: FORM, CONF: {"model_max_length": 64}}, "hot"),
        ({LIMIT: FORM, CONF: {"model_max_length": 32}}, "breaks"),
        ({LIMIT: {"max_seq_length": 32}}, "breaks"),
        ({LIMIT: {**FORM, "module_output_name": "sentence_embedding"}}, "unproven"),
        (moved("1_Pool", MEAN), "hot"),
        (moved("1_Pool", {"word_embedding_dimension": 8, "pooling_mode_cls_token": True}), "breaks"),
        (moved("pool", MEAN), "breaks"),  # not the usual kind of name, so not read
        ({"modules.json": MODULES.replace("a.Pooling", "a.Dense")}, "breaks"),
        ({"tokenizer.json": tokenizer(CUT, PAD)}, "hot"),
        ({"tokenizer.json": tokenizer({**CUT, "max_length": 32})}, "breaks"),
        ({"tokenizer.json": tokenizer({**CUT, "direction": "Left"})}, "breaks"),
        (
            {"tokenizer.json": tokenizer(CUT), "modules.json": None, "1_Pooling/config.json": None, LIMIT: None},
            "breaks",
        ),
    ],
)
def test_saved_again(tmp_path: Path, changes: dict[str, Any], verdict: str) -> None:
    new, old = folder(tmp_path / "new", pooled(**changes)), folder(tmp_path / "old", pooled())
    report = validate(new, old, contract=Contract())
    assert report.facts["verdict"] == verdict, report.findings
