"""The behavioural stage: graphs run in ONNX Runtime, each pair in a process of its own that may hang or crash.

One thread and no graph optimisation, so that a run on the CPU repeats bit for bit. The runtime is an extra.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from ....report.errors import BadInput
from ..graph.contract import pairs
from ..rulebase import Context
from .measured import Measured
from .process import Job, supervise
from .sessions import hindrance, needed


def measure(ctx: Context, shapes: dict[str, list[int]], providers: Sequence[str] = ()) -> list[Measured]:
    """Run pairs of ONNX files, and alone those of NEW that have no partner, on the first of `providers` that is there.

    Raises BadInput without the runtime, and where none of the declared providers runs: nothing falls back silently.
    """
    if find_spec("onnxruntime") is None or find_spec("numpy") is None:
        raise BadInput("--run", "needs ONNX Runtime", hint="pip install 'interlock[cpu]'")
    jobs: list[tuple[Job, str]] = []
    paired: set[str] = set()
    old = ctx.old.tree if ctx.old is not None else None
    for pair in pairs(ctx):
        paired.add(pair.new.file)
        job = Job(ctx.new.tree, pair.new.file, old, pair.old.file, ctx.contract, shapes, tuple(providers) or ("cpu",))
        jobs.append((job, hindrance(ctx, needed(pair.old))))
    for file, model in ctx.new.onnx.items():
        if file not in paired:
            job = Job(ctx.new.tree, file, None, "", ctx.contract, shapes, tuple(providers) or ("cpu",))
            jobs.append((job, hindrance(ctx, needed(model))))
    return [Measured(job.new_file, skipped=why) if why else supervise(job) for job, why in jobs]
