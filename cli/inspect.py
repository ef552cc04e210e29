"""`interlock inspect`."""

from __future__ import annotations

from typing import Annotated

import typer

from .emit import run
from .options import Color, Output, OutputFormat, Outputs


def inspect(
    path: Annotated[str, typer.Argument(metavar="PATH", help="bundle, or signed model")],
    *,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Show what a signature claims, without verifying it.

    interlock inspect model/model.sig
    """
    from ..signing.look import inspect as verb

    return run("inspect", Outputs(output_format, tuple(output or ()), color), lambda: verb(path))
