"""Inputs for a model, made from the contract it declares: seeded values, free dimensions, recurrent state fed back."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..report.errors import BadInput
from . import runtime

_NUMPY = {
    "tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16",
    "tensor(int64)": "int64", "tensor(int32)": "int32", "tensor(int16)": "int16", "tensor(int8)": "int8",
    "tensor(uint64)": "uint64", "tensor(uint32)": "uint32", "tensor(uint16)": "uint16", "tensor(uint8)": "uint8",
    "tensor(bool)": "bool", "tensor(string)": "str",
}  # fmt: skip

# Sizes to try for dimensions that the contract leaves open, the usual ones of each kind of model first.
_IMAGES = (224, 320, 640, 512, 256, 128, 64, 48, 32, 28, 16, 1)
_TOKENS = (128, 64, 32, 16, 256, 512, 1, 8, 4, 2)
_SERIES = (512, 256, 128, 64, 160, 320, 400, 1024, 1536, 16000, 16, 1, 8, 32, 76, 96)
_STATE_SUFFIXES = ("N", "n", "_n", "_out", ".1", "_next", "Out")

Dimension = int | str | None
Feed = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A declared input or output: ONNX Runtime's type text and dimensions (int, symbol, or None)."""

    name: str
    type: str
    shape: tuple[Dimension, ...]


@dataclass(slots=True)
class Plan:
    """Feeds that a model accepts, and how they came about.

    `shapes` has the sizes used, `guessed` the names of inputs whose size or integer values nobody declared, `state`
    maps a recurrent input to the position of the output that feeds it. `feeds` are rotated through.
    """

    shapes: dict[str, tuple[int, ...]]
    state: dict[str, int]
    values: dict[str, str]
    guessed: list[str] = field(default_factory=list[str])
    feeds: list[Feed] = field(default_factory=list[Feed])


def contract(raw: Any) -> tuple[list[Tensor], list[Tensor]]:
    """Inputs and outputs that an ONNX Runtime session declares."""
    sides = (raw.get_inputs(), raw.get_outputs())
    inputs, outputs = ([Tensor(t.name, t.type, tuple(t.shape)) for t in side] for side in sides)
    return inputs, outputs


def make(
    raw: Any,
    path: str,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    domains: Mapping[str, Sequence[float]] | None = None,
    seed: int = 0,
    count: int = 8,
) -> Plan:
    """`count` feeds that the session accepts, each tried once.

    `shapes` and `domains` (allowed values) win over guesses. Raises BadInput when they do not fit the contract, or
    when no size tried for the open dimensions runs.
    """
    inputs, outputs = contract(raw)
    shapes, domains = dict(shapes or {}), dict(domains or {})
    _known(path, "--shape", shapes, inputs)
    _known(path, "--domain", domains, inputs)
    for tensor in inputs:
        _supported(path, tensor, shapes.get(tensor.name))
    state = recurrent(inputs, outputs)
    options = runtime.onnxruntime().RunOptions()
    options.log_severity_level = 4
    failure = ""
    for size in _sizes(inputs, state, shapes):
        plan = _plan(inputs, state, shapes, domains, size)
        plan.feeds = _feeds(inputs, plan, domains, seed, count)
        try:
            results: list[Any] = [raw.run(None, feed, options) for feed in plan.feeds][-1]
        except Exception as error:  # noqa: BLE001 - ONNX Runtime's errors share no base class below Exception
            failure = failure or runtime.reason(error)
            continue
        # A cache that grows by a step per call is not a state of fixed size: it is given, not fed back.
        kept = {n: i for n, i in state.items() if _same_shape(results[i], plan.feeds[0][n])}
        plan.state = kept
        return plan
    raise BadInput(
        path,
        f"none of the inputs made from its contract run: {failure}",
        hint="give real sizes and values: --shape NAME=1,512 --domain NAME=8000,16000",
    )


def _same_shape(output: Any, fed: Any) -> bool:
    return getattr(output, "shape", None) == fed.shape


