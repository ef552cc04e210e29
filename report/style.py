"""ANSI styling and safe text without a dependency. Everything stays understandable with colour off."""

from __future__ import annotations

import os
from typing import TextIO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


class Style:
    """Wraps text in ANSI codes when `on`, returns it untouched otherwise."""

    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, text: str, *names: str) -> str:
        if not self.on or not text:
            return text
        codes = ";".join(_CODES[name] for name in names)
        return f"\x1b[{codes}m{text}\x1b[0m"


def wants_colour(choice: str, stream: TextIO) -> bool:
    """Whether to colour: `always`, `never`, or `auto` by NO_COLOR (no-color.org), FORCE_COLOR and the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def printable(text: str) -> str:
    """Text with control characters shown as escapes, so that a file cannot write to the terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\t" else c.encode("unicode_escape").decode("ascii") for c in text)


def whole(text: str) -> str:
    """Text without lone surrogates (undecodable file names), which no encoding can write."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text
