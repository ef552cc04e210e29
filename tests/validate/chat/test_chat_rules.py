"""Chat templates: what they render, what they cost, and what a hostile one can do."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.chat import sandbox
from interlock.checks.validate.chat.cases import CASES, PROMPT
from interlock.checks.validate.chat.sandbox import render
from validate.tokenizer import kit

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
PLAIN = "{% for m in messages %}{{ m.content }}{% endfor %}"
STRICT = "{% for m in messages if m.role == 'system' %}{{ raise_exception('no system') }}{% endfor %}" + PLAIN
NAMED = [{"name": "default", "template": CHATML}, {"name": "x", "template": "y"}]
MARKS = kit.byte_level(specials=("<|bos|>", "<|eos|>", "<|im_start|>", "<|im_end|>", "<|eot|>"))


def model(template: Any, tokenizer: kit.Json | None = None, **more: Any) -> dict[str, Any]:
    config = {"bos_token": "<|bos|>", "eos_token": "<|im_end|>", "chat_template": template, **more}
    return {"tokenizer_config.json": config, "tokenizer.json": tokenizer or MARKS}


MUTANTS: list[tuple[str, Any, Any, str, str]] = [
    # Another end of turn, prefix, or anything else.
    ("end of turn", CHATML, CHATML.replace("<|im_end|>", "<|eot|>"), "CHT-DIFF", "breaks"),
    ("no end of turn", CHATML, CHATML.replace("<|im_end|>", ""), "CHT-DIFF", "breaks"),
    ("prefix", CHATML, CHATML.replace("assistant\n{% endif", "model\n{% endif"), "CHT-DIFF", "breaks"),
    ("prefix's newline", CHATML, CHATML.replace("assistant\n{% endif", "assistant{% endif"), "CHT-DIFF", "breaks"),
    ("prompt always", CHATML, CHATML.replace("{% if add_generation_prompt %}", "{% if true %}"), "CHT-DIFF", "restart"),
    ("prompt never", CHATML, CHATML.replace("{% if add_generation_prompt %}", "{% if false %}"), "CHT-DIFF", "breaks"),
    ("default system", CHATML, "<|im_start|>system\nBe good.<|im_end|>\n" + CHATML, "CHT-DIFF", "restart"),
    ("trims", CHATML, CHATML.replace("m.content }}", "m.content | trim }}"), "CHT-DIFF", "restart"),
    ("upper", CHATML, CHATML.replace("m.role }}", "m.role | upper }}"), "CHT-DIFF", "restart"),
    ("bos", CHATML, "{{ bos_token }}" + CHATML, "CHT-DIFF", "restart"),
    ("gone", CHATML, None, "CHT-DIFF", "breaks"),
    ("named one gone", NAMED, CHATML, "CHT-DIFF", "breaks"),
    # Fails where it did not.
    ("refuses system", CHATML, STRICT, "CHT-ERR", "breaks"),
    ("no parts", PLAIN, PLAIN.replace("m.content", "m.content.strip()"), "CHT-ERR", "breaks"),
    ("needs a message", CHATML, CHATML + "{{ messages[0].content }}{{ messages[0].x.y }}", "CHT-ERR", "breaks"),
    ("syntax", CHATML, "{% for m in messages %}", "CHT-ERR", "breaks"),
    ("unknown filter", CHATML, "{{ messages | nothing }}", "CHT-ERR", "breaks"),
    ("division", CHATML, "{{ 1 / 0 }}", "CHT-ERR", "breaks"),
    ("attributes", CHATML, "{{ ''.__class__.__mro__[1].__subclasses__() }}", "CHT-ERR", "breaks"),
    ("modifies", CHATML, "{% set _ = messages.append(1) %}x", "CHT-ERR", "breaks"),
    ("includes", CHATML, "{% include '/etc/passwd' %}", "CHT-ERR", "breaks"),
    ("huge", CHATML, "{% for i in range(99999) %}{{ 'x' * 1000 }}{% endfor %}", "CHT-ERR", "breaks"),
    ("recursion", CHATML, "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "CHT-ERR", "breaks"),
    # A variable nobody sends.
    ("persona", CHATML, CHATML + "{{ persona }}", "CHT-KWARG", "breaks"),
    ("persona's name", CHATML, CHATML + "{% if persona.name %}x{% endif %}", "CHT-ERR", "breaks"),
    ("looped", CHATML, CHATML + "{% for p in personas %}x{% endfor %}", "CHT-KWARG", "breaks"),
    ("needed after a test", CHATML, "{% if persona %}x{% endif %}" + CHATML + "{{ persona }}", "CHT-KWARG", "breaks"),
    ("tested, and renders otherwise", CHATML, "{% if not persona %}x{% endif %}" + CHATML, "CHT-DIFF", "restart"),
    ("long", CHATML, CHATML + "{% if messages|length > 20 %}X{% endif %}", "CHT-DIFF", "restart"),
    # Marks that are no tokens.
    ("mark", CHATML, CHATML.replace("<|im_start|>", "<|start|>"), "CHT-TOK", "breaks"),
    ("end mark", CHATML, CHATML.replace("<|im_end|>", "<|end|>"), "CHT-TOK", "breaks"),
    ("gemma's", CHATML, CHATML.replace("<|im_end|>", "<end_of_turn>"), "CHT-TOK", "breaks"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "rule", "level"), [pytest.param(*m[1:], id=m[0]) for m in MUTANTS])
def test_mutant(tmp_path: Path, old: Any, new: Any, rule: str, level: str) -> None:
    report = kit.judge(tmp_path, model(old), model(new))
    assert kit.levels(report).get(rule) == level, [(f.rule, f.level, f.message) for f in report.findings]


@pytest.mark.parametrize(
    "new",
    [
        CHATML.replace("m.role", "m['role']"),
        CHATML.replace("{% for m", "{%- for m"),
        "{% generation %}{% endgeneration %}" + CHATML,
        CHATML + "{% if persona is defined %}{{ persona }}{% endif %}",
        CHATML + "{{ persona | default('') }}",
        CHATML + "{% if persona and persona != 'x' %}D{% endif %}",
        CHATML + "{% if reasoning_effort == 'high' %}R{% endif %}",
        CHATML + "{% if reasoning_effort in ['high', 'low'] %}R{% endif %}",
        "{# a remark #}" + CHATML,
        [{"name": "default", "template": CHATML}],
        [{"name": "default", "template": CHATML}, {"name": "rag", "template": "x"}],
    ],
)
def test_other_words_for_the_same_are_hot(tmp_path: Path, new: Any) -> None:
    report = kit.judge(tmp_path, model(CHATML), model(new))
    assert kit.verdict(report) == "hot", [(f.rule, f.message) for f in report.findings]


FIRST = "{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}" + PLAIN


@pytest.mark.parametrize(
    "new",
    [
        "{% if messages[0]['role'] == 'system' %}{% endif %}" + CHATML,
        "{% set first = messages[0].content %}" + CHATML,
        "{% if messages|length == 0 %}{{ raise_exception('no messages') }}{% endif %}" + CHATML,
        "{% set last = messages[-1].role %}" + CHATML,
    ],
)
def test_a_conversation_without_messages_may_fail(tmp_path: Path, new: str) -> None:
    report = kit.judge(tmp_path, model(CHATML), model(new))
    assert "CHT-ERR" not in kit.levels(report)
    assert kit.verdict(report) in ("hot", "unproven"), [(f.rule, f.message) for f in report.findings]


def test_another_failure_beside_the_empty_conversation_breaks(tmp_path: Path) -> None:
    new = FIRST + "{% if messages|length == 1 and messages[0].role == 'user' %}{{ raise_exception('x') }}{% endif %}"
    report = kit.judge(tmp_path, model(PLAIN), model(new))
    assert kit.levels(report)["CHT-ERR"] == "breaks"


def test_the_file_wins_over_the_configuration(tmp_path: Path) -> None:
    old, new = model(CHATML), model("nonsense") | {"chat_template.jinja": CHATML}
    assert kit.verdict(kit.judge(tmp_path, old, new)) == "hot"


def test_alone_a_template_that_renders_nothing_is_a_fault(tmp_path: Path) -> None:
    from interlock.checks.validate.run import validate

    good = kit.model(tmp_path / "good", model(CHATML))
    assert kit.levels(validate(good)) == {}
    bad = kit.model(tmp_path / "bad", model("{{ raise_exception('no') }}"))
    assert kit.levels(validate(bad)) == {"CHT-ERR": "breaks"}
    missing = kit.model(tmp_path / "missing", model(CHATML, kit.byte_level()))
    assert kit.levels(validate(missing))["CHT-TOK"] == "hot"


@pytest.mark.parametrize(
    "template",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% set x = namespace(v='x') %}{% for i in range(64) %}{% set x.v = x.v + x.v %}{% endfor %}{{ x.v }}",
        "{{ 'x' * 10 ** 12 }}",
        "{{ 9 ** (9 ** 9) }}",
        "{{ [0] * 10 ** 11 }}",
    ],
)
def test_endless_templates_are_stopped_and_named(monkeypatch: pytest.MonkeyPatch, template: str) -> None:
    monkeypatch.setattr(sandbox, "SECONDS", 2)
    start = time.monotonic()
    good, bad = render([(CHATML, {}), (template, {})])
    assert time.monotonic() - start < 60
    assert good.text(PROMPT) is not None
    assert bad.error or all(bad.errors)


def test_renderings_are_those_of_jinja(tmp_path: Path) -> None:
    result = render([(CHATML, {"bos_token": "<|bos|>"})])[0]
    assert result.text(PROMPT) == "<|im_start|>user\nUq7zX<|im_end|>\n<|im_start|>assistant\n"
    assert len(result.texts) == len(CASES)
    assert result.variables == {"messages", "add_generation_prompt"}


def test_what_a_template_cannot_reach(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    for template in (
        f"{{% include '{secret}' %}}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ raise_exception.__globals__ }}",
        "{{ messages.__class__ }}",
        "{{ self.__init__.__globals__ }}",
    ):
        result = render([(template, {})])[0]
        texts = [text for text in result.texts if text]
        assert result.error or not any("os" in text or "module" in text for text in texts), texts[:1]
