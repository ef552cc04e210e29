"""`interlock validate`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, Literal

import typer

from ..models.tree import ModelTree
from .emit import run
from .options import Color, Config, Output, OutputFormat, Outputs


def validate(  # noqa: PLR0917 - typer passes them by name
    new: Annotated[str, typer.Argument(metavar="NEW", help="the new version: a file, a directory or a reference")],
    against: Annotated[
        str | None, typer.Option("--against", "-a", metavar="OLD", help="the version that serves now")
    ] = None,
    fail_on: Annotated[
        Literal["breaks", "restart", "unproven", "any"],
        typer.Option(help="lowest verdict that makes the gate say no; unproven counts as restart"),
    ] = "restart",
    base: Annotated[str | None, typer.Option(metavar="MODEL", help="the base model, where NEW is an adapter")] = None,
    adapter: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="an adapter that serves on the model; repeatable")
    ] = None,
    draft: Annotated[str | None, typer.Option(metavar="MODEL", help="the draft model that speculates for NEW")] = None,
    probe: Annotated[
        bool, typer.Option("--probe", help="also encode every token and adversarial texts with both real tokenizers")
    ] = False,
    run_models: Annotated[
        bool,
        typer.Option(
            "--run",
            envvar="INTERLOCK_VALIDATE_RUN",
            help="also run the ONNX graphs on generated inputs (needs the extra cpu or gpu)",
        ),
    ] = False,
    config: Config = None,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """May NEW replace OLD under traffic? Verdict, proof or witness, and the swap plan.

    Without --against, is NEW consistent in itself? Only headers are read, so size does not matter; what a reference
    names is hashed first.

    interlock validate model.onnx --against live/model.onnx

    interlock validate ./llama-3.1-70b --against oci-layout:registry:prod

    interlock validate hf://acme/encoder --fail-on breaks

    interlock validate ./adapter --against ./adapter-live --base ./llama-3.1-8b
    """
    from ..checks.validate.run import validate as verb
    from ..report.blocks import Text
    from ..report.report import Report

    def go() -> Report:
        with ExitStack() as stack:
            models = [_opened(reference, stack) for reference in ((new, against) if against else (new,))]
            paths, digests = zip(*models, strict=True)
            report = verb(
                paths[0],
                *paths[1:],
                config=config,
                fail_on=fail_on,
                names=(_name(new), _name(against or "")),
                probe=probe,
                base=_opened(base, stack)[0] if base else None,
                adapters=[_opened(each, stack)[0] for each in adapter or ()],
                draft=_opened(draft, stack)[0] if draft else None,
                run=run_models,
            )
            report.facts["digests"] = dict(zip(("new", "old"), digests, strict=False))
            resolved = [f"{name} is {digest}" for name, digest in zip((new, against), digests, strict=False) if digest]
            if resolved:
                report.body.insert(0, Text("\n".join(resolved)))
            return report

    return run("validate", Outputs(output_format, tuple(output or ()), color), go)


def _name(reference: str) -> str:
    """How the report calls a model: credentials in a URL are nobody else's business."""
    if "://" not in reference:
        return reference
    from ..checks.validate.remote import model_name

    return model_name(reference)


def _opened(reference: str, stack: ExitStack) -> tuple[str | ModelTree, str | None]:
    """The path or tree of a path or reference, and the digest a reference resolved to."""
    if reference.startswith(("https://", "http://", "hf://")):
        from ..checks.validate.remote import open_remote

        return stack.enter_context(open_remote(reference)), None
    if reference.partition(":")[0] not in ("oci-layout", "oci", "directory"):
        return reference, None
    from ..release.reference import open_model

    model = stack.enter_context(open_model(reference))
    return str(model.path), model.digest
