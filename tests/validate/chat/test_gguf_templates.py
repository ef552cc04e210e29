"""The chat template inside a GGUF file is judged by what it renders, as any other."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest
from interlock.checks.validate.run import validate
from validate.tokenizer import kit
from validate.tokenizer.test_formats import bpe_tokens
from validate.tokenizer.test_incidents import BASE

TEMPLATE = "{% for m in messages %}[{{ m.role }}]\n{{ m.content }}\n{% endfor %}"


def written(path: Path, template: str | None = TEMPLATE) -> Path:
    tokens, types = bpe_tokens()
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges([" ".join(pair) if isinstance(pair, list) else pair for pair in BASE["model"]["merges"]])
    if template is not None:
        writer.add_chat_template(template)
    writer.add_tensor("token_embd.weight", np.zeros((len(tokens), 4), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize(
    ("new", "level"),
    [
        (TEMPLATE.replace("{% for", "{%   for"), None),
        (TEMPLATE.replace("m.role", "m['role']"), None),
        (TEMPLATE.replace("[{{", "<{{"), "breaks"),
        (TEMPLATE.replace("m.content", "m.content | trim"), "restart"),
        (TEMPLATE.replace("m.content", "m.content | replace('cat', 'dog')"), "unproven"),
    ],
)
def test_a_template_is_compared_by_what_it_renders(tmp_path: Path, new: str, level: str | None) -> None:
    old = written(tmp_path / "old.gguf")
    report = validate(str(written(tmp_path / "new.gguf", new)), against=str(old))
    levels = kit.levels(report)
    assert "GGF-META" not in levels
    assert levels.get("CHT-DIFF") in (level, "restart" if level == "breaks" else level), report.findings
    assert all("\n" not in f.message for f in report.findings)


def test_a_template_that_came_is_still_told(tmp_path: Path) -> None:
    old = written(tmp_path / "old.gguf", None)
    report = validate(str(written(tmp_path / "new.gguf")), against=str(old))
    assert kit.levels(report)["GGF-META"] == "restart"
