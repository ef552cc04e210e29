"""`interlock gate`."""

from __future__ import annotations

from typing import Annotated

import typer

from .emit import run
from .options import Color, Config, Output, OutputFormat, Outputs


def gate(
    model: Annotated[
        str, typer.Argument(metavar="VERSION", help="published version: reference, tag, digest or its files")
    ] = "",
    *,
    stage: Annotated[str, typer.Option("--stage", "-s", metavar="STAGE", help="whose gates to run")],
    key: Annotated[str, typer.Option("--key", "-k", metavar="FILE", help="private key to sign the evidence with")] = "",
    password: Annotated[
        str,
        typer.Option("--password", envvar="INTERLOCK_SIGN_PASSWORD", help="password of the key; better by variable"),
    ] = "",
    config: Config = None,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Run the gates that a stage asks for on the published bytes, and keep the evidence for exactly this digest.

    Without VERSION it is the model of interlock.yaml, which must have been published. A gate that cannot run has not
    passed.

    interlock gate --stage prod

    interlock gate --stage prod 1.4.0 --key release.key
    """
    from ..release.run import gate as verb

    return run(
        "gate",
        Outputs(output_format, tuple(output or ()), color),
        lambda: verb(stage, model, key=key, password=password, config=config),
    )
