"""`interlock pull`."""

from __future__ import annotations

from typing import Annotated

import typer

from .emit import run
from .options import Color, Config, Output, OutputFormat, Outputs


def pull(
    reference: Annotated[str, typer.Argument(metavar="REF", help="the version, best by @sha256:DIGEST")],
    directory: Annotated[str, typer.Argument(metavar="DIR", help="a directory that is not there yet, or empty")],
    *,
    verify: Annotated[bool, typer.Option("--verify", help="also verify the signature against trust settings")] = False,
    config: Config = None,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Fetch a version. DIR appears when every byte has been verified, and never before.

    interlock pull oci-layout:registry:1.4.0 ./model

    interlock pull oci-layout:registry@sha256:9f86d0… ./model --verify
    """
    from ..release.run import pull as verb

    return run(
        "pull",
        Outputs(output_format, tuple(output or ()), color),
        lambda: verb(reference, directory, verify=verify, config=config),
    )
