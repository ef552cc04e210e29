"""Run two graphs on the same inputs, feed state back, and measure how far their outputs are apart.

ONNX Runtime on the CPU, one thread, no graph optimisation, so that a run repeats bit for bit. The runtime is an extra.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from ....report.errors import BadInput
from ..graph.contract import Pair, pairs, promised
from ..graph.onx_state import recurrent
from ..rulebase import Context
from ..side import Side
from .inputs import Wishes, element_type, feeds

if TYPE_CHECKING:
    from ....models.onnx import Value

STEPS = 4
SETTINGS = 2
Class = Literal["bit-equal", "allclose", "drift"]


@dataclass(slots=True)
class Drift:
    """How far one output is from the old one, over every run: lowest cosine, largest difference, top-1 agreement."""

    name: str
    kind: Class = "bit-equal"
    cosine: float = 1.0
    largest: float = 0.0
    agree: int = 0
    rows: int = 0


@dataclass(slots=True)
class Measured:
    """What running a pair of graphs showed. `failed` says what NEW could not do that OLD could.

    `seen` names the outputs that had the old one's shape and type in every run.
    """

    file: str
    runs: int = 0
    failed: str = ""
    shapes: list[str] = field(default_factory=list[str])
    infinite: list[str] = field(default_factory=list[str])
    seen: set[str] = field(default_factory=set[str])
    drifts: dict[str, Drift] = field(default_factory=dict[str, Drift])
    skipped: str = ""

    @property
    def cosine(self) -> float | None:
        """The lowest cosine similarity of any output that is a vector."""
        return min((drift.cosine for drift in self.drifts.values()), default=None)


def measure(ctx: Context, shapes: dict[str, list[int]]) -> list[Measured]:
    """Run every pair of ONNX files. Raises BadInput without ONNX Runtime."""
    try:
        _runtime()
    except ImportError:
        raise BadInput("--run", "needs ONNX Runtime", hint="pip install 'interlock[cpu]'") from None
    return [_pair(ctx, pair, shapes) for pair in pairs(ctx)]


def _pair(ctx: Context, pair: Pair, shapes: dict[str, list[int]]) -> Measured:
    result = Measured(pair.new.file)
    values = [
        value for value in promised(pair.old, "inputs") if value.name in {v.name for v in pair.old.required_inputs}
    ]
    strange = [value.name for value in values if element_type(value) is None]
    assert ctx.old is not None  # noqa: S101
    if strange:
        result.skipped = f"inputs {', '.join(strange)} are of a type that cannot be generated"
        return result
    if any(file.partial for side in (ctx.old, ctx.new) for file in side.tree.files.values()):
        result.skipped = "remote weights are not fetched"
        return result
    try:
        old = _session(ctx.old, pair.old.file)
    except Exception as error:  # noqa: BLE001 - the runtime raises its own kinds for whatever a graph does
        result.skipped = f"the old graph does not load: {_line(error)}"
        return result
    try:
        new = _session(ctx.new, pair.new.file)
    except Exception as error:  # noqa: BLE001
        result.failed = f"does not load: {_line(error)}"
        return result
    size = (ctx.new.config or {}).get("vocab_size")
    wishes = Wishes(ctx.contract.domains, shapes, size if isinstance(size, int) else 100)
    runner = _Runner(old, new, {a.name: b.name for a, b in recurrent(pair.old)}, result)
    runner.run(values, wishes)
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
            theirs = _outputs(self.old, feed)
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
            ours = _outputs(self.new, {**feed, **other})
            if isinstance(ours, str):
                self.result.failed = f"fails on an input that the old graph takes: {ours}"
                return
            self.result.runs += 1
            for name, value in theirs.items():
                if name in ours and _alike(self.result, name, value, ours[name]) and name not in self.loops.values():
                    _compare(self.result, name, value, ours[name])
            state = {a: theirs[b] for a, b in self.loops.items()}
            other = {a: ours[b] for a, b in self.loops.items() if b in ours}
            following = _outputs(self.old, {**feed, **state}) if self.loops else ""
            if isinstance(following, str):
                return
            theirs = following


def _runtime() -> Any:
    """ONNX Runtime, which has no type stubs."""
    return import_module("onnxruntime")


def _session(side: Side, file: str) -> Any:
    runtime = _runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return runtime.InferenceSession(str(side.tree.files[file].path), options, providers=["CPUExecutionProvider"])


def _outputs(session: Any, feed: dict[str, Any]) -> dict[str, Any] | str:
    """Outputs by name, or why there are none."""
    names = [each.name for each in session.get_outputs()]
    try:
        return dict(zip(names, session.run(names, feed), strict=True))
    except Exception as error:  # noqa: BLE001 - the runtime raises its own kinds for whatever a graph does
        return _line(error)


def _line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0].lower()[:200]


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
    import numpy

    np: Any = numpy
    drift = result.drifts.setdefault(name, Drift(name))
    if old.tobytes() == new.tobytes() or not np.issubdtype(old.dtype, np.number):
        drift.agree += 1
        drift.rows += 1
        return
    a, b = old.astype(np.float64), new.astype(np.float64)
    if np.isfinite(a).all() and not np.isfinite(b).all():
        if name not in result.infinite:
            result.infinite.append(name)
        return
    close = bool(np.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True))
    drift.kind = "drift" if not close or drift.kind == "drift" else "allclose"
    drift.largest = max(drift.largest, float(np.max(np.abs(np.nan_to_num(a - b)), initial=0.0)))
    x, y = (each.reshape(-1, each.shape[-1]) if each.ndim else each.reshape(1, 1) for each in (a, b))
    norms = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    cosines = np.divide((x * y).sum(axis=1), norms, out=np.ones_like(norms), where=norms > 0)
    drift.cosine = min(drift.cosine, float(np.nan_to_num(cosines, nan=-1.0).min(initial=1.0)))
    drift.agree += int((x.argmax(axis=1) == y.argmax(axis=1)).sum())
    drift.rows += len(x)
