"""Options that commands share, declared once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import typer

_OUTPUT = "Output"

# Variables of the shared options, for `interlock help environment`; a test compares them with the declarations below.
SHARED = {
    "INTERLOCK_OUTPUT_FORMAT": "format of stdout",
    "INTERLOCK_OUTPUT": "[FORMAT=]FILE pairs, separated by blanks",
    "INTERLOCK_COLOR": "auto, always or never",
    "INTERLOCK_CONFIG": "interlock.yaml to use",
    "INTERLOCK_FAIL_ON": "lowest severity that makes the gate say no",
}

FormatName = Literal["human", "concise", "json", "sarif", "github", "gitlab", "junit", "markdown"]

OutputFormat = Annotated[
    FormatName,
    typer.Option(
        "--output-format",
        "-f",
        metavar="FORMAT",
        envvar="INTERLOCK_OUTPUT_FORMAT",
        help="format of stdout",
        rich_help_panel=_OUTPUT,
    ),
]
Output = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="[FORMAT=]FILE",
        envvar="INTERLOCK_OUTPUT",
        help="write to FILE instead of stdout; with FORMAT= write FILE as well; replaces only reports; repeatable",
        rich_help_panel=_OUTPUT,
    ),
]
Color = Annotated[
    Literal["auto", "always", "never"],
    typer.Option("--color", envvar="INTERLOCK_COLOR", help="colour the output", rich_help_panel=_OUTPUT),
]
Config = Annotated[
    str | None,
    typer.Option(
        "--config", envvar="INTERLOCK_CONFIG", metavar="FILE", help="interlock.yaml to use, instead of the nearest one"
    ),
]
FailOn = Annotated[
    Literal["error", "warning", "info", "never"],
    typer.Option("--fail-on", envvar="INTERLOCK_FAIL_ON", help="lowest severity that makes the gate say no"),
]


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where and how a report goes."""

    format: FormatName = "human"
    files: tuple[str, ...] = ()
    color: str = "auto"
    show_suppressed: bool = False
