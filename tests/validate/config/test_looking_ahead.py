"""is_causal: a decoder that begins to look ahead gives other answers; what every model is anyway is no change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.build import folder, llama

BERT = {"architectures": ["BertModel"], "model_type": "bert"}
QWEN = {"architectures": ["Qwen3Model"], "model_type": "qwen3"}
REMOTE = {**QWEN, "auto_map": {"AutoModel": "modeling.Own"}}


@pytest.mark.parametrize(
    ("kind", "old", "new", "verdict"),
    [
        ({}, {}, {"is_causal": False}, "unproven"),
        ({}, {"is_causal": True}, {"is_causal": False}, "unproven"),
        (QWEN, {}, {"is_causal": False}, "unproven"),
        (QWEN, {"is_causal": False}, {}, "unproven"),
        (QWEN, {}, {"is_causal": True}, "hot"),
        ({}, {"is_causal": True}, {}, "hot"),
        (BERT, {}, {"is_causal": False}, "hot"),
        (REMOTE, {}, {"is_causal": True}, "unproven"),
        (QWEN, {}, {"use_bidirectional_attention": True}, "unproven"),
        (QWEN, {}, {"use_bidirectional_attention": False}, "hot"),
    ],
)
def test_looking_ahead(tmp_path: Path, kind: Any, old: Any, new: Any, verdict: str) -> None:
    sides = [
        folder(tmp_path / name, {"config.json": llama(**kind, **said)}) for name, said in (("new", new), ("old", old))
    ]
    found = [each.level for each in validate(*sides, contract=Contract()).findings if each.rule == "CFG-OTHER"]
    assert found == ([] if verdict == "hot" else [verdict])
