"""`interlock rollback`."""

from __future__ import annotations

from typing import Annotated

import typer

from .emit import run
from .options import Color, Config, Output, OutputFormat, Outputs


def rollback(
    stage: Annotated[str, typer.Option("--in", metavar="STAGE", help="the stage to put back")],
    *,
    to: Annotated[str, typer.Option("--to", metavar="REF", help="an earlier good version instead of the last")] = "",
    request_id: Annotated[
        str, typer.Option("--request-id", metavar="ID", help="the same id never moves anything twice")
    ] = "",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="why, for the ledger")] = "",
    config: Config = None,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Put the last good version before the current one back: registry and serving side. An unfinished promotion is
    withdrawn.

    interlock rollback --in prod --reason "P99 doubled"
    """
    from ..release.run import rollback as verb

    return run(
        "rollback",
        Outputs(output_format, tuple(output or ()), color),
        lambda: verb(stage, to=to, request_id=request_id, reason=reason, config=config),
    )
