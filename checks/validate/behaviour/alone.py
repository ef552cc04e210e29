"""Run a graph that has no old one beside it: does it load, and does it take what it says it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..graph.onx_state import recurrent
from ..rulebase import Context
from .inputs import certain, feeds
from .measured import SETTINGS, STEPS, Measured
from .sessions import LoadError, Runtime, needed, wishes

if TYPE_CHECKING:
    from ....models.onnx import OnnxModel


def run_alone(ctx: Context, model: OnnxModel, shapes: dict[str, list[int]], runtime: Runtime) -> Measured:
    """Load a graph of NEW and run it, with its own state fed back. Raises Unavailable as `Runtime.start` does."""
    result = Measured(model.file, runtime.provider)
    values = needed(model)
    try:
        session = runtime.start(ctx.new, model.file, "new")
    except LoadError as error:
        result.failed = f"does not load: {error}"
        return result
    loops = {a.name: b.name for a, b in recurrent(model)}
    why, settings = "none could be generated", 0
    for feed in feeds(values, set(loops), wishes(ctx, shapes)):
        state: dict[str, Any] = {}
        for step in range(STEPS if loops else 1):
            made = session.outputs({**feed, **state})
            if isinstance(made, str):
                why = made
                if step:
                    result.failed = f"fails on the state that it gave back: {made}"
                    return result
                break
            result.runs += 1
            state = {a: made[b] for a, b in loops.items()}
        else:
            settings += 1
        if settings == SETTINGS:
            break
    if not result.runs:
        # Where sizes or values were guessed, the guess may be wrong instead of the graph.
        text = f"no generated input was accepted: {why}"
        exact = all(certain(value, ctx.contract.domains, shapes) for value in values)
        result.failed, result.skipped = (text, "") if exact else ("", text)
    return result
