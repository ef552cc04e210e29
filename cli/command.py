"""Builds the typer command for one entry of the table and runs it."""

from __future__ import annotations

import sys
from importlib import import_module

import typer
from typer._click.exceptions import ClickException

from ..report import exits
from .table import Command


def run(command: Command, args: list[str]) -> int:
    """Parse `args` for `command`, run it, and return the exit code.

    Every option can also come from `INTERLOCK_<COMMAND>_<OPTION>`. Usage errors are two lines on stderr, exit 2.
    """
    function = getattr(import_module(f".{command.module}", __package__), command.name.replace("-", "_"))
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(command.name, context_settings={"help_option_names": ["-h", "--help"]})(function)
    click_command = typer.main.get_command(app)
    prefix = f"INTERLOCK_{command.name.upper().replace('-', '_')}"
    try:
        code = click_command.main(
            args, prog_name=f"interlock {command.name}", standalone_mode=False, auto_envvar_prefix=prefix
        )
    except ClickException as error:
        sys.stderr.write(f"error: {_lower(error.format_message())}\nhint: see interlock {command.name} --help\n")
        return exits.BAD_INPUT
    except typer.Abort:
        sys.stderr.write("interrupted\n")
        return exits.INTERRUPTED
    return code if isinstance(code, int) else exits.PASS


def _lower(message: str) -> str:
    """A click message in our style: lower-case first letter, no final period."""
    message = message.rstrip(".")
    return message[:1].lower() + message[1:]
