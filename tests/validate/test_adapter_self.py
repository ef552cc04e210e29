"""Adapters that contradict their own configuration or leave the live adapter's modules; and ones that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.build import adapter_config, folder, llama, llama_tensors, lora, safetensors

Files = dict[str, Any]
LAYER = "base_model.model.model.layers.0.self_attn"


def adapter(tensors: Files | None = None, **config: Any) -> Files:
    weights = safetensors(lora() if tensors is None else tensors)
    return {"adapter_config.json": adapter_config(**config), "adapter_model.safetensors": weights}


def without(*ends: str) -> Files:
    return {name: value for name, value in lora().items() if not name.endswith(ends)}


def mixed(q: int, v: int) -> Files:
    return {**lora(q, targets=["q_proj"]), **lora(v, targets=["v_proj"])}


def judge(tmp_path: Path, new: Files, old: Files | None = None, **options: Files) -> tuple[str, set[str]]:
    """The verdict, and the rules that fail the gate."""
    paths = [folder(tmp_path / "new", new), folder(tmp_path / "old", adapter() if old is None else old)]
    given: Files = {name: folder(tmp_path / name, files) for name, files in options.items()}
    report = validate(*paths, contract=Contract(), **given)
    assert not report.unread
    return report.facts["verdict"], {f.rule for f in report.findings if f.level not in ("equal", "hot")}


WRONG: dict[str, tuple[Files, str, str]] = {
    "rank below r": (adapter(lora(4), r=8), "breaks", "LRA-SELF"),
    "rank above r": (adapter(lora(8), r=4), "breaks", "LRA-SELF"),
    "pattern not kept": (adapter(rank_pattern={"q_proj": 2}), "breaks", "LRA-SELF"),
    "rank outside the pattern": (adapter(mixed(2, 2), rank_pattern={"q_proj": 2}), "breaks", "LRA-SELF"),
    "rank no key allows": (adapter(mixed(3, 3), rank_pattern={"(.*q)+_proj": 2}), "breaks", "LRA-SELF"),
    "no B": (adapter(without("q_proj.lora_B.weight")), "breaks", "LRA-SELF"),
    "no A": (adapter(without("v_proj.lora_A.weight")), "breaks", "LRA-SELF"),
    "B of another rank": (adapter({**lora(), f"{LAYER}.q_proj.lora_B.weight": ("F32", [8, 2])}), "breaks", "LRA-SELF"),
    "flat B": (adapter({**lora(), f"{LAYER}.q_proj.lora_B.weight": ("F32", [8])}), "breaks", "LRA-SELF"),
    "target lost": (adapter(lora(targets=["q_proj"])), "breaks", "LRA-SELF"),
    "target never there": (adapter(target_modules=["q_proj", "v_proj", "c_attn"]), "unproven", "LRA-SELF"),
    "columns": (adapter(lora(hidden=16)), "breaks", "LRA-BASE"),
    "rows": (adapter(lora(out=16)), "breaks", "LRA-BASE"),
    "no tensors": (adapter({}), "breaks", "LRA-SELF"),
    "not named": (adapter(target_modules=["q_proj"]), "breaks", "LRA-SELF"),
    "not named by an expression": (adapter(target_modules=r".*\.q_proj"), "breaks", "LRA-SELF"),
    "excluded": (adapter(exclude_modules=["v_proj"]), "breaks", "LRA-SELF"),
    "excluded by an expression": (adapter(exclude_modules=r".*layers\.0\..*v_proj"), "breaks", "LRA-SELF"),
    "kept whole": (adapter(modules_to_save=["v_proj"]), "breaks", "LRA-SELF"),
    "layer not named": (adapter(layers_to_transform=[1]), "breaks", "LRA-SELF"),
    "one layer not named": (adapter(layers_to_transform=7), "breaks", "LRA-SELF"),
    "layers of another list": (adapter(layers_to_transform=[0], layers_pattern="h"), "breaks", "LRA-SELF"),
    "layer without tensors": (adapter(layers_to_transform=[0, 5]), "unproven", "LRA-SELF"),
    "DoRA without magnitudes": (adapter(use_dora=True), "breaks", "LRA-SELF"),
    "magnitudes without DoRA": (
        adapter({**lora(), f"{LAYER}.q_proj.lora_magnitude_vector": ("F32", [8])}),
        "breaks",
        "LRA-SELF",
    ),
    "biases nobody asks for": (
        adapter({**lora(), f"{LAYER}.q_proj.lora_B.bias": ("F32", [8])}),
        "breaks",
        "LRA-SELF",
    ),
    "whole modules lost": (adapter(modules_to_save=["lm_head"]), "breaks", "LRA-SELF"),
    "other layers": (
        adapter({name.replace("layers.0", "layers.77"): value for name, value in lora().items()}),
        "unproven",
        "LRA-TARGET",
    ),
}

RIGHT: dict[str, Files] = {
    "plain": adapter(),
    "rank": adapter(lora(8), r=8),
    "rslora": adapter(use_rslora=True),
    "all-linear": adapter(target_modules="all-linear"),
    "expression": adapter(target_modules=r".*\.(q|v)_proj"),
    "longer target": adapter(target_modules=["self_attn.q_proj", "v_proj"]),
    "fewer targets": adapter(lora(targets=["q_proj"]), target_modules=["q_proj"]),
    "excluded": adapter(target_modules=["q_proj", "v_proj", "k_proj"], exclude_modules=["k_proj"]),
    "targets in another order": adapter(target_modules=["v_proj", "q_proj"]),
    "layers that have tensors": adapter(layers_to_transform=[0], layers_pattern=["layers"]),
    "one layer": adapter(layers_to_transform=0),
    "no layers": adapter(layers_to_transform=[]),
    "excluded elsewhere": adapter(exclude_modules=r".*vision.*"),
    "expression with many repetitions": adapter(target_modules=r"(?:.*?language.*?attn.*?q_proj.*?)|(?:.*v_proj)"),
    "nothing saved whole": adapter(modules_to_save=[]),
}


# Factors by module: hot where the live adapter has them too, since its server applies them.
PATTERNS: dict[str, Files] = {
    "alpha": adapter(alpha_pattern={"q_proj": 99}),
    "rank": adapter(mixed(2, 4), rank_pattern={"q_proj": 2}),
    "rank by path": adapter(mixed(2, 4), rank_pattern={r"^model\.layers\.0\.self_attn\.q_proj": 2}),
    "rank by expression": adapter(mixed(2, 4), rank_pattern={".*(q|k)_proj": 2}),
    "rank and alpha": adapter(mixed(2, 4), rank_pattern={"q_proj": 2}, alpha_pattern={"q_proj": 8}),
}


@pytest.mark.parametrize("case", PATTERNS)
def test_factors_by_module_need_a_server_that_applies_them(case: str, tmp_path: Path) -> None:
    assert judge(tmp_path / "new", PATTERNS[case]) == ("unproven", {"LRA-SCALE"})
    assert judge(tmp_path / "kept", PATTERNS[case], adapter(alpha_pattern={"v_proj": 16})) == ("hot", set())
    assert judge(tmp_path / "gone", adapter(), PATTERNS[case]) == ("hot", set())


def test_patterns_that_change_no_factor_are_hot(tmp_path: Path) -> None:
    for index, config in enumerate(({"alpha_pattern": {"q_proj": 8}}, {"alpha_pattern": {"k_proj": 99}})):
        assert judge(tmp_path / str(index), adapter(**config)) == ("hot", set())
    even = adapter(mixed(2, 4), rank_pattern={"q_proj": 2}, alpha_pattern={"q_proj": 4})
    assert judge(tmp_path / "both", even) == ("hot", set())


@pytest.mark.parametrize("case", WRONG)
def test_contradictions_fail(case: str, tmp_path: Path) -> None:
    new, verdict, rule = WRONG[case]
    told, rules = judge(tmp_path, new)
    assert told == verdict
    assert rule in rules


@pytest.mark.parametrize("case", RIGHT)
def test_consistent_adapters_are_hot(case: str, tmp_path: Path) -> None:
    verdict, rules = judge(tmp_path, RIGHT[case])
    assert verdict in ("equal", "hot")
    assert not rules


def test_whole_modules_need_no_pair(tmp_path: Path) -> None:
    saved = {"target_modules": ["q_proj", "v_proj", "lm_head"], "modules_to_save": ["lm_head"]}
    tensors = {**lora(), "base_model.model.lm_head.weight": ("F32", [32, 8])}
    verdict, rules = judge(tmp_path, adapter(tensors, **saved), adapter(tensors, **saved, lora_alpha=4))
    assert "LRA-SELF" not in rules, verdict


def test_a_base_settles_what_the_live_adapter_cannot(tmp_path: Path) -> None:
    base = {"config.json": llama(), "model.safetensors": safetensors(llama_tensors())}
    old = adapter(lora(targets=["q_proj"]), target_modules=["q_proj"])
    assert judge(tmp_path / "a", adapter(), old)[0] == "unproven"
    assert judge(tmp_path / "b", adapter(), old, base=base) == ("hot", set())
    lost = adapter(lora(targets=["q_proj"]))
    assert judge(tmp_path / "c", lost, old, base=base) == ("breaks", {"LRA-SELF"})
