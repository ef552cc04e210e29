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
    seconds: float = 60.0,
    threads: int = 1,
    seed: int = 0,
    config: str | None = None,
    progress: Progress = lambda _: None,
) -> Report:
    """Latency, throughput, load time and memory of an ONNX model; with `against`, whether it is slower than allowed.

    `model` and `against` are files or folders with one ONNX file; `names` is what to call them in the report. What is
    not given comes from interlock.yaml: `bench.providers`, `bench.inputs`, `contract.domains`,
    `bench.max_regression` (percentile -> percentage) and `bench.rounds`. A comparison that is not decided is a
    finding: it does not pass. Raises BadInput and Refused as `benchmark.run` does.
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
            raise BadInput(f"{option} {value}", f"must be at least {least}")
    if not 1 <= seconds <= 86400:
        raise BadInput(f"--seconds {seconds:g}", "must be from 1 to 86400")
    if threads < 0:
        raise BadInput(f"--threads {threads}", "must be 0 (one per core) or more")
    how = room.Settings(
        providers=tuple(providers or settings.bench.providers),
        shapes={**settings.bench.inputs, **(shapes or {})},
        domains={**settings.contract.domains, **(domains or {})},
        margins=margins(max_regression or settings.bench.max_regression),
        rounds=count,
        max_rounds=most,
        requests=requests,
        seconds=seconds,
        threads=threads,
        seed=seed,
    )
    new, old = onnx_file(model), onnx_file(against) if against else None
    outcome = room.run(new, old, how, progress)
    shown = names or (model, against or "")
    called = {room.NEW: shown[0]} if old is None else {room.NEW: shown[0], room.OLD: shown[1]}
    return report(outcome, how, called)
