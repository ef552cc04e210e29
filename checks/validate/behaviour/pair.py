"""Run two graphs on the same inputs, feed state back, and measure how far their outputs are apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..graph.contract import Pair
from ..graph.onx_state import recurrent
from ..rulebase import Context
from .compare import compare
from .inputs import Wishes, feeds
from .measured import SETTINGS, STEPS, Measured
from .sessions import LoadError, Runtime, Session, needed, wishes

if TYPE_CHECKING:
    from ....models.onnx import OnnxModel, Value


def run_pair(ctx: Context, pair: Pair, shapes: dict[str, list[int]], runtime: Runtime) -> Measured:
    """NEW against OLD. Raises Unavailable where the provider does not run."""
    result = Measured(pair.new.file, runtime.provider)
    values = needed(pair.old)
    assert ctx.old is not None  # noqa: S101
    try:
        new = runtime.start(ctx.new, pair.new.file, "new")
    except LoadError as error:
        result.failed = f"does not load: {error}"
        return result
    try:
        old = runtime.start(ctx.old, pair.old.file, "old")
    except LoadError as error:
        result.skipped = f"the old graph does not load: {error}"
        return result
    loops = {a.name: b.name for a, b in recurrent(pair.old)}
    runner = _Runner(old, new, loops, rounded(pair.old) & rounded(pair.new), result)
    runner.run(values, wishes(ctx, shapes))
    if not result.runs and not result.failed:
        result.skipped = "no generated input was accepted by the old graph"
    return result


@dataclass(slots=True)
class _Runner:
    """Both sessions, the state that goes around (input → output), rounded outputs, and what is measured."""

    old: Session
    new: Session
    loops: dict[str, str]
    rounded: set[str]
    result: Measured

    def run(self, values: list[Value], wishes: Wishes) -> None:
        """Up to SETTINGS feeds that the old graph takes."""
        settings = 0
        for feed in feeds(values, set(self.loops), wishes):
            theirs = self.old.outputs(feed)
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
            ours = self.new.outputs({**feed, **other})
            if isinstance(ours, str):
                self.result.failed = f"fails on an input that the old graph takes: {ours}"
                return
            self.result.runs += 1
            for name, value in theirs.items():
                if name in ours:
                    state = name in self.loops.values()
                    compare(self.result, name, value, ours[name], near=name in self.rounded, measure=not state)
            state = {a: theirs[b] for a, b in self.loops.items()}
            other = {a: ours[b] for a, b in self.loops.items() if b in ours}
            following = self.old.outputs({**feed, **state}) if self.loops else ""
            if isinstance(following, str):
                return
            theirs = following


# What a rounded number goes through after the operator that computed it, and operators that compute numbers.
_PASSES = """
    Cast Clip Round Floor Ceil Reshape Squeeze Unsqueeze Identity Transpose Flatten Mul Add Div Sub Slice Concat
"""
_SIGNALS = """
    Conv ConvTranspose Gemm MatMul Sigmoid Tanh Softmax Relu LeakyRelu PRelu Elu Resize Upsample BatchNormalization
    InstanceNormalization LayerNormalization DepthToSpace AveragePool GlobalAveragePool ReduceMean QuantizeLinear
    DynamicQuantizeLinear QLinearConv QLinearMatMul QLinearAdd QLinearMul QLinearSigmoid QLinearGlobalAveragePool
    QGemm ConvInteger MatMulInteger
"""
_BYTES = ("tensor(int8)", "tensor(uint8)")


def rounded(model: OnnxModel) -> set[str]:
    """Outputs of one byte that are quantised or rounded numbers, such as pixels: not labels, flags or indices."""
    makers = {output: node for node in model.graph.nodes for output in node.outputs}
    passes, signals = set(_PASSES.split()), set(_SIGNALS.split())
    found: set[str] = set()
    for value in model.graph.outputs:
        node = makers.get(value.name) if value.type in _BYTES else None
        for _ in range(len(makers)):
            if node is None or node.op not in passes:
                break
            node = makers.get(node.inputs[0]) if node.inputs else None
        if node is not None and node.op in signals:
            found.add(value.name)
    return found
