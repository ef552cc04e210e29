"""Templates under names, and those of processors: which one a server takes, and what clients get by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from validate.tokenizer import kit

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MARKS = kit.byte_level(specials=("<|bos|>", "<|eos|>", "<|im_start|>", "<|im_end|>"))
TOOLS = "{% if tools %}{{ tools | tojson }}\n{% endif %}"
WITH_TOOLS = TOOLS + CHATML
EXTRA = "additional_chat_templates/tool_use.jinja"
SAME = CHATML.replace("m.role", "m['role']")
OTHER_PREFIX = CHATML.replace("assistant\n{% endif", "model\n{% endif")


def model(**files: Any) -> dict[str, Any]:
    config = {"bos_token": "<|bos|>", "eos_token": "<|im_end|>"}
    named = {name.replace("__", "/").replace("_DOT_", "."): text for name, text in files.items()}
    return {"tokenizer_config.json": config, "tokenizer.json": MARKS, **named}


def with_files(default: str | None = CHATML, **extra: str) -> dict[str, Any]:
    found = model()
    if default is not None:
        found["chat_template.jinja"] = default
    return found | {f"additional_chat_templates/{name}.jinja": text for name, text in extra.items()}


def listed(**templates: str) -> dict[str, Any]:
    found = model()
    entries = [{"name": name, "template": text} for name, text in templates.items()]
    found["tokenizer_config.json"] = {**found["tokenizer_config.json"], "chat_template": entries}
    return found


def of_processor(file: str, template: str, tokenizer: str | None = None) -> dict[str, Any]:
    found = model() | {file: {"chat_template": template}}
    if tokenizer is not None:
        found["tokenizer_config.json"] = {**found["tokenizer_config.json"], "chat_template": tokenizer}
    return found


def outcome(tmp_path: Path, old: dict[str, Any], new: dict[str, Any]) -> tuple[str, dict[str, str]]:
    report = kit.judge(tmp_path, old, new)
    return kit.verdict(report), kit.levels(report)


@pytest.mark.parametrize("made", [with_files, listed])
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        # Clients that send tools get another prompt from the day the file is there.
        ({}, {"tool_use": WITH_TOOLS}, ("CHT-DIFF", "restart")),
        ({}, {"tool_use": OTHER_PREFIX}, ("CHT-DIFF", "breaks")),
        ({}, {"tool_use": "{{ raise_exception('none') if tools }}" + CHATML}, ("CHT-ERR", "breaks")),
        ({}, {"tool_use": CHATML + "{{ persona }}"}, ("CHT-KWARG", "breaks")),
        ({}, {"tool_use": CHATML.replace("<|im_start|>", "<|start|>")}, ("CHT-TOK", "breaks")),
        ({"tool_use": WITH_TOOLS}, {}, ("CHT-DIFF", "breaks")),
        ({"tool_use": WITH_TOOLS}, {"tool_use": CHATML}, ("CHT-DIFF", "restart")),
        ({"tool_use": CHATML}, {"tool_use": OTHER_PREFIX}, ("CHT-DIFF", "breaks")),
        ({"rag": CHATML}, {}, ("CHT-DIFF", "breaks")),
        ({"rag": CHATML}, {"rag": OTHER_PREFIX}, ("CHT-DIFF", "breaks")),
    ],
)
def test_named_templates_are_judged(
    tmp_path: Path, made: Any, old: dict[str, str], new: dict[str, str], said: tuple[str, str]
) -> None:
    default = {"default": CHATML}
    rule, level = said
    assert outcome(tmp_path, made(**default, **old), made(**default, **new))[1].get(rule) == level


@pytest.mark.parametrize("made", [with_files, listed])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {"tool_use": SAME}),
        ({}, {"tool_use": CHATML + "{% if not tools %}x{% endif %}"}),
        ({"tool_use": SAME}, {}),
        ({"tool_use": WITH_TOOLS}, {"tool_use": WITH_TOOLS.replace("m.role", "m['role']")}),
        ({}, {"rag": "x"}),
    ],
)
def test_the_same_prompts_stay_hot(tmp_path: Path, made: Any, old: dict[str, str], new: dict[str, str]) -> None:
    default = {"default": CHATML}
    assert outcome(tmp_path, made(**default, **old), made(**default, **new))[0] == "hot"


def test_a_list_that_is_saved_as_files_is_hot(tmp_path: Path) -> None:
    old, new = listed(default=CHATML, tool_use=WITH_TOOLS), with_files(tool_use=WITH_TOOLS)
    assert outcome(tmp_path / "a", old, new)[0] == "hot"
    assert outcome(tmp_path / "b", new, old)[0] == "hot"


def test_files_replace_what_the_configuration_says(tmp_path: Path) -> None:
    old = listed(default=CHATML)
    verdict, levels = outcome(tmp_path / "a", old, {**old, EXTRA: WITH_TOOLS})
    assert (verdict, levels["CHT-DIFF"]) == ("breaks", "breaks")  # there is no default any more
    old = listed(default=CHATML, tool_use=WITH_TOOLS)
    assert outcome(tmp_path / "b", old, {**old, "chat_template.jinja": CHATML})[1]["CHT-DIFF"] == "breaks"


def test_a_named_template_that_is_all_there_is(tmp_path: Path) -> None:
    bare = {"tokenizer.json": MARKS}
    verdict, levels = outcome(tmp_path, {**bare, EXTRA: CHATML}, {**bare, EXTRA: OTHER_PREFIX})
    assert (verdict, levels["CHT-DIFF"]) == ("breaks", "breaks")


@pytest.mark.parametrize("file", ["processor_config.json", "chat_template.json"])
def test_templates_of_processors(tmp_path: Path, file: str) -> None:
    old = of_processor(file, CHATML)
    assert outcome(tmp_path / "a", old, of_processor(file, OTHER_PREFIX))[1]["CHT-DIFF"] == "breaks"
    assert outcome(tmp_path / "b", old, of_processor(file, SAME))[0] == "hot"
    assert outcome(tmp_path / "c", of_processor(file, CHATML, CHATML), of_processor(file, CHATML, SAME))[0] == "hot"
    # Servers take the tokenizer's where tools are sent, and the processor's else.
    for number, pair in enumerate(((CHATML, OTHER_PREFIX), (OTHER_PREFIX, CHATML))):
        before, after = (of_processor(file, CHATML, tokenizer) for tokenizer in pair)
        assert outcome(tmp_path / str(number), before, after)[1]["CHT-DIFF"] == "breaks"


@pytest.mark.parametrize("file", ["processor_config.json", "chat_template.json"])
def test_a_template_that_only_the_processor_has_now(tmp_path: Path, file: str) -> None:
    both, alone = of_processor(file, CHATML, CHATML), of_processor(file, CHATML)
    jinja = model() | {"chat_template.jinja": CHATML}
    assert outcome(tmp_path / "a", both, alone)[1]["CHT-DIFF"] == "breaks"
    assert outcome(tmp_path / "b", jinja, alone)[1]["CHT-DIFF"] == "breaks"
    assert outcome(tmp_path / "c", alone, both)[0] == "hot"
    assert outcome(tmp_path / "d", both, jinja)[0] == "hot"
    assert outcome(tmp_path / "e", alone, jinja)[0] == "hot"


def test_a_template_may_move_between_the_files_of_a_processor(tmp_path: Path) -> None:
    inside = model() | {"processor_config.json": {"chat_template": CHATML, "image_seq_len": 64}}
    apart = model() | {"processor_config.json": {"image_seq_len": 64}, "chat_template.json": {"chat_template": SAME}}
    files = model() | {"processor_config.json": {"image_seq_len": 64}, "chat_template.jinja": CHATML}
    assert outcome(tmp_path / "a", inside, apart)[0] == "hot"
    assert outcome(tmp_path / "b", apart, files)[0] == "hot"
    assert outcome(tmp_path / "c", inside, files)[0] == "hot"


def test_a_processor_without_settings_of_a_tokenizer(tmp_path: Path) -> None:
    def made(template: str) -> dict[str, Any]:
        processor = {"processor_config.json": {"chat_template": template}}
        return {"config.json": {"model_type": "llava"}, "tokenizer.json": MARKS, **processor}

    assert outcome(tmp_path / "a", made(CHATML), made(OTHER_PREFIX))[1]["CHT-DIFF"] == "breaks"
    assert outcome(tmp_path / "b", made(CHATML), made(SAME))[0] == "hot"
