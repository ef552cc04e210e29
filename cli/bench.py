"""`interlock bench`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

import typer

from .emit import run
from .options import Color, Config, Output, OutputFormat, Outputs

_INPUTS = "Inputs"
_METHOD = "Method"


def bench(  # noqa: PLR0917 - typer passes them by name
    model: Annotated[str, typer.Argument(metavar="MODEL", help="an ONNX file, a folder with one, or a reference")],
    against: Annotated[
        str | None, typer.Option("--against", "-a", metavar="OLD", help="the version that serves now, to compare with")
    ] = None,
    max_regression: Annotated[
        list[str] | None,
        typer.Option(metavar="P=PERCENT", help="largest regression allowed, such as p99=10%; repeatable"),
    ] = None,
    provider: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="cuda or cpu, in order of preference; cuda alone never falls back"),
    ] = None,
    swap: Annotated[bool, typer.Option("--swap", help="measure ways to swap OLD for MODEL under load instead")] = False,
    shape: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=N,N,…", help="sizes of an input", rich_help_panel=_INPUTS),
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=V,V,…", help="values that an input may take", rich_help_panel=_INPUTS),
    ] = None,
    seed: Annotated[int, typer.Option(help="seed of the generated inputs", rich_help_panel=_INPUTS)] = 0,
    rounds: Annotated[
        int | None, typer.Option(help="rounds of fresh sessions before the first look", rich_help_panel=_METHOD)
    ] = None,
    max_rounds: Annotated[
        int | None,
        typer.Option(help="rounds to go on for while undecided (default: 3 x rounds)", rich_help_panel=_METHOD),
    ] = None,
    requests: Annotated[int, typer.Option(help="requests per round; 0 fits the time", rich_help_panel=_METHOD)] = 0,
    seconds: Annotated[float | None, typer.Option(help="time for measuring", rich_help_panel=_METHOD)] = None,
    threads: Annotated[int, typer.Option(help="threads per session; 0 is one per core", rich_help_panel=_METHOD)] = 1,
    config: Config = None,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Latency, throughput and memory on ONNX Runtime; with --against, a regression gate.

    Versions take turns request by request in fresh sessions each round, and the old one also runs against itself: a
    machine that cannot tell a model from itself gives no verdict. Undecided is not a pass: exit code 1.

    \b
    interlock bench model.onnx --shape input=1,512 --domain sr=16000
    interlock bench model.onnx --against live/ --max-regression p50=5% --max-regression p99=10%
    interlock bench model.onnx --against live/ --swap      which way to swap disturbs requests least
    """
    from ..bench.arguments import lists, named
    from ..bench.run import benchmark as verb
    from ..bench.ticker import Ticker
    from ..release.reference import open_model
    from ..report.report import Report

    def go() -> Report:
        shapes, domains = lists("--shape", shape, int), lists("--domain", domain, float)
        margins = named("--max-regression", max_regression)
        with ExitStack() as stack:
            tick = stack.enter_context(Ticker())
            paths = [
                str(stack.enter_context(open_model(name)).path) for name in ((model, against) if against else (model,))
            ]
            return verb(
                *paths,
                names=(model, against or ""),
                providers=provider or (),
                shapes=shapes,
                domains=domains,
                max_regression=margins,
                rounds=rounds,
                max_rounds=max_rounds,
                requests=requests,
                seconds=seconds,
                threads=threads,
                seed=seed,
                swap=swap,
                config=config,
                progress=tick,
            )

    return run("bench", Outputs(output_format, tuple(output or ()), color), go)
