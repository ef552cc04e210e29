"""Every key of adapter_config.json: harmless, or told at its level."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interlock.checks.validate.adapter.keys import DEFAULTS, ELSEWHERE, NAMING, TRAINING, value
from interlock.checks.validate.adapter.reach import pattern_values, reaches
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.report.report import Report
from validate.build import adapter_config, folder, llama, llama_tensors, lora, safetensors

Files = dict[str, Any]
WEIGHTS = safetensors(lora())
OTHERS = {"base_model.model.score.weight": ("F32", [2, 8])}


def adapter(tensors: Files | None = None, **config: Any) -> Files:
    weights = WEIGHTS if tensors is None else safetensors(tensors)
    return {"adapter_config.json": adapter_config(**config), "adapter_model.safetensors": weights}


def judge(tmp_path: Path, old: Files, new: Files, **options: Any) -> Report:
    paths = [folder(tmp_path / "new", new), folder(tmp_path / "old", old)]
    report = validate(*paths, contract=Contract(), **options)
    assert not report.unread
    return report


def failing(report: Report) -> dict[str, str]:
    return {f.rule: str(f.level) for f in report.findings if f.level not in ("equal", "hot")}


HARMLESS: list[tuple[Files, Files]] = [
    ({}, {"lora_dropout": 0.5}),
    ({}, {"revision": "main"}),
    ({"revision": "main"}, {"revision": ""}),
    ({}, {"base_model_name_or_path": "acme/base/"}),
    ({}, {"inference_mode": False}),
    ({}, {"peft_version": "0.18.0"}),
    ({}, {"init_lora_weights": "gaussian"}),
    ({}, {"init_lora_weights": "eva", "eva_config": {"rho": 2.0}}),
    ({"init_lora_weights": "pissa"}, {}),
    ({"init_lora_weights": "pissa"}, {"init_lora_weights": "pissa", "lora_dropout": 0.1}),
    ({"task_type": "CAUSAL_LM"}, {"task_type": None}),
    ({"task_type": "CAUSAL_LM"}, {"task_type": "causal_lm"}),
    ({}, {"auto_mapping": {"base_model_class": "LlamaForCausalLM", "parent_library": "transformers"}}),
    (
        {},
        {
            "alora_invocation_tokens": None, "alpha_pattern": {}, "arrow_config": None, "auto_mapping": None,
            "corda_config": None, "ensure_weight_tying": False, "eva_config": None, "exclude_modules": None,
            "fan_in_fan_out": False, "inference_mode": True, "init_lora_weights": True, "layer_replication": None,
            "layers_pattern": None, "layers_to_transform": None, "loftq_config": {}, "lora_bias": False,
            "lora_dropout": 0.05, "megatron_config": None, "megatron_core": "megatron.core",
            "peft_version": "0.18.0", "qalora_group_size": 16, "rank_pattern": {}, "revision": None,
            "target_parameters": None, "task_type": "CAUSAL_LM", "trainable_token_indices": None, "use_dora": False,
            "use_qalora": False, "use_rslora": False, "some_new_key": None, "another": False, "third": [],
        },
    ),
]  # fmt: skip

HARMFUL: list[tuple[Files, Files, str, str]] = [
    ({"task_type": "CAUSAL_LM"}, {"task_type": "SEQ_CLS"}, "LRA-CONF", "breaks"),
    ({"task_type": "SEQ_CLS"}, {"task_type": "TOKEN_CLS"}, "LRA-CONF", "breaks"),
    ({"task_type": "CAUSAL_LM"}, {"task_type": "FEATURE_EXTRACTION"}, "LRA-CONF", "breaks"),
    ({"alora_invocation_tokens": [5]}, {"alora_invocation_tokens": [5, 6]}, "LRA-CONF", "breaks"),
    ({"alora_invocation_tokens": [5]}, {}, "LRA-CONF", "restart"),
    ({"peft_type": "IA3"}, {"peft_type": "LORA"}, "LRA-CONF", "restart"),
    ({}, {"fan_in_fan_out": True}, "LRA-CONF", "unproven"),
    ({}, {"megatron_config": {"hidden_size": 8}}, "LRA-CONF", "unproven"),
    ({}, {"megatron_core": "mine.core"}, "LRA-CONF", "unproven"),
    ({}, {"target_parameters": ["experts.gate_up_proj"]}, "LRA-CONF", "unproven"),
    ({}, {"ensure_weight_tying": True}, "LRA-CONF", "unproven"),
    ({}, {"kasa_config": {"beta": 1.0}}, "LRA-CONF", "unproven"),
    ({}, {"monteclora_config": {"num_samples": 8}}, "LRA-CONF", "unproven"),
    ({}, {"a_key_of_tomorrow": 1}, "LRA-CONF", "unproven"),
    ({"a_key_of_tomorrow": "x"}, {}, "LRA-CONF", "unproven"),
    *(({}, {"init_lora_weights": start}, "LRA-CONF", "unproven") for start in ("pissa", "pissa_niter_4", "olora")),
    *(({}, {"init_lora_weights": start}, "LRA-CONF", "unproven") for start in ("loftq", "corda", "lora_ga")),
    ({"init_lora_weights": "pissa"}, {"init_lora_weights": "olora"}, "LRA-CONF", "unproven"),
    ({"peft_type": "IA3"}, {"peft_type": "IA3", "feedforward_modules": ["up_proj"]}, "LRA-CONF", "unproven"),
    ({"peft_type": "IA3"}, {"peft_type": "IA3", "target_modules": ["q_proj"]}, "LRA-CONF", "unproven"),
    ({"peft_type": "VERA"}, {"peft_type": "VERA", "projection_prng_key": 3}, "LRA-CONF", "unproven"),
    *(({}, {"peft_type": kind}, "LRA-MODULES", "breaks") for kind in ("IA3", "VERA", "PREFIX_TUNING", "ADALORA")),
    ({"peft_type": "VERA"}, {"peft_type": "IA3"}, "LRA-MODULES", "breaks"),
    ({}, {"alora_invocation_tokens": [5]}, "LRA-MODULES", "breaks"),
    ({}, {"lora_bias": True}, "LRA-MODULES", "breaks"),
    ({}, {"use_qalora": True}, "LRA-MODULES", "breaks"),
    ({}, {"use_bdlora": {"nblocks": 2}}, "LRA-MODULES", "breaks"),
    ({}, {"arrow_config": {"top_k": 3}}, "LRA-MODULES", "breaks"),
    ({}, {"layer_replication": [[0, 1], [0, 1]]}, "LRA-MODULES", "breaks"),
    ({}, {"trainable_token_indices": [3]}, "LRA-MODULES", "breaks"),
    ({}, {"bias": "all"}, "LRA-MODULES", "breaks"),
    ({"revision": "abc"}, {"revision": "def"}, "LRA-ORPHAN", "breaks"),
    ({}, {"revision": "abc"}, "LRA-ORPHAN", "unproven"),
    ({"revision": "abc"}, {"revision": "main"}, "LRA-ORPHAN", "unproven"),
    ({}, {"base_model_name_or_path": None}, "LRA-ORPHAN", "unproven"),
    ({"base_model_name_or_path": ""}, {}, "LRA-ORPHAN", "unproven"),
    ({}, {"base_model_name_or_path": "acme/other", "revision": "abc"}, "LRA-ORPHAN", "breaks"),
]


@pytest.mark.parametrize(("old", "new"), HARMLESS)
def test_harmless_settings_are_hot(tmp_path: Path, old: Files, new: Files) -> None:
    report = judge(tmp_path, adapter(**old), adapter(**new))
    assert report.facts["verdict"] == "hot", failing(report)


@pytest.mark.parametrize(("old", "new", "rule", "level"), HARMFUL)
def test_harmful_settings_are_told(tmp_path: Path, old: Files, new: Files, rule: str, level: str) -> None:
    assert failing(judge(tmp_path, adapter(**old), adapter(**new))).get(rule) == level


@pytest.mark.parametrize("tensors", [lora(4), {**lora(4), **OTHERS}])
def test_a_retrain_with_the_same_settings_is_hot(tmp_path: Path, tensors: Files) -> None:
    for kind in ("LORA", "IA3"):
        config = {"peft_type": kind, "task_type": "SEQ_CLS", "modules_to_save": ["classifier", "score"]}
        if len(tensors) == len(lora(4)):
            config["modules_to_save"] = []
        old = {"adapter_config.json": adapter_config(**config), "adapter_model.safetensors": safetensors(tensors)}
        again = safetensors(tensors, fill=2)
        new = {"adapter_config.json": adapter_config(**config), "adapter_model.safetensors": again}
        report = judge(tmp_path / kind, old, new)
        assert report.facts["verdict"] == "hot", failing(report)


def test_a_saved_head_of_another_size_breaks(tmp_path: Path) -> None:
    config = {"task_type": "SEQ_CLS", "modules_to_save": ["classifier", "score"]}
    new = {**lora(), "base_model.model.score.weight": ("F32", [3, 8])}
    report = judge(tmp_path, adapter({**lora(), **OTHERS}, **config), adapter(new, **config))
    assert failing(report) == {"LRA-BASE": "breaks"}


def pickled(data: bytes = pickle.dumps(["weights"]), name: str = "adapter_model.bin", **config: Any) -> Files:
    return {"adapter_config.json": adapter_config(**config), name: data}


@pytest.mark.parametrize("name", ["adapter_model.bin", "adapter_model.pt"])
def test_a_pickle_never_counts_as_a_pass(tmp_path: Path, name: str) -> None:
    alone = validate(folder(tmp_path / "alone", pickled(name=name)), contract=Contract())
    assert failing(alone) == {"LRA-OPAQUE": "unproven"}
    base = folder(tmp_path / "base", {"config.json": llama(), "model.safetensors": safetensors(llama_tensors())})
    served = folder(tmp_path / "served", pickled(name=name))
    assert failing(validate(base, contract=Contract(), adapters=[served])).get("LRA-OPAQUE") == "unproven"
    for index, (old, new) in enumerate(
        (
            (adapter(), pickled(name=name)),
            (pickled(name=name), pickled(pickle.dumps(["others"]), name=name)),
            (pickled(name=name), pickled(name=name, r=2)),
            (pickled(name=name), pickled(name=name, task_type="SEQ_CLS")),
        )
    ):
        report = judge(tmp_path / str(index), old, new)
        assert report.facts["verdict"] in ("unproven", "breaks", "restart")
        assert failing(report)["LRA-OPAQUE"] == "unproven"


def test_the_same_pickle_is_the_live_adapter(tmp_path: Path) -> None:
    assert judge(tmp_path, pickled(), pickled()).facts["verdict"] == "equal"
    both = {**adapter(), "adapter_model.bin": pickle.dumps([])}
    assert failing(validate(folder(tmp_path / "both", both), contract=Contract())) == {}


def test_an_adapter_without_weights_is_not_judged(tmp_path: Path) -> None:
    path = folder(tmp_path / "new", {"adapter_config.json": adapter_config()})
    report = validate(path, contract=Contract())
    assert report.unread
    assert any("adapter_model.safetensors" in finding.message for finding in report.findings)


_KEYS = sorted({*DEFAULTS, *ELSEWHERE, *NAMING, *TRAINING, "fan_in_fan_out", "task_type", "x"})
_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(-9, 9), st.text(max_size=4),
    st.lists(st.integers(), max_size=2),
    st.lists(st.text(max_size=4), max_size=2), st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(_KEYS), _VALUES, max_size=4))
def test_any_settings_give_a_verdict(tmp_path_factory: pytest.TempPathFactory, config: Files) -> None:
    """Whatever the values are: no failure, and a change of anything but notes is not equal."""
    report = judge(tmp_path_factory.mktemp("pair"), adapter(), adapter(**config))
    told = [key for key in config if value(adapter_config(**config), key) != value(adapter_config(), key)]
    if config.get("revision") == "main":
        told.remove("revision")  # what none stands for
    if {"fan_in_fan_out", "x", "megatron_core", "revision"} & set(told):
        assert failing(report), config


@settings(max_examples=200, deadline=None)
@given(st.text("abq_.*(|)[]+{}\\^$", max_size=16), st.sampled_from(["model.layers.0.q_proj", "a.b", "q", "a" * 199]))
def test_hostile_expressions_are_answered_at_once(pattern: str, module: str) -> None:
    assert reaches({"target_modules": pattern}, module) in (True, False, None)
    assert pattern_values({pattern: 3}, module, 4) in ([3], [4], [3, 4])


def test_catastrophic_expressions_are_not_run() -> None:
    for pattern in ("(a*)*b", "(a+)+b", "a*a*a*a*a*b", "(a|aa){50}b"):
        assert reaches({"target_modules": pattern}, "a" * 150) is None
