"""`interlock render`."""

from __future__ import annotations

from typing import Annotated

import typer

from ..templates.versions import DEFAULT
from .emit import run
from .options import Color, Output, OutputFormat, Outputs

_COMPARE = "Compare and write"


def render(
    profile: Annotated[str, typer.Argument(metavar="PROFILE", help="vllm, triton or onnxruntime")],
    *,
    values: Annotated[str | None, typer.Option("--values", metavar="FILE", help="YAML file of values")] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="one value over the file, such as model.version=1.4.0; repeatable"
        ),
    ] = None,
    kube_version: Annotated[
        str, typer.Option("--kube-version", metavar="VERSION", help="oldest cluster to serve; decides on newer fields")
    ] = DEFAULT,
    show_values: Annotated[bool, typer.Option("--show-values", help="print all values with their defaults")] = False,
    output_dir: Annotated[
        str | None,
        typer.Option("--output-dir", metavar="DIR", help="write a file an object", rich_help_panel=_COMPARE),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(
            "--check", metavar="DIR", help="exit 1 where DIR is not what would be rendered", rich_help_panel=_COMPARE
        ),
    ] = None,
    diff: Annotated[
        str | None,
        typer.Option("--diff", metavar="DIR", help="the same, and print the difference", rich_help_panel=_COMPARE),
    ] = None,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Print Kubernetes manifests for a model server that can be updated under traffic.

    A Deployment whose init container pulls the model by digest and verifies its signature, Service,
    PodDisruptionBudget, NetworkPolicy, ServiceAccount, PodMonitor and the ConfigMap that says who may sign. Images and
    models are named by digest; tags are refused.

    \b
    interlock render vllm --values values.yaml | kubectl apply -f -
    interlock render vllm --values values.yaml --set model.version=1.4.0 --output-dir deploy/
    interlock render vllm --values values.yaml --check deploy/
    interlock render vllm --show-values
    """
    from ..report.errors import BadInput
    from ..report.report import Report
    from ..templates.reference import describe
    from .manifests import render as verb

    def call() -> Report:
        if show_values:
            return describe()
        if sum(option is not None for option in (output_dir, check, diff)) > 1:
            raise BadInput(
                "--output-dir, --check, --diff", "only one of them can be given", hint="run it once for each"
            )
        return verb(
            profile,
            values_file=values,
            sets=sets or (),
            kube_version=kube_version,
            output_dir=output_dir,
            check=check,
            diff=diff,
        )

    return run("render", Outputs(output_format, tuple(output or ()), color), call)
