"""Numbers in names and keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interlock.models.numerals import whole


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_a_few_digits_are_a_number(text: str, number: int) -> None:
    assert whole(text) == number


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1.0", "1_0", "\u00b2", "\u0661", "9" * 19, "9" * 5000, "x"])
def test_anything_else_is_none(text: str) -> None:
    assert whole(text) is None


@given(st.text(max_size=30))
def test_no_text_raises(text: str) -> None:
    assert whole(text) in (None, int(text) if text.isdecimal() else None)
