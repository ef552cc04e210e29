"""Adapters of which a part is lost, written otherwise, or that are given in the wrong place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Accepted, Contract
from interlock.report.errors import BadInput
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


WRONG: dict[str, Files] = {
    "rank in quotes": {"r": "4"},
    "rank with a fraction": {"r": 4.0},
    "no rank": {"r": None},
    "rank zero": {"r": 0},
    "rank true": {"r": True},
    "alpha in quotes": {"lora_alpha": "8"},
    "no alpha": {"lora_alpha": None},
    "alphas in quotes": {"alpha_pattern": {"q_proj": "8"}},
    "ranks in a list": {"rank_pattern": [4]},
    "rank of a module with a fraction": {"rank_pattern": {"q_proj": 4.0}},
    "module that is no expression": {"alpha_pattern": {"(q_proj": 8}},
    "targets that are no expression": {"target_modules": "["},
    "exclusions that are no expression": {"exclude_modules": "*q"},
}


@pytest.mark.parametrize("case", WRONG)
def test_values_of_a_wrong_kind_are_told(tmp_path: Path, case: str) -> None:
    new, old = folder(tmp_path / "new", adapter(**WRONG[case])), folder(tmp_path / "old", adapter())
    for live in (old, None):
        report = validate(new, live, contract=Contract())
        told = [f for f in report.findings if f.rule == "LRA-CONF" and f.level == "breaks"]
        assert [f.where.pointer for f in told if f.where] == [f"/{next(iter(WRONG[case]))}"]
    same = validate(new, new, contract=Contract())
    assert "LRA-CONF" not in {f.rule for f in same.findings}


@pytest.mark.parametrize(
    "config", [{"lora_alpha": 8.0}, {"rank_pattern": {}}, {"alpha_pattern": None}, {"target_modules": r".*\.[qv]_proj"}]
)
def test_values_of_the_right_kind_are_not(tmp_path: Path, config: Files) -> None:
    assert judge(tmp_path, adapter(**config), adapter()) == ("hot", set())
    assert judge(tmp_path / "missing", {**bare(), CONFIG: {"target_modules": ["q_proj", "v_proj"]}}, None)[0] == "equal"


def typed(kind: str) -> Files:
    return {name: (kind, shape) for name, (_, shape) in lora().items()}


def test_small_floats_prove_nothing(tmp_path: Path) -> None:
    assert judge(tmp_path, adapter(typed("F8_E4M3")), adapter()) == ("unproven", {"LRA-MODULES"})
    assert judge(tmp_path / "live", adapter(typed("F8_E4M3")), adapter(typed("F8_E4M3"))) == ("equal", set())
    for kind in ("F16", "BF16"):
        assert judge(tmp_path / kind, adapter(typed(kind)), adapter()) == ("hot", set())


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({"lora_alpha": 16}, ["preload", "verify", "flush-kv"]),
        ({"use_rslora": True}, ["preload", "verify", "flush-kv"]),
        ({"lora_dropout": 0.1}, ["preload", "verify"]),
    ],
)
def test_another_scale_makes_caches_stale(tmp_path: Path, settings: Files, steps: list[str]) -> None:
    new, old = folder(tmp_path / "new", adapter(**settings)), folder(tmp_path / "old", adapter())
    facts = validate(new, old, contract=Contract()).facts
    assert (facts["verdict"], [step["step"] for step in facts["plan"]]) == ("hot", steps)


@pytest.mark.parametrize(
    ("live", "rank", "declared", "says"),
    [
        (8, 16, 0, ""),
        (8, 17, 0, "above 16, vLLM's default"),
        (32, 32, 0, ""),
        (32, 33, 0, "above 32, the live adapter's"),
        (32, 16, 8, "above 8, declared"),
    ],
)
def test_the_rank_is_held_against_what_is_known(tmp_path: Path, live: int, rank: int, declared: int, says: str) -> None:
    new, old = (folder(tmp_path / str(at), adapter(lora(r), r=r)) for at, r in ((1, rank), (0, live)))
    report = validate(new, old, contract=Contract(max_lora_rank=declared))
    told = [f.message for f in report.findings if f.rule == "LRA-RANK"]
    assert (says in told[0] if says else told == []) and bool(told) == bool(says)


@pytest.mark.parametrize(
    ("role", "files", "says"),
    [
        ("base", adapter(), "is an adapter"),
        ("base", bare(), "is an adapter"),
        ("base", {"config.json": llama(), "pytorch_model.bin": b"PK"}, "no safetensors weights"),
        ("adapter", model(), "holds none"),
    ],
)
def test_what_is_no_base_and_what_is_no_adapter_is_refused(tmp_path: Path, role: str, files: Files, says: str) -> None:
    path = str(folder(tmp_path / "given", files))
    fresh = folder(tmp_path / "new", adapter() if role == "base" else model())
    given: Files = {"base": path} if role == "base" else {"adapters": [path]}
    with pytest.raises(BadInput, match=says):
        validate(fresh, fresh, contract=Contract(), **given)


def test_a_base_and_adapters_are_taken(tmp_path: Path) -> None:
    base, fine = folder(tmp_path / "base", model()), folder(tmp_path / "adapter", adapter())
    assert validate(fine, fine, contract=Contract(), base=base).facts["verdict"] == "equal"
    assert validate(base, base, contract=Contract(), adapters=[fine, fine / WEIGHTS]).facts["verdict"] == "equal"
    many = folder(tmp_path / "many", {f"{name}/{file}": data for name in "ab" for file, data in adapter().items()})
    assert validate(base, base, contract=Contract(), adapters=[many]).facts["verdict"] == "equal"
    assert validate(base, base, contract=Contract(), adapters=[folder(tmp_path / "bare", bare())]).exit_code == 1
