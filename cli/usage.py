"""`interlock COMMAND --help` without rich: grouped options, choices, environment variables, examples as written."""

from __future__ import annotations

import inspect
import sys
import textwrap
from typing import Any

from typer.core import TyperCommand

from ..report.style import Style, wants_colour

_COLUMN = 30
_WIDTH = 100
_LAST = "Output"
# Holds `[env: NAME]` together while lines are wrapped.
_GLUE = "\x1f"


class HelpCommand(TyperCommand):
    """A command whose help is drawn here."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """`usage: interlock verify [OPTIONS] MODEL`."""
        arguments = [param for param in self.get_params(ctx) if param.param_type_name == "argument"]
        words = [self.options_metavar, *(_name(p) if p.required else f"[{_name(p)}]" for p in arguments)]
        formatter.write(f"usage: {ctx.command_path} {' '.join(filter(None, words))}\n")

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Paragraphs are wrapped; those with a marker or an indented line, and command lines, stay as they are."""
        del ctx
        text = inspect.cleandoc(self.help or "").partition("\f")[0]
        for paragraph in text.split("\n\n"):
            lines = [line for line in paragraph.split("\n") if line.strip() != "\b"]
            raw = len(lines) < len(paragraph.split("\n")) or any(line.startswith("  ") for line in lines[1:])
            raw = raw or paragraph.startswith(("interlock ", "$ "))
            body = "\n".join(lines) if raw else textwrap.fill(paragraph, _width(formatter))
            formatter.write(f"\n{body}\n" if body.strip() else "")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments first, then the groups in the order they are declared, output last."""
        groups: dict[str, list[Any]] = {}
        for param in self.get_params(ctx):
            if not getattr(param, "hidden", False):
                argument = param.param_type_name == "argument"
                default = "Arguments" if argument else "Options"
                groups.setdefault(getattr(param, "rich_help_panel", None) or default, []).append(param)
        style = Style(wants_colour("auto", sys.stdout))
        for name in sorted(groups, key=lambda group: (group == _LAST, group != "Arguments")):
            formatter.write(f"\n{style(name, 'bold')}\n")
            for param in groups[name]:
                formatter.write(_entry(param, ctx, style, _width(formatter)))


def _width(formatter: Any) -> int:
    return min(formatter.width + 2, _WIDTH)


def _choices(param: Any) -> list[str]:
    return [str(choice) for choice in getattr(param.type, "choices", ())]


def _name(param: Any) -> str:
    """What stands for an argument or an option's value."""
    many = "..." if param.param_type_name == "argument" and param.nargs != 1 else ""
    if param.metavar:
        # Whether an argument may be left out or repeated is said by the usage line; some say it in the name, too.
        name = param.metavar.strip("[].") if many else param.metavar
        return name + many
    choices = _choices(param)
    if choices and len("|".join(choices)) <= 24:
        return "|".join(choices)
    if getattr(param.type, "name", "") in ("integer", "float"):
        return "N"
    return param.name.upper().replace("_", "-") + many


def _entry(param: Any, ctx: Any, style: Style, width: int) -> str:
    """An argument or option: names in the first column, text, default and variable in the second."""
    argument = param.param_type_name == "argument"
    if argument:
        head = shown = _name(param)
    else:
        names = ", ".join(sorted([*param.opts, *param.secondary_opts], key=lambda option: (option[:2] == "--", option)))
        value = "" if param.is_flag or param.count else f" {_name(param)}"
        head, shown = names + value, style(names, "cyan") + value
    wrapped = textwrap.wrap(_describe(param, ctx), max(30, width - _COLUMN - 2), break_on_hyphens=False)
    text = [line.replace(_GLUE, " ") for line in wrapped] or [""]
    fits = len(head) <= _COLUMN - 2
    lines = (
        [f"  {shown}{' ' * (_COLUMN - len(head))}{text[0]}"] if fits else [f"  {shown}", f"  {' ' * _COLUMN}{text[0]}"]
    )
    lines += [f"  {' ' * _COLUMN}{line}" for line in text[1:]]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _describe(param: Any, ctx: Any) -> str:
    parts = ["print this help" if param.name == "help" else (param.help or "")]
    choices = _choices(param)
    if choices and (param.metavar or len("|".join(choices)) > 24):
        parts.append(f"({', '.join(choices)})")
    default = param.default
    if (
        isinstance(default, str | int | float)
        and not isinstance(default, bool)
        and default != ""
        and param.show_default
    ):
        parts.append(f"[default:{_GLUE}{default}]")
    given: list[str] = [param.envvar] if isinstance(param.envvar, str) else list(param.envvar or ())
    if not given and param.param_type_name == "option" and param.name != "help" and ctx.auto_envvar_prefix:
        given = [f"{ctx.auto_envvar_prefix}_{param.name.upper()}"]
    parts += [f"[env:{_GLUE}{name}]" for name in given]
    return " ".join(filter(None, parts))
