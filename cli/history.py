"""`interlock history`."""

from __future__ import annotations

from typing import Annotated

import typer

from .emit import run
from .options import Color, Config, Output, OutputFormat, Outputs


def history(
    stage: Annotated[str, typer.Option("--stage", "-s", metavar="STAGE", help="only this stage")] = "",
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="only the newest N requests; 0 for all")] = 0,
    config: Config = None,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Show who moved what, when and why, after verifying the hash chain of the ledger.

    interlock history --stage prod
    """
    from ..release.run import history as verb

    return run(
        "history",
        Outputs(output_format, tuple(output or ()), color),
        lambda: verb(stage, limit=limit, config=config),
    )
