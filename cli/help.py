"""The top-level help, drawn from the command table without loading typer or any command."""

from __future__ import annotations

import sys

from ..report import exits
from ..report.style import Style, wants_colour
from .table import COMMANDS

USAGE = "usage: interlock [--version] [--help] COMMAND [ARGS]..."


def overview(colour: bool) -> str:
    """Purpose, usage, commands by group, and where to look next."""
    style = Style(colour)
    lines = ["The release gate for hot-swapped ML models: nothing moves until every guard has closed.", "", USAGE]
    group = ""
    for command in COMMANDS:
        if command.group != group:
            group = command.group
            lines += ["", style(group, "bold")]
        lines.append(f"  {style(command.name.ljust(10), 'cyan')} {command.summary}")
    lines += [
        "",
        style("Options", "bold"),
        f"  {style('--version', 'cyan')}  print the version",
        f"  {style('-h, --help', 'cyan')} this help; interlock COMMAND --help has options and examples",
        "",
        "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in exits.MEANING.items()),
    ]
    return "\n".join(lines)


def print_overview() -> None:
    """Write the overview to stdout."""
    sys.stdout.write(overview(wants_colour("auto", sys.stdout)) + "\n")