def recurrent(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> dict[str, int]:
    """Input name -> position of the output that carries its next value, paired by name, type and rank."""
    positions = {tensor.name: i for i, tensor in enumerate(outputs)}
    pairs: dict[str, int] = {}
    for tensor in inputs:
        names = [tensor.name + suffix for suffix in _STATE_SUFFIXES]
        names += [f"new_{tensor.name}", f"next_{tensor.name}", tensor.name.replace("past", "present")]
        names += [tensor.name.replace("_in", "_out"), tensor.name.replace("input", "output")]
        for name in names:
            at = positions.get(name)
            if at is None or name in (tensor.name, "output"):
                continue
            if outputs[at].type == tensor.type and len(outputs[at].shape) == len(tensor.shape):
                pairs[tensor.name] = at
                break
    return pairs


def _known(path: str, option: str, given: Mapping[str, object], inputs: Sequence[Tensor]) -> None:
    names = [tensor.name for tensor in inputs]
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"its inputs are {', '.join(names)}"
            raise BadInput(f"{option} {name}", f"{path} has no such input", hint=hint)


def _supported(path: str, tensor: Tensor, given: Sequence[int] | None) -> None:
    if tensor.type not in _NUMPY:
        reason = f"input {tensor.name} has type {tensor.type}, for which no values can be made"
        raise BadInput(path, reason, hint="measure the part of the model that takes numbers")
    if given is None:
        return
    option = f"--shape {tensor.name}={','.join(map(str, given))}"
    if len(given) != len(tensor.shape):
        reason = f"{path} declares {len(tensor.shape)} dimensions: {_shape(tensor.shape)}"
        raise BadInput(option, reason, hint="give a size for each of them")
    for size, declared in zip(given, tensor.shape, strict=True):
        if size < 0 or (isinstance(declared, int) and declared > 0 and declared != size):
            raise BadInput(option, f"{path} declares {_shape(tensor.shape)}", hint="choose sizes only where it has ?")


def _shape(shape: Sequence[Dimension]) -> str:
    return "[" + ", ".join("?" if d is None else str(d) for d in shape) + "]"


def _open(dimension: Dimension) -> bool:
    # Exporters write an open dimension as a symbol, as nothing, or as -1.
    return not isinstance(dimension, int) or dimension < 0


def _sizes(inputs: Sequence[Tensor], state: Mapping[str, int], shapes: Mapping[str, Sequence[int]]) -> Sequence[int]:
    """Sizes to try, in order; one entry when nothing is open."""
    rest = [t for t in inputs if t.name not in shapes and t.name not in state and any(map(_open, t.shape[1:]))]
    if not rest:
        return (1,)
    widest = max(rest, key=lambda tensor: len(tensor.shape))
    if "float" not in widest.type:
        return _TOKENS
    return _IMAGES if len(widest.shape) >= 4 else _SERIES


def _plan(
    inputs: Sequence[Tensor],
    state: Mapping[str, int],
    shapes: Mapping[str, Sequence[int]],
    domains: Mapping[str, Sequence[float]],
    size: int,
) -> Plan:
    symbols: dict[str, int] = {}
    for tensor in inputs:
        pairs = zip(tensor.shape, shapes.get(tensor.name, ()), strict=False)
        symbols |= {declared: given for declared, given in pairs if isinstance(declared, str)}
    plan = Plan({}, dict(state), {})
    for tensor in inputs:
        sizes: list[int] = []
        for i, declared in enumerate(tensor.shape):
            if not _open(declared):
                assert isinstance(declared, int)  # noqa: S101
                sizes.append(declared)
            elif isinstance(declared, str) and declared in symbols:
                sizes.append(symbols[declared])
            else:
                batch = i == 0 or tensor.name in state
                sizes.append(1 if batch else size)
        given = shapes.get(tensor.name)
        plan.shapes[tensor.name] = tuple(given if given is not None else sizes)
        plan.values[tensor.name] = _values(tensor, tensor.name in state, domains.get(tensor.name))
        size_guessed = given is None and tensor.name not in state and any(map(_open, tensor.shape[1:]))
        if size_guessed or plan.values[tensor.name] == "0 to 99":
            plan.guessed.append(tensor.name)
    return plan


def _values(tensor: Tensor, recurrent_input: bool, domain: Sequence[float] | None) -> str:
    """What the values will be, in words that the report shows."""
    if domain:
        return "one of " + ", ".join(f"{value:g}" for value in domain)
    if recurrent_input:
        return "zeros, then fed back"
    name = tensor.name.lower()
    if tensor.type == "tensor(string)":
        return "letters"
    if tensor.type == "tensor(bool)" or "mask" in name:
        return "ones"
    if "token_type" in name or "segment" in name:
        return "zeros"
    if "position" in name:
        return "0, 1, 2, …"
    if "float" in tensor.type or "double" in tensor.type:
        return "uniform -1 to 1"
    return "0 to 255" if tensor.type in ("tensor(uint8)", "tensor(int8)") else "0 to 99"


def _feeds(
    inputs: Sequence[Tensor], plan: Plan, domains: Mapping[str, Sequence[float]], seed: int, count: int
) -> list[Feed]:
    import numpy as np

    generator = np.random.default_rng(seed)
    feeds: list[Feed] = []
    for _ in range(count):
        feed: Feed = {}
        for tensor in inputs:
            shape, words, kind = plan.shapes[tensor.name], plan.values[tensor.name], _NUMPY[tensor.type]
            if tensor.name in domains:
                values: Any = np.full(shape, generator.choice(list(domains[tensor.name])))
            elif words.startswith("zeros"):
                values = np.zeros(shape)
            elif words == "ones":
                values = np.ones(shape)
            elif words.startswith("uniform"):
                values = generator.uniform(-1, 1, shape)
            elif words.startswith("0, 1"):
                values = np.broadcast_to(np.arange(shape[-1] if shape else 1), shape or (1,)).reshape(shape)
            elif words == "letters":
                values = np.full(shape, "interlock")
            else:
                values = generator.integers(0, 128 if kind == "int8" else 256 if kind == "uint8" else 100, shape)
            feed[tensor.name] = np.asarray(values, dtype=object if kind == "str" else kind)
        feeds.append(feed)
    return feeds
