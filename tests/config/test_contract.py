"""The contract as people write it: days, exceptions without an end, and values that nothing can have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from interlock.checks.validate.run import validate
from interlock.config.load import load
from interlock.config.schema import schema
from interlock.report import exits
from interlock.report.errors import BadInput
from jsonschema import Draft202012Validator
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


@pytest.mark.parametrize(
    ("contract", "line", "says"),
    [
        ("gpus: 0", 2, "contract.gpus is 0, below 1"),
        ("gpu_utilisation: 1.5", 2, "contract.gpu_utilisation is 1.5, above 1"),
        ("gpu_utilisation: 0", 2, "contract.gpu_utilisation is 0.0, not above 0"),
        ("gpu_utilisation: .nan", 2, "contract.gpu_utilisation is nan"),
        ("kv_tokens: -5", 2, "contract.kv_tokens is -5, below 0"),
        ("max_lora_rank: -1", 2, "contract.max_lora_rank is -1, below 0"),
        ("run_seconds: 0", 2, "contract.run_seconds is 0, below 1"),
        ("cosine: 1.5", 2, "contract.cosine is 1.5, above 1"),
        ("runtimes: {onnxruntime: abc}", 2, "contract.runtimes.onnxruntime is 'abc', not a version such as '1.18'"),
        ("runtimes:\n    vllm: ''", 3, "contract.runtimes.vllm is '', not a version such as '1.18'"),
    ],
)
def test_values_that_nothing_can_have_are_refused(tmp_path: Path, contract: str, line: int, says: str) -> None:
    text = f"contract:\n  {contract}\n"
    with pytest.raises(BadInput, match=re.escape(says)) as caught:
        load(written(tmp_path, text))
    assert caught.value.line == line
    assert list(Draft202012Validator(schema()).iter_errors(yaml.safe_load(text))) or "nan" in says


def test_values_at_the_limits_are_taken(tmp_path: Path) -> None:
    versions = ["1.18", "v1.18.0", ">=1.18", "~= 1.2", "0.6.3.post1", "24.05-py3", "2.1.0rc1", "5"]
    runtimes = ", ".join(f"r{at}: '{version}'" for at, version in enumerate(versions))
    limits = "gpus: 1, gpu_utilisation: 1, kv_tokens: 0, max_lora_rank: 0, run_seconds: 1, cosine: -1"
    text = f"contract: {{{limits}, runtimes: {{{runtimes}}}}}\n"
    assert list(load(written(tmp_path, text)).settings.contract.runtimes.values()) == versions
    assert not list(Draft202012Validator(schema()).iter_errors(yaml.safe_load(text)))
