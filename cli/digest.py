"""`interlock digest`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from .emit import run
from .options import Color, Output, OutputFormat, Outputs


def digest(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="model directory or file")],
    *,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="PATH", help="leave out a path below MODEL; repeatable")
    ] = None,
    cover_git: Annotated[
        bool, typer.Option("--cover-git", help="count .git, .gitattributes, .github and .gitignore too")
    ] = False,
    resolve: Annotated[
        Literal["none", "hf-cache"], typer.Option("--resolve", help="layout whose links are files")
    ] = "none",
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Print a model's root digest and the digests of its files; the root digest is the name that signatures bind to.

    interlock digest model/

    interlock digest model/ -f json
    """
    from ..signing.look import digest as verb
    from ..signing.meter import meter

    layout = resolve if resolve != "none" else ""
    return run(
        "digest",
        Outputs(output_format, tuple(output or ()), color),
        lambda: verb(model, ignore=ignore or (), cover_git=cover_git, resolve=layout, progress=meter()),
    )
