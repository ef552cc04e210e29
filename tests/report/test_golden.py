"""What a person and a script read, letter by letter. `UPDATE_GOLDEN=1 pytest tests/report` rewrites the files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from interlock.report import formats
from interlock.report.report import Report
from interlock.report.summary import verdict_line
from interlock.version import __version__

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", formats.NAMES)
def test_output_is_as_written_down(sample: tuple[str, Report], name: str) -> None:
    which, report = sample
    text = formats.render(name, report).replace(f'"{__version__}"', '"VERSION"')
    file = GOLDEN / f"{which}.{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_colour_changes_no_letter(sample: tuple[str, Report]) -> None:
    import re

    _, report = sample
    for name in ("human", "concise"):
        plain = formats.render(name, report)
        coloured = formats.render(name, report, formats.View(colour=True))
        assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_every_format_ends_in_one_newline(sample: tuple[str, Report]) -> None:
    _, report = sample
    for name in formats.NAMES:
        text = formats.render(name, report)
        assert text.endswith("\n") and not text.endswith("\n\n")


def test_the_verdict_is_the_last_line(sample: tuple[str, Report]) -> None:
    _, report = sample
    if report.error is None:
        for name in ("human", "concise"):
            assert formats.render(name, report).splitlines()[-1] == verdict_line(report)


def test_rules_link_to_the_published_documentation(monkeypatch: pytest.MonkeyPatch, samples: dict[str, Report]) -> None:
    monkeypatch.setenv("INTERLOCK_DOCS_URL", "https://docs.example/interlock/")
    assert "[HU604](<https://docs.example/interlock/rules/HU604.md>)" in formats.render("markdown", samples["lint"])
    assert '"helpUri": "https://docs.example/interlock/rules/HU604.md"' in formats.render("sarif", samples["lint"])
