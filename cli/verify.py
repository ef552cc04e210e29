"""`interlock verify`."""

from __future__ import annotations

from typing import Annotated, Literal

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
    ca: Annotated[
        list[str] | None, typer.Option("--ca", metavar="FILE", help="trusted certificate authorities; repeatable")
    ] = None,
    identity: Annotated[
        str, typer.Option("--identity", metavar="SUBJECT", help="trusted keyless signer, compared exactly")
    ] = "",
    identity_pattern: Annotated[
        str, typer.Option("--identity-pattern", metavar="REGEX", help="what the whole identity must match")
    ] = "",
    issuer: Annotated[str, typer.Option("--issuer", metavar="URL", help="OIDC issuer of --identity")] = "",
    ref: Annotated[str, typer.Option("--ref", help="source ref of --identity, such as refs/heads/main")] = "",
    trust_root: Annotated[
        str, typer.Option("--trust-root", metavar="FILE", help="trusted_root.json or ClientTrustConfig; works offline")
    ] = "",
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", metavar="CODE[=PATH]", help="accept one named reason; shown in the result; repeatable"),
    ] = None,
    into: Annotated[
        str | None,
        typer.Option("--into", metavar="DIR", help="copy the model, verify the copy, and name it DIR if it passes"),
    ] = None,
    receipt: Annotated[
        str | None,
        typer.Option("--receipt", metavar="FILE", help="skip hashing files that FILE says are unchanged; renew it"),
    ] = None,
    receipt_key: Annotated[
        str | None, typer.Option("--receipt-key", metavar="FILE", help="this machine's private key for receipts")
    ] = None,
    password: Annotated[
        str | None, typer.Option("--password", help="of the receipt key; better given as INTERLOCK_VERIFY_PASSWORD")
    ] = None,
    resolve: Annotated[
        Literal["none", "hf-cache"],
        typer.Option("--resolve", help="layout whose links are files: a snapshot of the Hugging Face cache"),
    ] = "none",
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

    interlock verify model/ --key release.pub --into /srv/models/v3

    interlock verify model/ --issuer https://accounts.google.com --identity release@acme.ai
    """
    from ..config.load import load
    from ..config.settings import Identity
    from ..report.report import Report
    from ..signing.meter import meter
    from ..signing.run import verify as verb

    progress = meter()

    def call() -> Report:
        settings = load(config)
        given = identity or identity_pattern or issuer
        rule = Identity(issuer=issuer, subject=identity, subject_pattern=identity_pattern, ref=ref)
        identities = [rule] if given else []
        return verb(
            model,
            signature=signature,
            key=key or (),
            ca=ca or (),
            identities=identities,
            root=trust_root,
            trust=settings.settings.trust,
            base=settings.root,
            allow=allow or (),
            strict_sha256=strict_sha256,
            into=into,
            receipt=receipt,
            receipt_key=receipt_key,
            password=password,
            resolve=resolve if resolve != "none" else "",
            progress=progress,
        )

    return run("verify", Outputs(output_format, tuple(output or ()), color), call)
