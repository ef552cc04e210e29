"""`interlock drill`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from .emit import run
from .options import Color, Output, OutputFormat, Outputs

_REQUEST = "Request"
_LOAD = "Load"
_TRUTH = "Which version answered"
_LIMITS = "What a swap may cost"


def drill(  # noqa: PLR0917 - typer passes them by name
    url: Annotated[str, typer.Argument(metavar="URL", help="what clients call, such as http://host:8000/v2/…/infer")],
    swap: Annotated[str, typer.Option(metavar="CMD", help="shell command that swaps the model")],
    data: Annotated[
        str, typer.Option(metavar="TEXT|@FILE", help="body of every request", rich_help_panel=_REQUEST)
    ] = "",
    method: Annotated[str, typer.Option(help="default: POST with a body, else GET", rich_help_panel=_REQUEST)] = "",
    header: Annotated[
        list[str] | None, typer.Option(metavar="NAME: VALUE", help="repeatable", rich_help_panel=_REQUEST)
    ] = None,
    ca: Annotated[str, typer.Option(metavar="FILE", help="CA certificates for https", rich_help_panel=_REQUEST)] = "",
    timeout: Annotated[float, typer.Option(help="seconds to wait for an answer", rich_help_panel=_REQUEST)] = 10,
    rate: Annotated[float, typer.Option(help="requests per second", rich_help_panel=_LOAD)] = 50,
    arrivals: Annotated[
        Literal["poisson", "constant"], typer.Option(help="spacing of requests", rich_help_panel=_LOAD)
    ] = "poisson",
    connections: Annotated[int, typer.Option(help="kept-alive connections", rich_help_panel=_LOAD)] = 16,
    before: Annotated[float, typer.Option(help="seconds of load before the swap", rich_help_panel=_LOAD)] = 10,
    after: Annotated[float, typer.Option(help="seconds of load after its command", rich_help_panel=_LOAD)] = 5,
    swap_timeout: Annotated[float, typer.Option(help="seconds that the command may take", rich_help_panel=_LOAD)] = 300,
    seed: Annotated[int, typer.Option(help="seed of the arrivals", rich_help_panel=_LOAD)] = 0,
    fingerprint: Annotated[
        str,
        typer.Option(metavar="POINTER", help="/json/pointer, header:NAME or body", rich_help_panel=_TRUTH),
    ] = "body",
    expect: Annotated[
        str, typer.Option(metavar="VALUE", help="fingerprint of the new version", rich_help_panel=_TRUTH)
    ] = "",
    label: Annotated[
        str, typer.Option(metavar="POINTER", help="where the answer names its version", rich_help_panel=_TRUTH)
    ] = "",
    max_failed: Annotated[int, typer.Option(help="requests lost", rich_help_panel=_LIMITS)] = 0,
    max_stale: Annotated[int, typer.Option(help="old answers after the first new one", rich_help_panel=_LIMITS)] = 0,
    max_frozen: Annotated[int, typer.Option(help="requests that stood still", rich_help_panel=_LIMITS)] = 0,
    stall_ms: Annotated[
        float, typer.Option(help="when a request counts as frozen; 0 is 10 x P99 before", rich_help_panel=_LIMITS)
    ] = 0,
    max_spike: Annotated[float, typer.Option(help="P99 during / before; 0 allows any", rich_help_panel=_LIMITS)] = 0,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Load a live server while it swaps, and count what users lost.

    Requests leave when they are due whatever became of the earlier ones, without retries; latency counts from then.
    The version is told by a fingerprint of the answer, not by what the server claims. Exit code 1 when requests were
    lost, stale or frozen, or when nothing shows that the new version serves.

    \b
    interlock drill http://127.0.0.1:8000/predict --data @request.json \\
        --fingerprint /version --swap ./reload.sh
    interlock drill http://127.0.0.1:8000/v2/models/m/infer --data @in.json --rate 200 \\
        --fingerprint /outputs/0/data --label /model_version \\
        --swap 'curl -fsX POST http://127.0.0.1:8000/v2/repository/models/m/load'
    """
    from ..bench.arguments import body, fields
    from ..bench.run import drill as verb
    from ..bench.ticker import Ticker
    from ..report.report import Report

    def go() -> Report:
        with Ticker() as tick:
            return verb(
                url,
                swap,
                rate=rate,
                arrivals=arrivals,
                connections=connections,
                before=before,
                after=after,
                timeout=timeout,
                swap_timeout=swap_timeout,
                method=method,
                headers=fields(header),
                body=body(data),
                ca=ca,
                fingerprint=fingerprint,
                label=label,
                expect=expect,
                max_failed=max_failed,
                max_stale=max_stale,
                max_frozen=max_frozen,
                max_spike=max_spike,
                stall_ms=stall_ms,
                seed=seed,
                progress=tick,
            )

    return run("drill", Outputs(output_format, tuple(output or ()), color), go)
