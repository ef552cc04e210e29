"""config.pbtxt against the graph that it serves, by what Triton's ONNX Runtime backend checks when it loads a model.

Read from ModelInstanceState of triton-inference-server/onnxruntime_backend: every input of the graph is filled by
`input`, by a control or a state of `sequence_batching`, or by `batch_input`; sizes of inputs must be those of the graph
where it fixes them, sizes of outputs are compared as they are, and with max_batch_size the first axis must be open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ....models.onnx import OnnxModel, Value
from ..graph.contract import dynamic, optional, promised
from ..graph.shapes.known import inferred
from ..graph.shapes.terms import fixed, unclear
from ..rulebase import Context
from ..side import Side
from .triton import TYPES, Declared, Given, TritonModel, batch_outputs, given

# Other backends that take a model.onnx compare sizes in ways of their own.
_STRICT = frozenset({"", "onnxruntime"})


class Mismatch(NamedTuple):
    """What the configuration and the graph disagree on, and the line that says so."""

    message: str
    line: int


def mismatches(ctx: Context, side: Side, config: TritonModel, model: OnnxModel) -> Iterator[Mismatch]:
    """Every disagreement of a configuration with one version of the model."""
    inputs, outputs = ({value.name: value for value in promised(model, what)} for what in ("inputs", "outputs"))
    for each in config.inputs:
        yield from _declared("input", each, inputs.get(each.name), config)
    for each in config.outputs:
        yield from _declared("output", each, outputs.get(each.name), config)
        if (found := outputs.get(each.name)) is not None and found.shape and config.backend in _STRICT:
            yield from _open(ctx, side, (config, each), (model, found))
    filled = given(config)
    for each in filled:
        yield from _given(each, inputs.get(each.name), config)
        if each.state and each.state not in outputs:
            yield Mismatch(f"output '{each.state}', which sequence_batching keeps, is not", each.line)
    names = {each.name for each in (*config.inputs, *filled)}
    for name, value in inputs.items():
        if config.inputs and name not in names and not optional(model, value):
            yield Mismatch(f"config.pbtxt lacks the input '{name}'", config.inputs[0].line)


def _declared(kind: str, each: Declared, value: Value | None, config: TritonModel) -> Iterator[Mismatch]:
    """An input or output of the configuration that is not there, or is another one."""
    if value is None:
        yield Mismatch(f"{kind} '{each.name}' is not", each.line)
    elif TYPES.get(value.type) != each.type:
        yield Mismatch(f"{kind} '{each.name}' is {each.type} here, {value.type}", each.line)
    elif not _fits(kind, each, value, config):
        dims, shape = list(each.inside(config.max_batch_size)), list(value.shape or ())
        yield Mismatch(f"{kind} '{each.name}' has dims {dims} here, {shape}", each.line)


def _fits(kind: str, each: Declared, value: Value, config: TritonModel) -> bool:
    if value.shape is None or (kind == "output" and each.name in batch_outputs(config)):
        return True
    if each.ragged:
        return len(value.shape) == 1 and dynamic(value.shape[0])
    dims = each.inside(config.max_batch_size)
    if not value.shape:  # Triton has no scalars: it reshapes
        return all(size == 1 for size in (each.dims if each.reshape is None else each.reshape))
    strict = config.backend in _STRICT
    return len(dims) == len(value.shape) and all(
        dynamic(size) or said == size or (said == -1 and not strict)
        for said, size in zip(dims, value.shape, strict=True)
    )


def _open(
    ctx: Context, side: Side, said: tuple[TritonModel, Declared], served: tuple[OnnxModel, Value]
) -> Iterator[Mismatch]:
    """A size of an output that the configuration fixes and the graph leaves to requests."""
    (config, each), (model, value) = said, served
    dims, shape = each.inside(config.max_batch_size), value.shape or ()
    if len(dims) != len(shape) or each.name in batch_outputs(config):
        return
    doubtful = [axis for axis, size in enumerate(dims) if size > 0 and dynamic(shape[axis])]
    found = inferred(ctx, side, model).shape(value.name) if doubtful else None
    if found is None or len(found) != len(shape):
        return
    for axis in doubtful:
        # The runtime fills in what follows from the operators.
        if fixed(found[axis]) is None and not unclear(found[axis]):
            text = f"output '{each.name}' has {dims[axis]} on axis {axis} here, a size that requests choose"
            yield Mismatch(text, each.line)


def _given(each: Given, value: Value | None, config: TritonModel) -> Iterator[Mismatch]:
    """An input that Triton fills in itself."""
    if value is None:
        yield Mismatch(f"input '{each.name}', which {each.field} fills, is not", each.line)
    elif each.type and TYPES.get(value.type) != each.type:
        yield Mismatch(f"input '{each.name}' is {each.type} here, {value.type}", each.line)
    elif each.dims is not None and value.shape is not None:
        dims = (-1, *each.dims) if config.max_batch_size > 0 else each.dims
        exact = each.field == "control_input" and config.backend in _STRICT
        same = len(dims) == len(value.shape) and all(
            said == size or (dynamic(size) and not (exact and said > 0)) or said == -1
            for said, size in zip(dims, value.shape, strict=True)
        )
        if not same:
            yield Mismatch(f"input '{each.name}' has dims {list(dims)} here, {list(value.shape)}", each.line)
