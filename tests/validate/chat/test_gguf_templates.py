"""The chat template inside a GGUF file is judged by what it renders, as any other."""

from __future__ import annotations

from pathlib import Path

import pytest
from interlock.checks.validate.run import validate
from validate.tokenizer import kit
from validate.tokenizer.test_formats import bpe_tokens, write_gguf
from validate.tokenizer.test_incidents import BASE

TEMPLATE = "{% for m in messages %}[{{ m.role }}]\n{{ m.content }}\n{% endfor %}"


def written(path: Path, template: str | None = TEMPLATE) -> Path:
    tokens, types = bpe_tokens()
    more = {} if template is None else {"template": template}
    return write_gguf(path, "gpt2", tokens, types, merges=BASE["model"]["merges"], pre="llama-bpe", **more)


@pytest.mark.parametrize(
    ("new", "level"),
    [
        (TEMPLATE.replace("{% for", "{%   for"), None),
        (TEMPLATE.replace("m.role", "m['role']"), None),
        (TEMPLATE.replace("[{{", "<{{"), "restart"),
        (TEMPLATE.replace("m.content", "m.content | trim"), "restart"),
        (TEMPLATE.replace("m.content", "m.content | replace('cat', 'dog')"), "unproven"),
    ],
)
def test_a_template_is_compared_by_what_it_renders(tmp_path: Path, new: str, level: str | None) -> None:
    old = written(tmp_path / "old.gguf")
    report = validate(str(written(tmp_path / "new.gguf", new)), against=str(old))
    levels = kit.levels(report)
    assert "GGF-META" not in levels
    assert levels.get("CHT-DIFF") == level, report.findings
    assert all("\n" not in f.message for f in report.findings)


def test_a_template_that_came_is_still_told(tmp_path: Path) -> None:
    old = written(tmp_path / "old.gguf", None)
    report = validate(str(written(tmp_path / "new.gguf")), against=str(old))
    assert kit.levels(report)["GGF-META"] == "restart"
