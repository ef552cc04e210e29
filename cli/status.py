"""`interlock status`."""

from __future__ import annotations

from typing import Annotated

import typer

from .emit import run
from .options import Color, Config, Output, OutputFormat, Outputs


def status(
    stage: Annotated[str, typer.Option("--stage", "-s", metavar="STAGE", help="only this stage")] = "",
    *,
    verify: Annotated[bool, typer.Option("--verify", help="also hash every byte that is served")] = False,
    config: Config = None,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Show what each stage has, and whether its tag, its serving side and the ledger agree. Exit 1 when one moved.

    interlock status

    interlock status --stage prod --verify -f json
    """
    from ..release.run import status as verb

    return run(
        "status",
        Outputs(output_format, tuple(output or ()), color),
        lambda: verb(stage, verify=verify, config=config),
    )
