"""The output formats by name; a format's file is imported when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from .report import Report

# Each of these modules has `render(report, view) -> str`.
NAMES = ("human", "concise", "json", "sarif", "github", "gitlab", "junit", "markdown")


@dataclass(frozen=True, slots=True)
class View:
    """How to draw: colour or not, terminal width in characters, and whether to show suppressed findings."""

    colour: bool = False
    width: int = 100
    show_suppressed: bool = False


def render(name: str, report: Report, view: View | None = None) -> str:
    """The report in format `name`, ending in a newline unless empty. Raises KeyError on an unknown name."""
    if name not in NAMES:
        raise KeyError(name)
    text: str = import_module(f".{name}", __package__).render(report, view or View())
    return text if not text or text.endswith("\n") else text + "\n"
