"""The verbs of this room: benchmark and drill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..report.errors import BadInput
from ..report.report import Report

Progress = Callable[[str], None]


def benchmark(
    model: str,
    against: str | None = None,
    *,
    names: tuple[str, str] | None = None,
    providers: Sequence[str] = (),
    shapes: Mapping[str, Sequence[int]] | None = None,
    domains: Mapping[str, Sequence[float]] | None = None,
    max_regression: Mapping[str, str] | None = None,
    rounds: int | None = None,
    max_rounds: int | None = None,
    requests: int = 0,
    seconds: float | None = None,
    threads: int = 1,
    seed: int = 0,
    swap: bool = False,
    config: str | None = None,
    progress: Progress = lambda _: None,
) -> Report:
    """Latency, throughput, load time and memory of an ONNX model; with `against`, whether it is slower than allowed.

    `model` and `against` are files or folders with one ONNX file; `names` is what to call them in the report. What is
    not given comes from interlock.yaml: `bench.providers`, `bench.inputs`, `contract.domains`,
    `bench.max_regression` (percentile -> percentage), `bench.rounds` and `bench.seconds`. A comparison that is not
    decided is a finding: it does not pass. With `swap`, ways to swap `against` (or the model itself) for the model
    under load are measured instead. Raises BadInput and Refused as `benchmark.run` does.
    """
    from ..config.load import load
    from . import benchmark as room
    from .locate import onnx_file
    from .present import report
    from .verdict import margins

    settings = load(config).settings
    count = rounds if rounds is not None else settings.bench.rounds
    most = max_rounds if max_rounds is not None else 3 * count
    for option, value, least in (("--rounds", count, 2), ("--max-rounds", most, count), ("--requests", requests, 0)):
        if value < least:
            raise BadInput(f"{option} {value}", f"must be at least {least}", hint=f"write {option} {least} or more")
    time = seconds if seconds is not None else settings.bench.seconds
    if not 1 <= time <= 86400:
        raise BadInput(f"--seconds {time:g}", "must be from 1 to 86400", hint="such as --seconds 20")
    if threads < 0:
        raise BadInput(f"--threads {threads}", "must be 0 (one per core) or more", hint="leave it out for one thread")
    how = room.Settings(
        providers=tuple(providers or settings.bench.providers),
        shapes={**settings.bench.inputs, **(shapes or {})},
        domains={**settings.contract.domains, **(domains or {})},
        margins=margins(max_regression or settings.bench.max_regression),
        rounds=count,
        max_rounds=most,
        requests=requests,
        seconds=time,
        threads=threads,
        seed=seed,
    )
    new, old = onnx_file(model), onnx_file(against) if against else None
    shown = names or (model, against or "")
    called = {room.NEW: shown[0]} if old is None else {room.NEW: shown[0], room.OLD: shown[1]}
    if swap:
        from .swaps import report as swaps

        return swaps(new, old or new, how, called, progress)
    outcome = room.run(new, old, how, progress)
    return report(outcome, how, called)


def drill(
    url: str,
    swap: str,
    *,
    rate: float = 50.0,
    arrivals: str = "poisson",
    connections: int = 16,
    before: float = 10.0,
    after: float = 5.0,
    timeout: float = 10.0,
    swap_timeout: float = 300.0,
    method: str = "",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    ca: str = "",
    fingerprint: str = "body",
    label: str = "",
    expect: str = "",
    max_failed: int = 0,
    max_stale: int = 0,
    max_frozen: int = 0,
    max_spike: float = 0.0,
    stall_ms: float = 0.0,
    seed: int = 0,
    progress: Progress = lambda _: None,
) -> Report:
    """Load a live server at `rate` requests per second, run the shell command `swap` midway, count what users lost.

    `before` and `after` are seconds of load around the command. `fingerprint` (JSON pointer, `header:NAME` or `body`)
    shows which version answered, `label` what the answer calls itself, `expect` the new fingerprint. The `max_*` are
    what the gate allows; `stall_ms` 0 means ten times the P99 before. Raises BadInput on options or a server that
    cannot be used, NeedsAccess when it cannot be reached.
    """
    from . import drill as room
    from .drilled import Limits, report
    from .losses import work_out

    ranges: tuple[tuple[str, float, float, float, float], ...] = (
        ("--rate", rate, 0.1, 20000, 50), ("--connections", connections, 1, 1000, 16),
        ("--before", before, 1, 3600, 10), ("--after", after, 0.5, 3600, 5), ("--timeout", timeout, 0.1, 3600, 10),
        ("--swap-timeout", swap_timeout, 0.1, 86400, 300), ("--max-failed", max_failed, 0, 1e9, 0),
        ("--max-stale", max_stale, 0, 1e9, 0), ("--max-frozen", max_frozen, 0, 1e9, 0),
        ("--max-spike", max_spike, 0, 1e9, 2), ("--stall-ms", stall_ms, 0, 3.6e6, 500),
    )  # fmt: skip
    for option, value, least, most, usual in ranges:
        if not least <= value <= most:
            hint = f"such as {option} {usual:g}"
            raise BadInput(f"{option} {value:g}", f"must be from {least:g} to {most:g}", hint=hint)
    if arrivals not in ("poisson", "constant"):
        raise BadInput(f"--arrivals {arrivals}", "unknown", hint="use poisson or constant")
    for name, value in (headers or {}).items():
        if any(character in name + value for character in "\r\n\0") or not (name + value).isascii():
            raise BadInput(
                f"--header {name!r}", "must be one line of ASCII", hint="encode what is not, such as in base64"
            )
    if not swap.strip():
        raise BadInput("--swap", "is empty", hint="give the command that swaps the model")
    how = room.Settings(
        rate=rate, arrivals=arrivals, connections=connections, before=before, after=after, timeout=timeout,
        swap_timeout=swap_timeout, fingerprint=fingerprint, label=label, seed=seed, method=method,
        headers=headers or {}, body=body, ca=ca,
    )  # fmt: skip
    recording = room.run(url, swap, how, progress)
    losses = work_out(recording, stall_ms=stall_ms, expect=expect)
    return report(url, recording, losses, Limits(max_failed, max_stale, max_frozen, max_spike), how)
