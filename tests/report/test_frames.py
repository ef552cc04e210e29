"""Code frames: carets under what is meant, whatever the line looks like; never a hang, never a crash."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interlock.report.finding import Location
from interlock.report.frames import Frames
from interlock.report.style import Style

PLAIN = Style(False)


def _frame(path: Path, line: int, column: int | None = None, end: int | None = None) -> list[str]:
    return Frames().frame(Location(str(path), line, column, line if end else None, end), PLAIN)


def test_carets_stand_under_the_text(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("image: vllm\n", encoding="utf-8")
    assert _frame(file, 1, 8, 12) == [" 1 | image: vllm", "   |        ^^^^"]
    assert _frame(file, 1, 8) == [" 1 | image: vllm", "   |        ^^^^"]
    assert _frame(file, 1) == [" 1 | image: vllm"]


@pytest.mark.parametrize(
    ("text", "column", "end", "carets"),
    [
        ("名前: x", 5, 6, "      ^"),  # wide characters take two columns
        ("\tx: y", 2, 3, "\t^"),
        ("a\x1bb: y", 4, 5, "      ^"),  # shown as \x1b
        ("x", 1, 1, "^"),
        ("x", 1, 9, "^"),
    ],
)
def test_carets_follow_what_is_shown(text: str, column: int, end: int, carets: str, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text(text, encoding="utf-8")
    assert _frame(file, 1, column, end)[1] == f"   | {carets}"


def test_a_long_line_is_shown_around_the_column(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("x" * 5000 + "HERE" + "y" * 5000)
    source, carets = _frame(file, 1, 5001, 5005)
    assert len(source) < 160 and source[carets.index("^") : carets.rindex("^") + 1] == "HERE"


def test_positions_outside_of_the_file_draw_no_caret(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("one\n")
    assert _frame(file, 9, 1) == [] and _frame(file, 0, 1) == []
    assert _frame(file, 1, 99) == [" 1 | one"] and _frame(file, 1, 0) == [" 1 | one"]


def test_what_is_no_text_file_draws_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with (tmp_path / "big").open("wb") as stream:
        stream.truncate(20 << 20)
    for name in ("pipe", "folder", "big", "absent", "nul\0"):
        assert _frame(tmp_path / name, 1, 1) == []
    assert _frame(Path("/dev/zero"), 1, 1) == []


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=300), line=st.integers(-1, 5), column=st.integers(-1, 400), end=st.integers(-1, 400))
def test_any_position_in_any_text(text: str, line: int, column: int, end: int, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    for shown in Frames().frame(Location(str(file), line, column, line, end), PLAIN):
        assert "\n" not in shown and "\x1b" not in shown and len(shown) < 2000
