"""What two ONNX models promise their clients, matched: files to files, inputs to inputs, outputs to outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from ..rulebase import Context

if TYPE_CHECKING:  # rules on other formats import this module: they need not pay for the reader
    from ....models.onnx import Dimension, OnnxModel, Value

What = Literal["inputs", "outputs"]
WORD = {"inputs": "input", "outputs": "output"}

# Exporters write these where they know nothing; two of them need not be the same size.
_ANONYMOUS = r"\??|unk__\d+|(?:.*_)?dim_\d+|p2o\.DynamicDimension\.\d+|DynamicDimension\.\d+"
# A weight that old exporters list among the inputs is larger than any default a client would override.
_SCALAR = 64


@dataclass(frozen=True, slots=True)
class Pair:
    """An ONNX file of the old model and the one that takes its place."""

    old: OnnxModel
    new: OnnxModel


@dataclass(slots=True)
class Matching:
    """Values of both sides that clients take for the same, and what is left."""

    kept: list[tuple[Value, Value]]
    renamed: list[tuple[Value, Value]]
    removed: list[Value]
    added: list[Value]

    @property
    def all_kept(self) -> list[tuple[Value, Value]]:
        """Kept and renamed ones: their types and shapes must agree."""
        return [*self.kept, *self.renamed]


def pairs(ctx: Context) -> Iterator[Pair]:
    """ONNX files of both models: the same name, or the only one left on each side. Of a Triton repository, the
    versions that serve the same requests."""
    if ctx.old is None:
        return
    old, new = dict(ctx.old.onnx), dict(ctx.new.onnx)
    if any("/" in name for name in new):
        from ..serving.takeover import takeover

        versions = takeover(ctx)
        for before, after in versions.pairs:
            yield Pair(old[before], new[after])
        old, new = (
            {name: model for name, model in models.items() if name not in settled}
            for models, settled in ((old, versions.old), (new, versions.new))
        )
    for name in [name for name in old if name in new]:
        yield Pair(old.pop(name), new.pop(name))
    if len(old) == len(new) == 1:
        yield Pair(next(iter(old.values())), next(iter(new.values())))


def unchanged(ctx: Context, pair: Pair) -> bool:
    """Whether both files, and the external data they name, are known to be the same bytes."""
    if ctx.same(pair.old.file, pair.new.file) != "same":
        return False
    return all(ctx.same(beside(pair.old, name), beside(pair.new, name)) == "same" for name in pair.new.external_files())


def beside(model: OnnxModel, location: str) -> str:
    """The name in the model's folder of an external data location, which is relative to the ONNX file."""
    return (PurePosixPath(model.file).parent / location).as_posix()


def promised(model: OnnxModel, what: What) -> list[Value]:
    """The inputs a client may send, or the outputs it may ask for, in order.

    Weights that old exporters (and IR 3) list among the inputs are left out: no client sends them.
    """
    graph = model.graph
    if what == "outputs":
        return graph.outputs
    names = {value.name for value in graph.inputs}
    weights = model.ir_version < 4 or (
        all(name in names for name in graph.initializers)
        and any(tensor.numel > _SCALAR for tensor in graph.initializers.values())
    )
    return [value for value in graph.inputs if not (weights and value.name in graph.initializers)]


def optional(model: OnnxModel, value: Value) -> bool:
    """Whether an input has a default."""
    return value.name in model.graph.initializers


def match(ctx: Context, pair: Pair, what: What) -> Matching:
    """Match by name, or by position where clients bind by index only."""
    old, new = promised(pair.old, what), promised(pair.new, what)
    result = Matching([], [], [], [])
    if ctx.serves("tensor") and not ctx.binds(what, "name"):
        result.kept = list(zip(old, new, strict=False))
        result.removed, result.added = old[len(new) :], new[len(old) :]
        return result
    news = {value.name: value for value in new}
    names = {value.name for value in old}
    result.kept = [(value, news[value.name]) for value in old if value.name in news]
    added = [value for value in new if value.name not in names]
    for value in (value for value in old if value.name not in news):
        twins = [each for each in added if each.type == value.type and _alike(value, each)]
        if not twins and len(added) == 1 and len(old) - len(result.kept) == 1:
            twins = [each for each in added if each.type == value.type and fits(value, each)]
        if len(twins) == 1:
            added.remove(twins[0])
            result.renamed.append((value, twins[0]))
        else:
            result.removed.append(value)
    result.added = added
    return result


def _alike(old: Value, new: Value) -> bool:
    """Same rank, the same axes dynamic, the others of the same size."""
    if old.shape is None or new.shape is None or len(old.shape) != len(new.shape):
        return False
    return all((dynamic(a) and dynamic(b)) or a == b for a, b in zip(old.shape, new.shape, strict=True))


def fits(old: Value, new: Value) -> bool:
    """Whether a shape could be the other one under a new name: same rank, no two different sizes."""
    if old.shape is None or new.shape is None or len(old.shape) != len(new.shape):
        return False
    return all(dynamic(a) or dynamic(b) or a == b for a, b in zip(old.shape, new.shape, strict=True))


def dynamic(dimension: Dimension) -> bool:
    """Whether a dimension is open: named, missing, or a size below one, which some exporters write for it."""
    return not isinstance(dimension, int) or dimension <= 0


def symbol(dimension: Dimension) -> str:
    """The name of a dynamic dimension where it means something, else ''."""
    return dimension if isinstance(dimension, str) and not re.fullmatch(_ANONYMOUS, dimension) else ""


def show(value: Value) -> str:
    """A type and shape for people: float[2,?,128]."""
    kind = value.type.removeprefix("tensor(").removesuffix(")") if value.type.startswith("tensor(") else value.type
    if value.shape is None:
        return f"{kind}[…]" if value.type.startswith("tensor(") else kind
    return f"{kind}[{','.join(show_size(size) for size in value.shape)}]"


def show_size(dimension: Dimension) -> str:
    """A dimension for people."""
    if isinstance(dimension, str) and dimension:
        return dimension
    return "?" if dynamic(dimension) else str(dimension)
