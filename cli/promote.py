"""`interlock promote`."""

from __future__ import annotations

from typing import Annotated

import typer

from .emit import run
from .options import Color, Config, Output, OutputFormat, Outputs


def promote(
    reference: Annotated[str, typer.Argument(metavar="REF", help="published version: reference, tag or digest")],
    *,
    to: Annotated[str, typer.Option("--to", metavar="STAGE", help="the stage it moves to")],
    request_id: Annotated[
        str, typer.Option("--request-id", metavar="ID", help="the same id never moves anything twice")
    ] = "",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="why, for the ledger")] = "",
    lift_hold: Annotated[
        bool, typer.Option("--lift-hold", help="promote a version again that was rolled back from the stage")
    ] = False,
    config: Config = None,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Move a version to a stage: the tag in the registry and what is served, together or not at all.

    Refuses without passing, fresh evidence for this digest. After a crash, run it again: it finishes what was begun.

    interlock promote 1.4.0 --to prod

    interlock promote oci-layout:registry@sha256:9f86d0… --to prod --request-id release-42
    """
    from ..release.run import promote as verb

    return run(
        "promote",
        Outputs(output_format, tuple(output or ()), color),
        lambda: verb(reference, to, request_id=request_id, reason=reason, lift_hold=lift_hold, config=config),
    )
