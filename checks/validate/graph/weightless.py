"""Outputs that nothing trained has a part in: preparation and post-processing kept as a graph of their own.

An update of such a graph is no retraining. Whatever it computes otherwise is another function.
"""

from __future__ import annotations

from ....models.onnx_flow import Held, Step
from ....models.onnx_values import values
from .classes import LOOKUPS
from .families import AFFINE
from .foreign import foreign, weight
from .prepared import FEW
from .reading import MEASURES, Reading

# With a constant of several numbers, these are layers.
_LAYERS = frozenset({"MatMul", "Gemm", "Conv", "ConvTranspose", "ConvInteger", "MatMulInteger", "Einsum", "PRelu"}) | {
    *("QLinearConv", "QLinearMatMul", "LSTM", "GRU", "RNN", "BatchNormalization", "LayerNormalization", "DeformConv"),
    *("InstanceNormalization", "GroupNormalization", "RMSNormalization", "Attention"),
}
# Of ai.onnx.ml, those that nothing is learned by.
_PLAIN_ML = frozenset({"Normalizer", "ArrayFeatureExtractor", "CastMap", "Binarizer"})
_RANDOM = frozenset({"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial"})
_STEPS = 4000
LONG = 1 << 17  # a constant of more numbers was trained, whatever takes it
_TABLE = 1 << 12
_SPARSE = 0.5


class Free:
    """The values of a graph that do not follow from what a client sends: `held` from constants alone, the others from
    sizes too."""

    def __init__(self, reading: Reading) -> None:
        self.ranks: dict[tuple[int, int], int | None] = {}  # what `sides` has worked out, by value and depth
        self.held = set(reading.flow.held)
        self.all = set(self.held)
        for step in reading.flow.steps:
            if step.op in _RANDOM or foreign(step):
                continue
            # Of its second input, a CastLike takes the type.
            used = [each for each in step.inputs[: 1 if step.op == "CastLike" else None] if each]
            if not step.domain and step.op in MEASURES:
                self.all.update(step.outputs)
            elif used and self.all.issuperset(used):
                self.all.update(step.outputs)
                if self.held.issuperset(used):
                    self.held.update(step.outputs)


def weightless(reading: Reading, free: Free, output: int) -> bool:
    """Whether an output follows from the inputs, and nothing in between was trained."""
    if not reading.flow.complete:
        return False
    seen: set[int] = set()
    todo, reached = [output], False
    while todo:
        value = todo.pop()
        if not value or value in seen or value in free.all:
            continue
        seen.add(value)
        reached |= value in reading.names
        made = reading.maker(value)
        if made is None:
            continue
        if len(seen) > _STEPS or _trained(reading, free, made[0]):
            return False
        todo.extend(made[0].inputs)
    return reached


def _trained(reading: Reading, free: Free, step: Step) -> bool:
    if step.domain == "ai.onnx.ml" or step.op == "TfIdfVectorizer":
        return step.op not in _PLAIN_ML
    tensors = [held for each in step.inputs if each in free.held for held in _tensors(reading, each)]
    numbers = [each for each in tensors if _fraction(each) and _size(each) > FEW]
    if step.op in _LAYERS:
        return any(_size(each) > 1 for each in tensors) and not (
            step.op == "MatMul" and all(_bank(reading, each) for each in tensors)
        )
    if any(_size(each) > LONG for each in numbers):
        return True
    if step.domain or step.op in LOOKUPS:
        return bool(numbers) or any(each.tensor is not None and weight(each.tensor) for each in tensors)
    several = [each for each in tensors if _fraction(each) and _size(each) > 1]
    # A number for each column of a table is learned from the table.
    sent = [each for each in step.inputs if each not in free.all]
    learned = step.op in AFFINE and bool(several) and len(sent) == 1 and _column(reading, sent[0])
    return learned or any(_size(each) > _TABLE for each in several)


def _tensors(reading: Reading, value: int) -> list[Held]:
    """The constants that a value is made of."""
    found: list[Held] = []
    todo, seen = [value], set[int]()
    while todo and len(seen) < FEW * FEW:
        each = todo.pop()
        if not each or each in seen:
            continue
        seen.add(each)
        held = reading.flow.held.get(each)
        if held is not None:
            found.append(held)
        elif (made := reading.maker(each)) is not None:
            todo.extend(made[0].inputs)
    return found


def _size(held: Held) -> int:
    return held.tensor.numel if held.tensor is not None else 1


def _fraction(held: Held) -> bool:
    return held.tensor is not None and held.tensor.dtype.startswith(("float", "double", "bfloat"))


def _bank(reading: Reading, held: Held) -> bool:
    """Whether a matrix is a bank of filters: none of its numbers is negative, and most are zero."""
    said = values(reading.source, held.tensor, LONG) if held.tensor is not None else None
    if not said or any(isinstance(each, str) or each < 0 for each in said):
        return False
    return said.count(0) >= _SPARSE * len(said)


def _column(reading: Reading, value: int) -> bool:
    """Whether a value is a table as a client sends it."""
    declared = reading.declared.get(reading.names.get(reading.plain(value), ""))
    return declared is not None and (declared.shape is None or len(declared.shape) <= FEW // 2)
