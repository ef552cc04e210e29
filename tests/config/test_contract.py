"""The contract as people write it: days, exceptions without an end, and values that nothing can have."""

from __future__ import annotations

from pathlib import Path

import pytest
from interlock.checks.validate.run import validate
from interlock.config.load import load
from interlock.report import exits
from interlock.report.errors import BadInput
from validate.build import adapter_config, folder, lora, safetensors


def written(tmp_path: Path, text: str, name: str = "interlock.yaml") -> str:
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


@pytest.mark.parametrize(
    ("until", "day"),
    [
        ("until: 2999-01-31", "2999-01-31"),
        ("until: '2999-01-31'", "2999-01-31"),
        ("until: !!str 2999-01-31", "2999-01-31"),
        ("path: ''", ""),
    ],
)
def test_an_exception_is_read_as_the_pages_write_it(tmp_path: Path, until: str, day: str) -> None:
    accept = f"contract:\n  accept:\n    - rule: LRA-TARGET\n      reason: why\n      {until}\n"
    config = written(tmp_path, accept)
    assert load(config).settings.contract.accept[0].until == day
    old, new = (
        {
            "adapter_config.json": adapter_config(target_modules=[module]),
            "adapter_model.safetensors": safetensors(lora(targets=[module])),
        }
        for module in ("q_proj", "k_proj")
    )
    report = validate(folder(tmp_path / "new", new), folder(tmp_path / "old", old), config=config)
    assert report.facts["verdict"] == "hot"
    assert [f.suppressed for f in report.findings if f.rule == "LRA-TARGET"] == [f"why (until {day})" if day else "why"]
    assert (report.facts["ended"], report.exit_code) == ([], exits.PASS)


def test_a_day_of_toml_is_a_day(tmp_path: Path) -> None:
    text = '[[tool.interlock.contract.accept]]\nrule = "LRA-TARGET"\nreason = "why"\nuntil = 2999-01-31\n'
    assert load(written(tmp_path, text, "pyproject.toml")).settings.contract.accept[0].until == "2999-01-31"


@pytest.mark.parametrize("until", ["2999-02-30", "2999-01-31 10:00:00", "1", "soon"])
def test_what_is_no_day_is_refused(tmp_path: Path, until: str) -> None:
    config = written(tmp_path, f"contract: {{accept: [{{rule: LRA-TARGET, reason: why, until: {until}}}]}}\n")
    new = folder(
        tmp_path / "new",
        {"adapter_config.json": adapter_config(), "adapter_model.safetensors": safetensors(lora())},
    )
    with pytest.raises(BadInput):
        validate(new, new, config=config)
