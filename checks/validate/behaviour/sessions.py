"""Sessions of ONNX Runtime on a declared provider, and what stands in the way of running a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from ..graph.contract import promised
from ..rulebase import Context
from ..side import Side
from .inputs import Wishes, element_type

if TYPE_CHECKING:
    from ....models.onnx import OnnxModel, Value

# bench has the same names for its own sessions, which are made to be fast instead of repeatable.
PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
Who = Literal["old", "new"]


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


class Unavailable(Exception):
    """A declared provider does not run here."""


class LoadError(Exception):
    """A graph does not load, in the runtime's words."""


@dataclass(frozen=True, slots=True)
class Session:
    """A loaded graph. `tell` hears what is about to be done, for whoever watches from outside the process."""

    raw: Any
    who: Who
    tell: Callable[[Who, str], None]

    def outputs(self, feed: dict[str, Any]) -> dict[str, Any] | str:
        """Outputs by name, or why there are none."""
        names = [each.name for each in self.raw.get_outputs()]
        self.tell(self.who, "runs")
        try:
            return dict(zip(names, self.raw.run(names, feed), strict=True))
        except Exception as error:  # noqa: BLE001 - the runtime raises its own kinds for whatever a graph does
            return first_line(error)


@dataclass(frozen=True, slots=True)
class Runtime:
    """ONNX Runtime on one provider."""

    provider: str
    tell: Callable[[Who, str], None]

    def start(self, side: Side, file: str, who: Who) -> Session:
        """A session that repeats: one thread, no graph optimisation. Raises LoadError, or Unavailable."""
        library = import_module("onnxruntime")
        options = library.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = library.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        names = [PROVIDERS[self.provider], *([PROVIDERS["cpu"]] if self.provider != "cpu" else [])]
        self.tell(who, "loads")
        try:
            raw = library.InferenceSession(str(side.tree.files[file].path), options, providers=names)
        except Exception as error:
            raise LoadError(first_line(error)) from error
        # A session that asks for CUDA falls back to the CPU without an error.
        if raw.get_providers()[0] != names[0]:
            raise Unavailable(f"a session for {self.provider} runs on {raw.get_providers()[0]}")
        return Session(raw, who, self.tell)


def usable(providers: Sequence[str]) -> str:
    """The first of the declared providers that this ONNX Runtime has. Raises Unavailable where it has none."""
    library = import_module("onnxruntime")
    for name in providers:
        if name not in PROVIDERS:
            raise Unavailable(f"provider {name} is unknown; there are {' and '.join(PROVIDERS)}")
        if PROVIDERS[name] in library.get_available_providers():
            if name != "cpu" and hasattr(library, "preload_dlls"):
                library.preload_dlls()
            return name
    raise Unavailable(f"this ONNX Runtime is built without {' and '.join(providers)}")


def first_line(error: Exception) -> str:
    """What a runtime's error says, short."""
    return str(error).strip().split("\n", 1)[0].lower()[:200]
