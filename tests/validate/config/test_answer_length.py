"""GEN-LEN: a limit on answers shrinks only below what the live model could answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.report.report import Report


@pytest.mark.parametrize(
    ("old", "new", "context", "level"),
    [
        ({}, {"max_new_tokens": 131072}, 32768, "hot"),
        ({}, {"max_new_tokens": 32768}, 32768, "hot"),
        ({}, {"max_new_tokens": 2048}, 32768, "breaks"),
        ({}, {"max_new_tokens": 2048}, None, "breaks"),
        ({"max_new_tokens": 65536}, {"max_new_tokens": 32768}, 32768, "hot"),
        ({"max_new_tokens": 4096}, {"max_new_tokens": 2048}, 32768, "breaks"),
        ({"max_length": 4096}, {}, 4096, "hot"),
    ],
)
def test_level(old: dict[str, Any], new: dict[str, Any], context: int | None, level: str, tmp_path: Path) -> None:
    config = {"model_type": "qwen2"} | ({} if context is None else {"max_position_embeddings": context})
    for side, generation in (("old", old), ("new", new)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "config.json").write_text(json.dumps(config))
        (tmp_path / side / "generation_config.json").write_text(json.dumps(generation))
    report = validate(tmp_path / "new", tmp_path / "old", contract=Contract())
    assert [(finding.rule, finding.level) for finding in report.findings] == [("GEN-LEN", level)]


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        ({"max_length": 448}, {}, "unproven"),
        ({"max_length": 448}, {"max_length": 448, "transformers_version": "5"}, None),
        ({"max_length": 448}, None, None),  # then config.json says it
        ({"max_length": 20}, {}, "hot"),
        ({}, {"transformers_version": "5"}, None),
        ({}, {"max_length": 448}, "hot"),
        ({}, {"max_length": 10}, "breaks"),
    ],
)
def test_an_encoder_decoder_without_a_limit(
    old: dict[str, Any], new: dict[str, Any] | None, level: str | None, tmp_path: Path
) -> None:
    config = {"model_type": "whisper", "is_encoder_decoder": True, "max_length": 448}
    for side, generation in (("old", old), ("new", new)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "config.json").write_text(json.dumps(config))
        if generation is not None:
            (tmp_path / side / "generation_config.json").write_text(json.dumps(generation))
    report = validate(tmp_path / "new", tmp_path / "old", contract=Contract())
    assert [finding.level for finding in report.findings if finding.rule == "GEN-LEN"] == ([level] if level else [])


@pytest.mark.parametrize(
    ("runtimes", "level"),
    [
        ({}, "unproven"),
        ({"transformers": "4.46"}, "hot"),
        ({"transformers": ">=5.0"}, "breaks"),  # there a written limit counts the prompt
        ({"vllm": "0.10"}, "hot"),
    ],
)
def test_the_limit_of_the_library_written_out(runtimes: dict[str, str], level: str, tmp_path: Path) -> None:
    found = _levels(tmp_path, {}, {"max_length": 20}, Contract(runtimes=runtimes))
    assert found == [("GEN-LEN", level)]


def test_beside_max_new_tokens_max_length_counts_for_nothing(tmp_path: Path) -> None:
    both = {"max_new_tokens": 512, "max_length": 4096}
    assert _levels(tmp_path / "a", both, both | {"max_length": 20}) == []
    assert _levels(tmp_path / "b", both, {"max_length": 512}) == [("GEN-LEN", "breaks"), ("GEN-LEN", "hot")]


OWN = {"auto_map": {"AutoModel": "a/b--m.X"}}
BOTH = [("CFG-OTHER", "unproven"), ("GEN-SAMPLE", "restart")]
LLAMA = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "max_position_embeddings": 8192}
WHISPER = {"architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper", "is_encoder_decoder": True}


@pytest.mark.parametrize(
    ("config", "old", "new", "found"),
    [
        (LLAMA, {"max_length": 4096}, {"max_length": 512}, [("GEN-LEN", "breaks")]),
        (LLAMA, {"max_length": 4096}, {"max_length": 8192}, [("GEN-LEN", "hot")]),
        (LLAMA, {}, {"max_length": 20, "temperature": 1.0, "top_k": 50}, [("GEN-LEN", "hot")]),
        (LLAMA, {"temperature": 0.5}, {"temperature": 0.9}, [("GEN-SAMPLE", "restart")]),
        (WHISPER, {"suppress_tokens": [1, 2]}, {"suppress_tokens": [1]}, [("GEN-SAMPLE", "restart")]),
        (WHISPER, {}, {"forced_decoder_ids": [[1, 50266]]}, [("GEN-SAMPLE", "restart")]),
        (WHISPER, {"max_length": 448}, {}, [("GEN-LEN", "unproven")]),
        (WHISPER, {}, {"max_length": 448}, [("GEN-LEN", "hot")]),
        (LLAMA | OWN, {"top_k": 2}, {"top_k": 4}, BOTH),  # which may be its experts
        (
            WHISPER | {"architectures": ["WhisperModel"]},
            {"num_beams": 1},
            {"num_beams": 5},
            [("CFG-OTHER", "unproven")],
        ),
    ],
)
def test_config_json_alone_speaks_of_generation(
    config: dict[str, Any], old: dict[str, Any], new: dict[str, Any], found: list[tuple[str, str]], tmp_path: Path
) -> None:
    assert _levels(tmp_path, None, None, None, (config | old, config | new)) == found


@pytest.mark.parametrize(
    ("said", "found"),
    [({}, [("CFG-OTHER", "hot")]), ({"_from_model_config": True}, [("CFG-OTHER", "unproven")])],
    ids=["a file of its own", "made from config.json"],
)
def test_beside_a_file_of_its_own_config_json_does_not_count(
    said: dict[str, Any], found: list[tuple[str, str]], tmp_path: Path
) -> None:
    of = said | {"temperature": 0.6}
    for name, more in (("longer", {"max_length": 4096}), ("other", {"suppress_tokens": [1]})):
        assert _levels(tmp_path / name, of, of, None, (LLAMA, LLAMA | more)) == found


def test_what_config_json_said_may_move_into_a_file_of_its_own(tmp_path: Path) -> None:
    said = {"temperature": 0.6, "suppress_tokens": [1]}
    assert _levels(tmp_path / "a", None, said, None, (LLAMA | said, LLAMA)) == []
    lost = [("GEN-SAMPLE", "restart")]
    assert _levels(tmp_path / "b", None, {"temperature": 0.6}, None, (LLAMA | said, LLAMA)) == lost


def test_whisper_reads_its_first_tokens_from_config_json_as_well(tmp_path: Path) -> None:
    new = WHISPER | {"forced_decoder_ids": [[1, 50266]]}
    assert _levels(tmp_path, {}, {}, None, (WHISPER, new)) == [("CFG-OTHER", "unproven")]


@pytest.mark.parametrize(
    "settings",
    [
        {"output_scores": False, "output_attentions": False, "output_hidden_states": False, "output_logits": None},
        {"return_dict_in_generate": False, "num_return_sequences": 1, "renormalize_logits": False},
        {"remove_invalid_values": False, "min_length": 0, "num_beam_groups": 1, "diversity_penalty": 0.0},
        {"early_stopping": False, "epsilon_cutoff": 0.0, "eta_cutoff": 0.0, "encoder_no_repeat_ngram_size": 0},
        {"encoder_repetition_penalty": 1.0, "token_healing": False, "return_timestamps": False},
        {"num_assistant_tokens": 20, "num_assistant_tokens_schedule": "constant", "generation_kwargs": {}},
        {"assistant_confidence_threshold": 0.4, "bad_words_ids": None, "typical_p": 1.0},
    ],
)
def test_defaults_written_out_are_hot_both_ways(settings: dict[str, Any], tmp_path: Path) -> None:
    assert _levels(tmp_path / "out", {"eos_token_id": 2}, {"eos_token_id": 2, **settings}) == []
    assert _levels(tmp_path / "in", {"eos_token_id": 2, **settings}, {"eos_token_id": 2}) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"min_length": 5},
        {"num_return_sequences": 2},
        {"early_stopping": True},
        {"epsilon_cutoff": 0.1},
        {"return_timestamps": True},
        {"output_scores": True},
        {"encoder_repetition_penalty": 1.5},
    ],
)
def test_other_values_than_the_defaults_are_told(settings: dict[str, Any], tmp_path: Path) -> None:
    assert _levels(tmp_path, {"eos_token_id": 2}, {"eos_token_id": 2, **settings}) == [("GEN-SAMPLE", "restart")]


def test_messages_name_what_differs_in_long_lists(tmp_path: Path) -> None:
    old = {"suppress_tokens": list(range(100)), "lang_to_id": {f"<|{n}|>": n for n in range(90)}}
    new = {"suppress_tokens": [*range(99), 512], "lang_to_id": {f"<|{n}|>": n + (n == 7) for n in range(90)}}
    report = _report(tmp_path, old, new)
    assert [each.message for each in report.findings] == [
        "sampling defaults changed: lang_to_id 90 → 90 entries, <|7|> 7 → 8, "
        "suppress_tokens 100 → 100 entries, without 99, with 512"
    ]


def _report(
    folder: Path,
    old: dict[str, Any] | None,
    new: dict[str, Any] | None,
    contract: Contract | None = None,
    configs: tuple[dict[str, Any], dict[str, Any]] = ({"model_type": "qwen2"}, {"model_type": "qwen2"}),
) -> Report:
    for side, generation, config in (("old", old, configs[0]), ("new", new, configs[1])):
        (folder / side).mkdir(parents=True)
        (folder / side / "config.json").write_text(json.dumps(config))
        if generation is not None:
            (folder / side / "generation_config.json").write_text(json.dumps(generation))
    return validate(folder / "new", folder / "old", contract=contract or Contract())


def _levels(folder: Path, *models: Any) -> list[tuple[str, str | None]]:
    return sorted((finding.rule, finding.level) for finding in _report(folder, *models).findings)
