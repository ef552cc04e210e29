"""Help that a person reads: topics made from the code's own tables, and one layout for every command."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from interlock.cli import options, topics
from interlock.cli.command import run
from interlock.cli.table import BY_NAME, COMMANDS, TOPICS
from interlock.report import exits, formats


def _exists(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(f"interlock.cli.{BY_NAME[name].module}") is not None


PRESENT = [command.name for command in COMMANDS if _exists(command.name)]


def test_exit_codes_topic_is_the_table() -> None:
    text = topics.text("exit-codes")
    for code, meaning in exits.MEANING.items():
        assert re.search(rf"^ +{code}  {re.escape(meaning)}$", text, re.MULTILINE)


def test_overview_has_every_command_and_exit_code() -> None:
    from interlock.cli.help import overview

    text = overview(colour=False)
    assert all(f"\n  {command.name.ljust(10)} {command.summary}" in text for command in COMMANDS)
    assert all(f"{code} {meaning}" in text for code, meaning in exits.MEANING.items())


def test_overview_names_every_topic_and_every_topic_has_its_text() -> None:
    from interlock.cli.help import overview

    line = next(line for line in overview(colour=False).splitlines() if line.startswith("  help "))
    assert all(name in line for name in TOPICS) and len(line) <= 100
    assert all(topics.text(name) for name in TOPICS)


def test_environment_topic_names_every_shared_variable() -> None:
    declared = {
        option.envvar
        for value in vars(options).values()
        for option in getattr(value, "__metadata__", ())
        if getattr(option, "envvar", None)
    }
    assert declared == set(options.SHARED)
    assert all(name in topics.text("environment") for name in declared)


def test_outputs_topic_names_every_format() -> None:
    assert all(name in topics.text("outputs") for name in formats.NAMES)


@pytest.mark.parametrize("topic", list(TOPICS))
def test_topics_fit_a_terminal(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(BY_NAME["help"], [topic]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 92


def test_unknown_topic_suggests(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(BY_NAME["help"], ["exitcodes"]) == 2
    assert capsys.readouterr().err == "error: no topic or command 'exitcodes'\nhint: did you mean 'exit-codes'?\n"


@pytest.mark.parametrize("name", PRESENT)
def test_command_help(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert run(BY_NAME[name], ["--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: interlock {name} ")
    assert max(map(len, text.splitlines())) <= 100
    assert "\b" not in text and "\x1f" not in text and "\x1b" not in text
    assert "print this help" in text


def test_help_of_a_command_groups_its_options(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    name = next(name for name in PRESENT if "output_format" in _annotations(name))
    run(BY_NAME[name], ["--help"])
    text = capsys.readouterr().out
    output = text[text.index("\nOutput\n") :]
    assert "-f, --output-format FORMAT" in output and "[env: INTERLOCK_OUTPUT_FORMAT]" in output


def _annotations(name: str) -> dict[str, object]:
    module = import_module(f"interlock.cli.{BY_NAME[name].module}")
    return getattr(module, name.replace("-", "_")).__annotations__


def test_a_wrong_option_gives_two_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(BY_NAME["schema"], ["--hepl"]) == 2
    assert capsys.readouterr().err == "error: unknown option '--hepl'\nhint: did you mean '--help'?\n"
