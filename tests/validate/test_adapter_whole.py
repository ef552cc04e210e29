"""Adapters of which a part is lost, written otherwise, or that are given in the wrong place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Accepted, Contract
from validate.build import adapter_config, folder, llama, llama_tensors, lora, safetensors

Files = dict[str, Any]
CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"


def adapter(tensors: Files | None = None, **config: Any) -> Files:
    return {CONFIG: adapter_config(**config), WEIGHTS: safetensors(lora() if tensors is None else tensors)}


def bare(tensors: Files | None = None, fill: int = 1) -> Files:
    return {WEIGHTS: safetensors(lora() if tensors is None else tensors, fill=fill)}


def model() -> Files:
    return {"config.json": llama(), "model.safetensors": safetensors(llama_tensors())}


def judge(tmp_path: Path, new: Files, old: Files | None, part: str = "", **options: Files) -> tuple[str, set[str]]:
    """The verdict, and the rules that fail the gate. `part` is the one file of both that is given."""
    fresh = folder(tmp_path / "new", new) / part
    live = None if old is None else folder(tmp_path / "old", old) / part
    given: Files = {name: folder(tmp_path / name, files) for name, files in options.items()}
    report = validate(fresh, live, contract=Contract(), **given)
    assert not report.unread
    return report.facts["verdict"], {f.rule for f in report.findings if f.level not in ("equal", "hot")}


@pytest.mark.parametrize("base", [{}, {"base": model()}], ids=["", "with a base"])
def test_a_lost_configuration_is_told(tmp_path: Path, base: Files) -> None:
    assert judge(tmp_path, bare(), adapter(), **base) == ("breaks", {"LRA-CONF"})


def test_a_configuration_lost_inside_of_a_model_is_told(tmp_path: Path) -> None:
    old = {**model(), **adapter()}
    new = {name: data for name, data in old.items() if name != CONFIG}
    assert judge(tmp_path, new, old) == ("breaks", {"LRA-CONF"})
    assert judge(tmp_path / "without", new, new) == ("equal", set())
    assert judge(tmp_path / "with", old, old) == ("equal", set())


def test_weights_alone_are_no_adapter(tmp_path: Path) -> None:
    assert judge(tmp_path, bare(), None) == ("breaks", {"LRA-CONF"})
    assert judge(tmp_path / "whole", adapter(), None)[0] == "equal"


BARE: dict[str, tuple[Files, str, set[str]]] = {
    "the same": (bare(), "equal", set()),
    "retrained": (bare(fill=2), "hot", set()),
    "columns": (bare(lora(hidden=16)), "breaks", {"LRA-BASE"}),
    "other modules": (bare(lora(targets=["k_proj"])), "unproven", {"LRA-TARGET"}),
    "rank": (bare(lora(32)), "restart", {"LRA-RANK"}),
    "half": (bare({n: t for n, t in lora().items() if "q_proj.lora_B" not in n}), "breaks", {"LRA-SELF"}),
}


@pytest.mark.parametrize("part", ["", WEIGHTS], ids=["folder", "file"])
@pytest.mark.parametrize("case", BARE)
def test_weights_without_configuration_on_both_sides_are_compared(tmp_path: Path, case: str, part: str) -> None:
    new, level, rules = BARE[case]
    assert judge(tmp_path, new, bare(), part) == (level, rules)


def test_the_one_file_says_nothing_of_the_configuration_beside_it(tmp_path: Path) -> None:
    assert judge(tmp_path, {**adapter(), **bare(fill=2)}, adapter(), WEIGHTS) == ("hot", set())
    assert judge(tmp_path, adapter(), None, WEIGHTS)[0] == "equal"


def test_one_module_of_many_is_accepted_alone(tmp_path: Path) -> None:
    new, old = folder(tmp_path / "new", adapter(lora(8))), folder(tmp_path / "old", adapter())
    modules = [f"model.layers.0.self_attn.{name}" for name in ("q_proj", "v_proj")]

    def level(*paths: str) -> str:
        accepted = [Accepted(rule="LRA-SELF", reason="r", until="2999-01-01", path=path) for path in paths]
        return validate(new, old, contract=Contract(accept=accepted)).facts["verdict"]

    assert level(modules[0]) == level(modules[1]) == "breaks"
    assert level(*modules) == level(WEIGHTS) == "hot"


def named() -> Files:
    return {name.replace(".weight", ".default.weight"): tensor for name, tensor in lora().items()}


def test_names_of_a_model_that_trains_are_told(tmp_path: Path) -> None:
    assert judge(tmp_path, adapter(named()), adapter()) == ("breaks", {"LRA-SELF"})
    assert judge(tmp_path / "alone", adapter(named()), None) == ("breaks", {"LRA-SELF"})
    assert judge(tmp_path / "bare", bare(named()), bare()) == ("breaks", {"LRA-SELF"})


def test_names_that_the_server_takes_may_stay(tmp_path: Path) -> None:
    fresh = {**adapter(), WEIGHTS: safetensors(named(), fill=2)}
    assert judge(tmp_path, fresh, adapter(named())) == ("hot", set())
    assert judge(tmp_path / "back", adapter(), adapter(named())) == ("hot", set())
