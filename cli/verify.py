"""`interlock verify`."""

from __future__ import annotations

from typing import Annotated

import typer

from .emit import run
from .options import Color, Config, Output, OutputFormat, Outputs


def verify(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="model directory or file")],
    *,
    signature: Annotated[
        str | None, typer.Option("--signature", "-s", metavar="FILE", help="bundle; default MODEL/model.sig")
    ] = None,
    key: Annotated[
        list[str] | None, typer.Option("--key", "-k", metavar="FILE", help="trusted public key; repeatable")
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", metavar="CODE[=PATH]", help="accept one named reason; shown in the result; repeatable"),
    ] = None,
    strict_sha256: Annotated[
        bool, typer.Option("--strict-sha256", help="let only SHA-256 digests count, not BLAKE3")
    ] = False,
    config: Config = None,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Verify a signed model: who signed it, and that every byte on disk is what was signed.

    interlock verify model/ --key release.pub

    interlock verify model/   (who may sign is read from trust: in interlock.yaml)
    """
    from ..config.load import load
    from ..report.report import Report
    from ..signing.meter import meter
    from ..signing.run import verify as verb

    progress = meter()

    def call() -> Report:
        settings = load(config)
        return verb(
            model,
            signature=signature,
            key=key or (),
            trust=settings.settings.trust,
            base=settings.root,
            allow=allow or (),
            strict_sha256=strict_sha256,
            progress=progress,
        )

    return run("verify", Outputs(output_format, tuple(output or ()), color), call)
