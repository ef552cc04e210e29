"""Tool calls as the OpenAI API sends them: their arguments are text, and there is no content beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from interlock.checks.validate.chat.cases import CASES, WIRE, WITH_TOOLS
from interlock.report.finding import Finding
from validate.chat.test_chat_rules import CHATML, model
from validate.tokenizer import kit

CALLS = "{% for c in m.tool_calls or [] %}<call>{{ ARGUMENTS }}</call>{% endfor %}"
HEAD, TAIL = CHATML.split("<|im_end|>")


def template(arguments: str, more: str = "") -> str:
    return HEAD + CALLS.replace("ARGUMENTS", arguments) + more + "<|im_end|>" + TAIL


ARGUMENTS = "c.function.arguments"
JSON = template(f"{ARGUMENTS} | tojson")
EITHER = template(f"{ARGUMENTS} if {ARGUMENTS} is string else {ARGUMENTS} | tojson")
MAPPED = template(f"{ARGUMENTS} | items | list | length")
LOOPED = template(f"{ARGUMENTS}.items() | list | length")


def found(folder: Path, old: str, new: str) -> dict[str, Finding]:
    report = kit.judge(folder, model(old), model(new))
    return {each.rule: each for each in report.findings if each.rule in ("CHT-DIFF", "CHT-ERR")}


def test_text_that_is_quoted_again_is_a_witness(tmp_path: Path) -> None:
    for name, old, new in (("1", EITHER, JSON), ("2", JSON, EITHER)):
        finding = found(tmp_path / name, old, new)["CHT-DIFF"]
        assert (finding.level, finding.witness and finding.witness["kind"]) == ("restart", "render")
        assert f"renders 2 of {len(CASES)} conversations differently" in finding.message


def test_text_that_fails_where_it_rendered_is_no_certain_break(tmp_path: Path) -> None:
    finding = found(tmp_path, template(f"{ARGUMENTS} | length"), MAPPED)["CHT-ERR"]
    assert finding.level == "unproven"
    assert "fails on 2 conversations that the old one renders: a call's arguments as text: TypeError" in finding.message


def test_text_that_fails_on_both_sides_is_no_finding(tmp_path: Path) -> None:
    assert found(tmp_path / "1", MAPPED, MAPPED + "{# note #}") == {}
    finding = found(tmp_path / "2", MAPPED, LOOPED)["CHT-DIFF"]
    assert finding.level == "unproven"
    shared = len(CASES) - len(WIRE)
    assert f"renders the {shared} of {len(CASES)} conversations that both render alike" in finding.message


def test_text_that_renders_where_it_failed_asks_for_a_restart(tmp_path: Path) -> None:
    new = template(f"{ARGUMENTS} if {ARGUMENTS} is string else {ARGUMENTS} | items | list | length")
    finding = found(tmp_path, MAPPED, new)["CHT-DIFF"]
    assert finding.level == "restart"
    assert (
        "renders 2 conversations at which the old one fails: a call's arguments as text: TypeError" in finding.message
    )
    assert finding.witness is not None
    assert finding.witness["case"] == WIRE[0].name


def test_objects_that_fail_still_break(tmp_path: Path) -> None:
    assert found(tmp_path, JSON, template(f"{ARGUMENTS} + ''"))["CHT-ERR"].level == "breaks"


@pytest.mark.parametrize("new", [JSON, JSON.replace("m.tool_calls", "m['tool_calls']"), JSON + "{# saved again #}"])
def test_the_same_calls_are_hot(tmp_path: Path, new: str) -> None:
    assert found(tmp_path, JSON, new) == {}


def test_a_template_that_never_renders_is_said_to(tmp_path: Path) -> None:
    finding = found(tmp_path, "{{ functions + '' }}", "{{ functions + 'x' }}")["CHT-DIFF"]
    assert finding.level == "unproven"
    assert "renders no conversation, nor did the old one, and differs at its line 1" in finding.message


def test_with_tools_the_text_is_rendered_too() -> None:
    assert WIRE[0] in WITH_TOOLS
    assert all(case in CASES for case in WIRE)


SET = (
    "{% for m in messages %}{% if m.content is string %}{% set content = m.content %}{% else %}{% set content = '' %}"
    "{% endif %}{{ content }}{% endfor %}"
)
ASKED = "{% if not day is defined %}{% set day = 'x' %}{% endif %}{% if style is defined %}{{ style }}{% endif %}"


def test_variables_that_the_template_sets_are_none_that_clients_send(tmp_path: Path) -> None:
    old = "{% for m in messages %}{{ m.content }}{% endfor %}"
    names = "{% macro say(text) %}{{ text }}{% endmacro %}{% set ns = namespace(a='') %}{{ ns.a }}{{ say('') }}"
    for name, more, variables in (
        ("1", SET, ""),
        ("2", names, ""),
        ("3", "{{ bos_token[:0] }}{% if not add_generation_prompt is defined %}{% endif %}", ""),
        ("4", ASKED, "day, style"),
        ("5", "{% if k %}{% endif %}{{ tone | default('') }}", "k, tone"),
    ):
        new = more if more is SET else old + more
        report = kit.judge(tmp_path / name, model(old), model(new))
        said = [each.message for each in report.findings if each.rule == "CHT-KWARG"]
        assert said == ([f"the template 'default' takes new variables: {variables}"] if variables else []), name
