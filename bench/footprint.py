"""What a model costs to load, measured in a process of its own: a crash there is an answer, and memory starts clean.

Run as `python -m interlock.bench.footprint`; the request comes in as JSON on stdin, the answer is JSON on stdout.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..report.errors import BadInput, InterlockError, NeedsAccess, NothingToCheck, Refused

_ERRORS = {error.__name__: error for error in (BadInput, Refused, NothingToCheck, NeedsAccess, InterlockError)}


@dataclass(slots=True)
class Footprint:
    """A model's cost in a fresh process: milliseconds to load and to answer first, resident memory in bytes.

    `rss_loaded` and `rss_peak` are above the process before loading; `nodes` counts graph nodes per provider.
    """

    provider: str
    placement: str
    load_ms: float
    first_ms: float
    rss_loaded: int
    rss_peak: int
    nodes: dict[str, int] = field(default_factory=dict[str, int])
    on_cpu: list[str] = field(default_factory=list[str])
    failure: dict[str, str] | None = None
    runtime: str = ""
    finite: bool = True


def measure(
    path: str,
    *,
    providers: Sequence[str] = (),
    threads: int = 1,
    shapes: Mapping[str, Sequence[int]] | None = None,
    domains: Mapping[str, Sequence[float]] | None = None,
    seed: int = 0,
) -> Footprint:
    """Load the model once in a child process and run it once. Raises what the child raised, or BadInput on a crash."""
    request = {
        "path": path,
        "providers": list(providers),
        "threads": threads,
        "shapes": {k: list(v) for k, v in (shapes or {}).items()},
        "domains": {k: list(v) for k, v in (domains or {}).items()},
        "seed": seed,
    }
    return Footprint(**child(__name__, request, path))


def child(module: str, request: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Run `module` with a JSON request; its JSON answer, or the error it reported, raised here."""
    done = subprocess.run(
        [sys.executable, "-m", module],
        input=json.dumps(request),
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode < 0:
        number = -done.returncode
        name = signal.Signals(number).name
        hint = "it was killed, most often for memory" if number == signal.SIGKILL else "try another onnxruntime version"
        raise BadInput(what, f"onnx runtime died with {name} while running it", hint=hint)
    if done.returncode != 0:
        raise RuntimeError(f"{module} failed:\n{done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    error = answer.get("error")
    if error:
        raise _ERRORS[error["kind"]](error["what"], error["reason"], hint=error["hint"], code=error["code"])
    return answer


def serve(work: Any) -> None:
    """The child's side: read the request, print the answer or the error as the last line of stdout."""
    try:
        answer = work(**json.load(sys.stdin))
    except InterlockError as error:
        kind = type(error).__name__
        answer = {
            "error": {
                "kind": kind, "what": error.what, "reason": error.reason, "hint": error.hint, "code": error.code
            }
        }  # fmt: skip
    sys.stdout.write("\n" + json.dumps(answer) + "\n")


def resident() -> tuple[int, int]:
    """Resident memory of this process now and at its highest, in bytes (VmRSS and VmHWM of /proc/self/status)."""
    values: dict[str, int] = {}
    try:
        with open("/proc/self/status", encoding="ascii") as stream:  # noqa: PTH123
            for line in stream:
                name, _, rest = line.partition(":")
                if name in ("VmRSS", "VmHWM"):
                    values[name] = int(rest.split()[0]) * 1024
    except FileNotFoundError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak, peak
    return values["VmRSS"], values["VmHWM"]


def _work(
    *,
    path: str,
    providers: list[str],
    threads: int,
    shapes: dict[str, list[int]],
    domains: dict[str, list[float]],
    seed: int,
) -> dict[str, Any]:
    import numpy as np

    from . import runtime
    from .inputs import make
    from .providers import open_session

    ort = runtime.onnxruntime()
    before, _ = resident()
    session = open_session(path, providers, threads=threads, placement=True)
    loaded, _ = resident()
    plan = make(session.raw, path, shapes=shapes, domains=domains, seed=seed)
    start = time.perf_counter_ns()
    results = session.run(plan.feeds[0])
    first = (time.perf_counter_ns() - start) / 1e6
    _, peak = resident()
    finite = all(np.isfinite(result).all() for result in results if getattr(result, "dtype", None) in _FLOATS)
    return asdict(
        Footprint(
            provider=session.provider,
            placement=session.placement,
            load_ms=session.load_ms,
            first_ms=first,
            rss_loaded=max(0, loaded - before),
            rss_peak=max(0, peak - before),
            nodes=session.nodes,
            on_cpu=list(session.on_cpu),
            failure=asdict(session.failure) if session.failure else None,
            runtime=str(ort.__version__),
            finite=finite,
        )
    )


_FLOATS = ("float32", "float64", "float16")

if __name__ == "__main__":
    serve(_work)
