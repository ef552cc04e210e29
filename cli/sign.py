"""`interlock sign`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from .emit import run
from .options import Color, Output, OutputFormat, Outputs


def sign(
    model: Annotated[str | None, typer.Argument(metavar="MODEL", help="model directory or file")] = None,
    *,
    key: Annotated[str | None, typer.Option("--key", "-k", metavar="FILE", help="private key in PEM form")] = None,
    password: Annotated[
        str | None,
        typer.Option("--password", help="password of the key; better given as INTERLOCK_SIGN_PASSWORD"),
    ] = None,
    certificate: Annotated[
        list[str] | None,
        typer.Option("--certificate", metavar="FILE", help="certificate of the key, then its issuers; repeatable"),
    ] = None,
    pkcs11: Annotated[
        str, typer.Option("--pkcs11", metavar="URI", help="key on a token, as an RFC 7512 URI; --password is the PIN")
    ] = "",
    keyless: Annotated[
        bool,
        typer.Option("--keyless", help="sign as an OIDC identity: CI's, INTERLOCK_SIGN_IDENTITY_TOKEN, or browser"),
    ] = False,
    identity_token: Annotated[
        str, typer.Option("--identity-token", help="OIDC token; better given as INTERLOCK_SIGN_IDENTITY_TOKEN")
    ] = "",
    trust_config: Annotated[
        str,
        typer.Option("--trust-config", metavar="FILE", help="ClientTrustConfig of a Sigstore that is not public-good"),
    ] = "",
    timestamp_url: Annotated[
        str, typer.Option("--timestamp-url", metavar="URL", help="RFC 3161 authority that witnesses the time")
    ] = "",
    generate_key: Annotated[
        str | None,
        typer.Option(
            "--generate-key", metavar="NAME", help="make NAME.key and NAME.pub first (P-256), and sign with it"
        ),
    ] = None,
    signature: Annotated[
        str | None, typer.Option("--signature", "-s", metavar="FILE", help="bundle to write; default MODEL/model.sig")
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="PATH", help="leave a path below MODEL uncovered; recorded; repeatable"),
    ] = None,
    cover_git: Annotated[
        bool, typer.Option("--cover-git", help="sign .git, .gitattributes, .github and .gitignore too")
    ] = False,
    name: Annotated[str, typer.Option("--name", help="model name to sign; default the directory's name")] = "",
    model_version: Annotated[str, typer.Option("--model-version", help="version to sign, against rollback")] = "",
    tensor_digests: Annotated[
        bool, typer.Option("--tensor-digests", help="record a digest of each tensor of safetensors files")
    ] = False,
    resolve: Annotated[
        Literal["none", "hf-cache"],
        typer.Option("--resolve", help="layout whose links are files: a snapshot of the Hugging Face cache"),
    ] = "none",
    sha256_only: Annotated[bool, typer.Option("--sha256-only", help="no BLAKE3 digests beside SHA-256")] = False,
    compat: Annotated[
        Literal["oms-1.0", "model-signing-1.1"],
        typer.Option("--compat", help="how a single-file model is named; model-signing-1.1 writes '.'"),
    ] = "oms-1.0",
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Sign a model directory or file (OpenSSF Model Signing v1.0, Sigstore bundle).

    interlock sign --generate-key release

    interlock sign model/ --key release.key

    interlock sign model/ --key release.key --certificate leaf.pem --certificate intermediate.pem

    interlock sign model/ --keyless
    """
    from ..signing.meter import meter
    from ..signing.run import sign as verb

    progress = meter()
    return run(
        "sign",
        Outputs(output_format, tuple(output or ()), color),
        lambda: verb(
            model,
            key=key,
            password=password,
            generate=generate_key,
            certificates=certificate or (),
            pkcs11=pkcs11,
            keyless=keyless,
            identity_token=identity_token,
            trust_config=trust_config,
            timestamp_url=timestamp_url,
            output=signature,
            ignore=ignore or (),
            cover_git=cover_git,
            name=name,
            version=model_version,
            side_digests=not sha256_only,
            tensor_digests=tensor_digests,
            resolve=resolve if resolve != "none" else "",
            compat=compat,
            progress=progress,
        ),
    )
