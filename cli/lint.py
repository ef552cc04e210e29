"""`interlock lint`."""

from __future__ import annotations

import gc
from typing import Annotated

import typer

from .emit import run
from .options import Color, Config, FailOn, Output, OutputFormat, Outputs

_RULES, _FIXES, _SHOW = "Rules", "Fixes", "What counts and what is shown"


def lint(  # noqa: PLR0917 - typer passes them by name
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATHS]...", help="files and folders, or - for standard input; default: lint.paths or ."
        ),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="only these rules (id or name) or families", rich_help_panel=_RULES),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="not these rules or families", rich_help_panel=_RULES)
    ] = None,
    pedantic: Annotated[
        bool, typer.Option("--pedantic", help="also run the rules that are off by default", rich_help_panel=_RULES)
    ] = False,
    fix: Annotated[bool, typer.Option("--fix", help="make the safe fixes", rich_help_panel=_FIXES)] = False,
    unsafe_fixes: Annotated[
        bool,
        typer.Option("--unsafe-fixes", help="also fixes that change what is served", rich_help_panel=_FIXES),
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="show what --fix would write, and write nothing", rich_help_panel=_FIXES)
    ] = False,
    baseline: Annotated[
        str, typer.Option(metavar="FILE", help="accepted findings do not count", rich_help_panel=_SHOW)
    ] = "",
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="accept what is found now", rich_help_panel=_SHOW)
    ] = False,
    since: Annotated[
        str,
        typer.Option(metavar="REV", help="only what is new since a Git revision", rich_help_panel=_SHOW),
    ] = "",
    strict: Annotated[
        bool, typer.Option("--strict", help="fail on anything that cannot be read", rich_help_panel=_SHOW)
    ] = False,
    fail_on: FailOn = "warning",
    statistics: Annotated[
        bool, typer.Option("--statistics", help="count findings by rule", rich_help_panel=_SHOW)
    ] = False,
    show_files: Annotated[
        bool, typer.Option("--show-files", help="list the files that were read", rich_help_panel=_SHOW)
    ] = False,
    show_suppressed: Annotated[
        bool, typer.Option("--show-suppressed", help="show silenced findings too", rich_help_panel=_SHOW)
    ] = False,
    values: Annotated[list[str] | None, typer.Option(metavar="FILE", help="values file for Helm charts")] = None,
    sets: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="value for Helm charts")] = None,
    config: Config = None,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Find hot-update anti-patterns in manifests, model repositories and serving code.

    \b
    interlock lint deploy/ serving/
    helm template chart/ | interlock lint -
    interlock lint --diff deploy/            what --fix would change
    interlock lint --since origin/main       only what this change introduced
    interlock explain HU103                  why a rule exists and how to satisfy it
    """
    from ..checks.lint.run import lint as verb
    from ..checks.lint.sources.table import Options
    from ..config.load import load
    from ..report.finding import Severity

    # The process ends with the command: collecting garbage on the way, or once more at the end, gains nothing.
    gc.disable()
    code = run(
        "lint",
        Outputs(output_format, tuple(output or ()), color, show_suppressed),
        lambda: verb(
            paths or (),
            select=select or (),
            ignore=ignore or (),
            pedantic=pedantic,
            strict=strict,
            fail_on=None if fail_on == "never" else Severity(fail_on),
            settings=load(config),
            options=Options(tuple(values or ()), tuple(sets or ())),
            baseline=baseline,
            update_baseline=update_baseline,
            since=since,
            fix=fix,
            unsafe_fixes=unsafe_fixes,
            diff=diff,
            statistics=statistics,
            show_files=show_files,
        ),
    )
    gc.freeze()
    return code
