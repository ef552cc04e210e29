"""Builds the typer command for one entry of the table and runs it."""

from __future__ import annotations

import sys
from importlib import import_module

import typer
from typer._click.exceptions import ClickException, NoSuchOption

from ..report import exits
from .table import Command
from .usage import HelpCommand


def run(command: Command, args: list[str]) -> int:
    """Parse `args` for `command`, run it, and return the exit code.

    Every option can also come from `INTERLOCK_<COMMAND>_<OPTION>`. Usage errors are two lines on stderr, exit 2.
    """
    function = getattr(import_module(f".{command.module}", __package__), command.name.replace("-", "_"))
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
    app.command(command.name, cls=HelpCommand, context_settings=settings)(function)
    click_command = typer.main.get_command(app)
    prefix = f"INTERLOCK_{command.name.upper().replace('-', '_')}"
    try:
        code = click_command.main(
            args, prog_name=f"interlock {command.name}", standalone_mode=False, auto_envvar_prefix=prefix
        )
    except ClickException as error:
        sys.stderr.write(_usage_error(error, command.name))
        return exits.BAD_INPUT
    except typer.Abort:
        sys.stderr.write("interrupted\n")
        return exits.INTERRUPTED
    if code == exits.INTERRUPTED:  # typer answers Ctrl-C with this code and says nothing
        sys.stderr.write("interrupted\n")
    return code if isinstance(code, int) else exits.PASS


def _usage_error(error: ClickException, name: str) -> str:
    """A usage error in two lines: what is wrong, what to do next."""
    hint = f"see interlock {name} --help"
    message = _lower(error.format_message())
    if isinstance(error, NoSuchOption):
        message = f"unknown option '{error.option_name}'"
        if error.possibilities:
            hint = f"did you mean '{error.possibilities[0]}'?"
    return f"error: {message}\nhint: {hint}\n"


def _lower(message: str) -> str:
    """A click message in our style: lower-case first letter, no final period."""
    message = message.rstrip(".")
    return message[:1].lower() + message[1:]
