"""Runs one pair of graphs, or one alone; started by `process` as a program, in isolated mode.

Standard input is a pickle of {"path": import paths, "package", "job": a pickled Job}. Standard output is a JSON object
a line: {"provider"}, {"who", "does", "at"} before each load and run, and at last {"measured"}, {"unavailable"} where no
provider runs, or {"error"}.
"""

import contextlib
import json
import os
import pickle
import sys
import time
from importlib import import_module
from typing import Any


def main() -> None:
    """Run what was asked for."""
    request = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own parent wrote it
    # Native code prints where it likes: the answer has a descriptor of its own.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def say(**line: Any) -> None:
        answer.write(json.dumps(line) + "\n")
        answer.flush()

    sys.path[:] = request["path"]
    job = pickle.loads(request["job"])  # noqa: S301 - as above
    sessions: Any = import_module(f"{request['package']}.sessions")
    try:
        provider = sessions.usable(job.providers)
        say(provider=provider)
        if provider == "cpu":
            _limit(import_module(f"{request['package']}.process").memory())

        def tell(who: str, does: str) -> None:
            say(who=who, does=does, at=time.monotonic())

        measured = _run(request["package"], job, sessions.Runtime(provider, tell))
    except sessions.Unavailable as error:
        say(unavailable=str(error))
    except Exception as error:  # noqa: BLE001 - the parent says it; a graph is not blamed for it
        say(error=f"{type(error).__name__}: {error}"[:300])
    else:
        say(measured=measured.document())


def _limit(memory: int) -> None:
    """A graph may take the memory that there is, not more; and a crash leaves no core file."""
    try:
        import resource
    except ImportError:
        return  # not a POSIX system: the parent's time limit remains
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        with contextlib.suppress(ValueError):  # a lower limit is in force
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _run(package: str, job: Any, runtime: Any) -> Any:
    parent = package.rpartition(".")[0]
    sides: Any = import_module(f"{parent}.side")
    new = sides.Side(job.new, "new")
    old = None if job.old is None else sides.Side(job.old, "old")
    ctx = import_module(f"{parent}.rulebase").Context(new=new, old=old, contract=job.contract)
    if old is None:
        return import_module(f"{package}.alone").run_alone(ctx, new.onnx[job.new_file], job.shapes, runtime)
    pair = import_module(f"{parent}.graph.contract").Pair(old.onnx[job.old_file], new.onnx[job.new_file])
    return import_module(f"{package}.pair").run_pair(ctx, pair, job.shapes, runtime)


if __name__ == "__main__":
    main()
