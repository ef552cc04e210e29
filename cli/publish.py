"""`interlock publish`."""

from __future__ import annotations

from typing import Annotated

import typer

from .emit import run
from .options import Color, Config, Output, OutputFormat, Outputs


def publish(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="model directory, model file or reference")],
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="oci-layout:PATH:TAG, directory:PATH or oci://HOST/REPOSITORY:TAG"),
    ] = "",
    *,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", "-t", metavar="TAG", help="a further tag; repeatable")
    ] = None,
    config: Config = None,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Push a model version and print its digest. It is there whole or not at all; what is there is not sent again.

    Without TARGET it goes to the registry of interlock.yaml. The digest follows from the files alone.

    interlock publish model/ oci-layout:registry:1.4.0

    interlock publish model/ directory:/srv/models
    """
    from ..release.run import publish as verb

    return run(
        "publish",
        Outputs(output_format, tuple(output or ()), color),
        lambda: verb(model, target, tags=tags or (), config=config),
    )
