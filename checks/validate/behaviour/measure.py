"""Run two graphs on the same inputs, feed state back, and measure how far their outputs are apart.

ONNX Runtime on the CPU, one thread, no graph optimisation, so that a run repeats bit for bit. The runtime is an extra.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....report.errors import BadInput
from ..graph.contract import Pair, pairs
from ..graph.onx_state import recurrent
from ..rulebase import Context
from .alone import alone
from .inputs import Wishes, feeds
from .measured import SETTINGS, STEPS, Drift, Measured
from .sessions import first_line, hindrance, needed, outputs, runtime, start, wishes

if TYPE_CHECKING:
    from ....models.onnx import Value


def measure(ctx: Context, shapes: dict[str, list[int]]) -> list[Measured]:
    """Run pairs of ONNX files, and alone those of NEW that have no partner. Raises BadInput without the runtime."""
    try:
        runtime()
    except ImportError:
        raise BadInput("--run", "needs ONNX Runtime", hint="pip install 'interlock[cpu]'") from None
    found = [_pair(ctx, pair, shapes) for pair in pairs(ctx)]
    paired = {each.file for each in found}
    return found + [alone(ctx, model, shapes) for file, model in ctx.new.onnx.items() if file not in paired]


def _pair(ctx: Context, pair: Pair, shapes: dict[str, list[int]]) -> Measured:
    result = Measured(pair.new.file)
    values = needed(pair.old)
    assert ctx.old is not None  # noqa: S101
    result.skipped = hindrance(ctx, values)
    if result.skipped:
        return result
    try:
        new = start(ctx.new, pair.new.file)
    except Exception as error:  # noqa: BLE001 - the runtime raises its own kinds for whatever a graph does
        result.failed = f"does not load: {first_line(error)}"
        return result
    try:
        old = start(ctx.old, pair.old.file)
    except Exception as error:  # noqa: BLE001
        result.skipped = f"the old graph does not load: {first_line(error)}"
        return result
    runner = _Runner(old, new, {a.name: b.name for a, b in recurrent(pair.old)}, result)
    runner.run(values, wishes(ctx, shapes))
    if not result.runs and not result.failed:
        result.skipped = "no generated input was accepted by the old graph"
    return result


@dataclass(slots=True)
class _Runner:
    """Both sessions, the state that goes around (input → output), and what is measured."""

    old: Any
    new: Any
    loops: dict[str, str]
    result: Measured

    def run(self, values: list[Value], wishes: Wishes) -> None:
        """Up to SETTINGS feeds that the old graph takes."""
        settings = 0
        for feed in feeds(values, set(self.loops), wishes):
            theirs = outputs(self.old, feed)
            if isinstance(theirs, str):
                continue  # not an input of this graph: try other sizes
            self.steps(feed, theirs)
            settings += 1
            if self.result.failed or settings == SETTINGS:
                return

    def steps(self, feed: dict[str, Any], theirs: dict[str, Any]) -> None:
        """One run, or a few in which each graph gets its own state back."""
        other: dict[str, Any] = {}
        for _ in range(STEPS if self.loops else 1):
            ours = outputs(self.new, {**feed, **other})
            if isinstance(ours, str):
                self.result.failed = f"fails on an input that the old graph takes: {ours}"
                return
            self.result.runs += 1
            for name, value in theirs.items():
                if name in ours and _alike(self.result, name, value, ours[name]) and name not in self.loops.values():
                    _compare(self.result, name, value, ours[name])
            state = {a: theirs[b] for a, b in self.loops.items()}
            other = {a: ours[b] for a, b in self.loops.items() if b in ours}
            following = outputs(self.old, {**feed, **state}) if self.loops else ""
            if isinstance(following, str):
                return
            theirs = following


def _alike(result: Measured, name: str, old: Any, new: Any) -> bool:
    """Whether an output is a tensor of the same shape and type on both sides; notes it."""
    if not hasattr(old, "shape") or not hasattr(new, "shape"):
        return False
    if old.shape == new.shape and old.dtype == new.dtype:
        if not result.shapes:
            result.seen.add(name)
        return True
    told = f"output '{name}' is {new.dtype}{list(new.shape)}, was {old.dtype}{list(old.shape)}"
    if told not in result.shapes:
        result.shapes.append(told)
    result.seen.discard(name)
    return False


def _compare(result: Measured, name: str, old: Any, new: Any) -> None:
    """Floats by distance; strings, truth values and integers by value, for near is not the same for a label."""
    import numpy

    np: Any = numpy
    exact = not np.issubdtype(old.dtype, np.floating)
    drift = result.drifts.setdefault(name, Drift(name, exact, bool(np.issubdtype(old.dtype, np.number))))
    drift.values += old.size
    # The bytes of an array of strings are addresses.
    if bool((old == new).all()) if exact else old.tobytes() == new.tobytes():
        rows = old.size // old.shape[-1] if old.ndim and old.size else 1
        drift.agree += rows
        drift.rows += rows
        return
    if exact:
        drift.kind = "drift"
        drift.differ += int((old != new).sum())
    if drift.vector:
        _numbers(result, drift, old.astype(np.float64), new.astype(np.float64))


def _numbers(result: Measured, drift: Drift, a: Any, b: Any) -> None:
    """Distances over the values that are finite on both sides; a row where only one side is finite has cosine -1."""
    import numpy

    np: Any = numpy
    if np.isfinite(a).all() and not np.isfinite(b).all() and drift.name not in result.infinite:
        result.infinite.append(drift.name)
    finite = np.isfinite(a) & np.isfinite(b)
    unlike = ~finite & (a != b) & ~(np.isnan(a) & np.isnan(b))
    drift.unlike += int(unlike.sum())
    a, b = np.where(finite, a, 0.0), np.where(finite, b, 0.0)
    close = not unlike.any() and bool(np.allclose(a, b, rtol=1e-3, atol=1e-5))
    drift.kind = "drift" if not close or drift.kind == "drift" else "allclose"
    drift.largest = max(drift.largest, float(np.max(np.abs(a - b), initial=0.0)))
    x, y, odd = (each.reshape(-1, each.shape[-1]) if each.ndim else each.reshape(1, 1) for each in (a, b, unlike))
    norms = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    cosines = np.divide((x * y).sum(axis=1), norms, out=np.ones_like(norms), where=norms > 0)
    cosines[odd.any(axis=1)] = -1.0
    drift.cosine = min(drift.cosine, float(np.nan_to_num(cosines, nan=-1.0).min(initial=1.0)))
    drift.agree += int(((x.argmax(axis=1) == y.argmax(axis=1)) & ~odd.any(axis=1)).sum())
    drift.rows += len(x)
