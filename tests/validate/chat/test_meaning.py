"""Templates that render the matrix alike: hot where they say the same, unproven where they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.chat import child
from interlock.checks.validate.chat.sandbox import render
from interlock.report.report import Report
from validate.tokenizer import kit

MARKS = kit.byte_level(specials=("<|bos|>", "<|eos|>", "<|im_start|>", "<|im_end|>"))
CHATML = (
    "{% set found = messages %}{% for m in found %}{{ '<|im_start|>' + m['role'] + '\\n' }}"
    "{% if m['role'] == 'system' %}{{ m['content'] }}{% elif tools %}"
    "{{ m.content }}{% else %}{{ m.content }}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def judged(folder: Path, new: str, old: str = CHATML) -> Report:
    config = {"bos_token": "<|bos|>", "eos_token": "<|im_end|>"}
    sides = [
        {"tokenizer.json": MARKS, "tokenizer_config.json": config, "chat_template.jinja": each} for each in (old, new)
    ]
    return kit.judge(folder, sides[0], sides[1])


def edited(*pairs: tuple[str, str]) -> str:
    text = CHATML
    for before, after in pairs:
        assert before in text
        text = text.replace(before, after)
    return text


@pytest.mark.parametrize(
    "new",
    [
        edited(("found", "loop_messages")),
        edited(("for m in", "for message in"), ("m['", "message['"), ("m.content", "message.content")),
        edited(("m.content", 'm["content"]')),
        edited(("m['role']", "m.role")),
        edited(("'<|im_start|>assistant\\n'", "'<|im_start|>' + 'assistant\\n'")),
        edited(("'<|im_start|>assistant\\n'", "'<|im_start|>' ~ 'assistant' ~ '\\n'")),
        edited(("{{ '<|im_start|>assistant\\n' }}", "<|im_start|>{# who #}assistant\n")),
        edited(("<|im_end|>\n", "{{ eos_token }}{{ '\\n' }}")),
        edited(("elif tools", "elif tools is defined and tools")),
        edited(("{% elif tools %}", "{% else %}{% if tools %}"), ("{% endif %}<", "{% endif %}{% endif %}<")),
        edited(("{% for", "\n{%- for"), ("{% endfor", "{# x #}{% endfor")),
        edited(("{{ m.content }}{% endif", "{% generation %}{{ m.content }}{% endgeneration %}{% endif")),
        edited(("{{ m['content'] }}", "{{ (m['content']) }}")),
        edited(("m['content'] }}", "m['content'] }}{% if persona %}x{% endif %}")),
        CHATML + "{# the end #}",
    ],
)
def test_the_same_said_otherwise_is_hot(tmp_path: Path, new: str) -> None:
    report = judged(tmp_path, new)
    assert kit.verdict(report) in ("hot", "equal"), [(f.rule, f.message) for f in report.findings]


@pytest.mark.parametrize(
    "change",
    [
        "m.content[:90000]",
        "m.content | replace('cat', 'dog')",
        "m.content if loop.index0 < 500 else ''",
        "raise_exception('no') if 'password' in m.content else m.content",
        "m.content | replace('ж', '')",
        "m.content if m.role != 'critic' else ''",
    ],
)
def test_what_no_conversation_shows_is_unproven(tmp_path: Path, change: str) -> None:
    new = edited(("{{ m.content }}", "{{ " + change + " }}"))
    report = judged(tmp_path, new)
    assert kit.levels(report)["CHT-DIFF"] == "unproven", [(f.rule, f.message) for f in report.findings]
    finding = next(f for f in report.findings if f.rule == "CHT-DIFF")
    assert "alike, and differs at its line 1" in finding.message
    assert "\n" not in finding.message


@pytest.mark.parametrize(
    "added",
    [
        "{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}",
        "{% if documents %}{{ documents | tojson }}{% endif %}",
        "{% if m.role == 'developer' %}!{% endif %}",
        "{% if messages|length == 7 %}!{% endif %}",
        "{% if loop.index0 > 50 %}!{% endif %}",
        "{% if '\\r' in m.content %}!{% endif %}",
        "{% if '\U0001f600' in m.content %}!{% endif %}",
        "{% if m.content is string and m.content|length > 4000 %}!{% endif %}",
        "{% if 'http:' in m.content %}!{% endif %}",
    ],
)
def test_realistic_conversations_show_what_is_new(tmp_path: Path, added: str) -> None:
    new = edited(("<|im_end|>\n", added + "<|im_end|>\n"))
    assert kit.levels(judged(tmp_path, new))["CHT-DIFF"] in ("restart", "breaks")


def test_an_answer_last_with_a_prompt_is_shown(tmp_path: Path) -> None:
    new = edited(("if add_generation_prompt", "if add_generation_prompt and messages[-1].role != 'assistant'"))
    assert kit.levels(judged(tmp_path, new))["CHT-DIFF"] == "restart"


def test_marks_that_a_user_writes_are_not_the_templates(tmp_path: Path) -> None:
    assert "CHT-TOK" not in kit.levels(judged(tmp_path, CHATML + "{# again #}"))


def test_names_of_methods_variables_and_parameters_count(tmp_path: Path) -> None:
    said = {
        source: [words for _, words in render([(source, {})])[0].steps]
        for source in (
            "{{ x.items }}", "{{ x['items'] }}", "{{ tools }}", "{{ messages }}",
            "{% macro f(a, b) %}{{ a }}{% endmacro %}{{ f(b=1) }}",
            "{% macro f(b, a) %}{{ b }}{% endmacro %}{{ f(b=1) }}",
            "{% set tools = 1 %}{{ tools }}", "{% set messages = 1 %}{{ messages }}",
        )
    }  # fmt: skip
    texts = list(map(str, said.values()))
    assert len(set(texts)) == len(texts)


def test_deep_nesting_ends_with_steps_or_an_error() -> None:
    deep = "{% if a %}" * 90 + "x" + "{% endif %}" * 90
    found = render([(deep, {})])[0]
    assert found.error or found.steps


def test_what_is_nested_too_deeply_to_be_told_is_compared_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(*_given: Any) -> Any:
        raise RecursionError

    monkeypatch.setattr(child._meaning(), "steps", steps)  # pyright: ignore[reportPrivateUsage]
    source = "{% if a %}x{% endif %}"
    assert child._steps(None, None, source, [{}]) == ([(1, source)], [(1, source)])  # pyright: ignore[reportPrivateUsage]


def test_a_long_chain_of_conditions_costs_no_more_for_each() -> None:
    """Each branch lies inside the rest of the one before it."""
    chain = "".join(f"{{% elif messages[0].role == 'r{n}' %}}{n}" for n in range(60))
    found = render([(f"{{% if messages[0].role == 'x' %}}x{chain}{{% endif %}}", {})])[0]
    assert not found.error and len(found.steps) > 60
