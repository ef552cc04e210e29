"""Sessions of ONNX Runtime, and what stands in the way of running a graph. The runtime is an extra."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..graph.contract import promised
from ..rulebase import Context
from ..side import Side
from .inputs import Wishes, element_type

if TYPE_CHECKING:
    from ....models.onnx import OnnxModel, Value


def needed(model: OnnxModel) -> list[Value]:
    """The inputs without which the graph does not run."""
    required = {value.name for value in model.required_inputs}
    return [value for value in promised(model, "inputs") if value.name in required]


def hindrance(ctx: Context, values: list[Value]) -> str:
    """Why nothing can be run; empty where it can."""
    strange = [value.name for value in values if element_type(value) is None]
    if strange:
        return f"inputs {', '.join(strange)} are of a type that cannot be generated"
    sides = (side for side in (ctx.old, ctx.new) if side is not None)
    if any(file.partial for side in sides for file in side.tree.files.values()):
        return "remote weights are not fetched"
    return ""


def wishes(ctx: Context, shapes: dict[str, list[int]]) -> Wishes:
    """What is known beyond the graph: `shapes` by input name, and what the contract and the configuration say."""
    size = (ctx.new.config or {}).get("vocab_size")
    return Wishes(ctx.contract.domains, shapes, size if isinstance(size, int) else 100)


def runtime() -> Any:
    """ONNX Runtime, which has no type stubs."""
    return import_module("onnxruntime")


def start(side: Side, file: str) -> Any:
    """A session that repeats bit for bit: the CPU, one thread, no graph optimisation."""
    library = runtime()
    options = library.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = library.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return library.InferenceSession(str(side.tree.files[file].path), options, providers=["CPUExecutionProvider"])


def outputs(session: Any, feed: dict[str, Any]) -> dict[str, Any] | str:
    """Outputs by name, or why there are none."""
    names = [each.name for each in session.get_outputs()]
    try:
        return dict(zip(names, session.run(names, feed), strict=True))
    except Exception as error:  # noqa: BLE001 - the runtime raises its own kinds for whatever a graph does
        return first_line(error)


def first_line(error: Exception) -> str:
    """What a runtime's error says, short."""
    return str(error).strip().split("\n", 1)[0].lower()[:200]
