"""What post-processors put around texts, and the type ids of those texts, as the library gives them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from interlock.checks.validate.tokenizer.proofs.template import frames

tokenizers = pytest.importorskip("tokenizers")

TEMPLATE = {"type": "TemplateProcessing", "single": [], "pair": [], "special_tokens": {}}
A, B = ({"Sequence": {"id": name, "type_id": number}} for name, number in (("A", 0), ("B", 1)))
BYTES = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
PROCESSORS: dict[str, Any] = {
    "none": None,
    "bytes": BYTES,
    "a sequence": {"type": "Sequence", "processors": [BYTES]},
    "a plain template": TEMPLATE | {"single": [A], "pair": [A, B]},
    "a template of one type": TEMPLATE | {"single": [A], "pair": [A, {"Sequence": {"id": "B", "type_id": 0}}]},
    "bert": {"type": "BertProcessing", "sep": ["s", 3], "cls": ["c", 2]},
    "roberta": {"type": "RobertaProcessing", "sep": ["s", 3], "cls": ["c", 2], "trim_offsets": True}
    | {"add_prefix_space": True},
}


@pytest.mark.parametrize("name", PROCESSORS)
def test_frames_are_those_of_the_library(name: str) -> None:
    model = {"type": "WordLevel", "vocab": {"x": 0, "y": 1, "c": 2, "s": 3}, "unk_token": "x"}
    document = {"version": "1.0", "model": model, "post_processor": PROCESSORS[name]}
    real = tokenizers.Tokenizer.from_str(json.dumps(document))
    said = frames(PROCESSORS[name])
    assert said is not None
    for frame, texts in zip(said, (("x",), ("x", "y")), strict=True):
        found = real.encode(*texts)
        expected = [({"A": 0, "B": 1}.get(step, step) if isinstance(step, str) else step, kind) for step, kind in frame]
        assert list(zip(found.ids, found.type_ids, strict=True)) == expected
