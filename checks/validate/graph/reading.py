"""The steps of a graph with what their small constants and attributes say."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager

from ....models.onnx import Value
from ....models.onnx_flow import Flow, Held, Step
from ....models.onnx_values import Scalar, Values, setting, values
from ....models.source import Source, open_file
from ..rulebase import Context
from ..side import Side
from .contract import Pair, pairs, unchanged

# These change nothing that a client could tell from the values: layout is judged by who needs it.
SHAPING = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Expand"})
TRANSPARENT = frozenset({"Identity", "Cast", "Dropout", "CastLike"})
MEASURES = frozenset({"Shape", "Size"})  # what they say of a value is not what the value says
_DEEP = 400
_ROUNDING = 1e-3  # scales that differ by less are the same number in another type


class Reading:
    """One side's flow, its source open."""

    def __init__(self, flow: Flow, source: Source, declared: Iterable[Value] = ()) -> None:
        self.flow = flow
        self.source = source
        self.declared = {value.name: value for value in declared}
        self.names = {value: name for name, value in flow.inputs.items()}
        self._values: dict[int, Values | None] = {}

    def maker(self, value: int) -> tuple[Step, int] | None:
        """The step that makes a value and as which output."""
        return self.flow.maker.get(value)

    def plain(self, value: int) -> int:
        """The value behind operators that leave values as they are, whatever they do to its shape or type."""
        for _ in range(_DEEP):
            made = self.flow.maker.get(value)
            if made is None or not made[0].inputs:
                break
            step = made[0]
            if not step.domain and step.op in SHAPING | TRANSPARENT and step.inputs[0]:
                value = step.inputs[0]
            elif (behind := self.rounded(step)) is not None:
                value = behind
            else:
                break
        return value

    def rounded(self, step: Step) -> int | None:
        """What a DequantizeLinear makes numbers of again: the ones that were rounded, or a quantised operator's."""
        made = self.maker(step.inputs[0]) if step.op == "DequantizeLinear" else None
        if made is None or self.rescaled(step):
            return None
        return made[0].inputs[0] if made[0].op == "QuantizeLinear" else step.inputs[0]

    def rescaled(self, step: Step) -> float:
        """The factor by which a DequantizeLinear gives back other numbers than were rounded, 0 where it is none."""
        if step.op != "DequantizeLinear":
            return 0.0
        made = self.maker(step.inputs[0])
        if made is None or made[0].op != "QuantizeLinear":
            return 0.0
        scales = [*made[0].inputs[1:2], *step.inputs[1:2]]
        if len(scales) != 2:
            return 0.0
        was, now = map(self.values, scales)
        if not was or not now or was == now or isinstance(was[0], str) or isinstance(now[0], str) or not was[0]:
            return 0.0
        factor = float(now[0]) / float(was[0])
        return factor if abs(factor - 1) > _ROUNDING else 0.0

    def held(self, value: int) -> Held | None:
        """The constant behind a value, None where it is computed or sent. Its dims may be those before a reshape."""
        return self.flow.held.get(self.plain(value)) if value else None

    def values(self, value: int) -> Values | None:
        """What a constant holds; None where it is none, or long."""
        if value not in self._values:
            held = self.held(value)
            found = None
            if held is not None and held.tensor is not None:
                found = values(self.source, held.tensor)
            elif held is not None and held.attribute is not None:
                found = setting(self.source, held.attribute)
            self._values[value] = found
        return self._values[value]

    def setting(self, step: Step, name: str) -> Values | None:
        """What an attribute says, None where the step does not have it."""
        attribute = step.attributes.get(name)
        return None if attribute is None else setting(self.source, attribute)

    def scalar(self, step: Step, name: str, default: Scalar) -> Scalar:
        """An attribute of one value."""
        found = self.setting(step, name)
        return found[0] if found else default

    def number(self, step: Step, name: str, default: int) -> int:
        """An attribute that is an integer."""
        found = self.scalar(step, name, default)
        return found if isinstance(found, int) else default

    def integers(self, step: Step, name: str, place: int | None = None) -> tuple[int, ...] | None:
        """Integers of an attribute, or of the input that it is at in newer operator sets."""
        found = self.setting(step, name)
        if found is None and place is not None and place < len(step.inputs):
            found = self.values(step.inputs[place])
        return None if found is None else tuple(each for each in found if isinstance(each, int))


def floats(said: Values | None) -> tuple[float, ...] | None:
    """Numbers as they are, None where some are texts: nothing keeps a file from putting those in their place."""
    return None if said is None or any(isinstance(each, str) for each in said) else tuple(map(float, said))


def textual(held: Held | None) -> bool:
    """Whether a constant is a tensor of strings."""
    return held is not None and held.tensor is not None and held.tensor.dtype == "string"


def integral(held: Held | None) -> bool:
    """Whether a constant is a tensor of integers or booleans, which no training moves."""
    return held is not None and held.tensor is not None and held.tensor.dtype.startswith(("int", "uint", "bool"))


def readings(ctx: Context) -> Iterator[tuple[Pair, Reading, Reading]]:
    """Pairs of files of which something changed, open for reading: (pair, old, new)."""
    for pair in pairs(ctx):
        if ctx.old is None or unchanged(ctx, pair):
            continue
        with _open(ctx.old, pair.old.file) as old, _open(ctx.new, pair.new.file) as new:
            yield pair, old, new


@contextmanager
def _open(side: Side, file: str) -> Generator[Reading]:
    with open_file(side.tree.files[file].path) as source:
        yield Reading(side.onnx_flow(file), source, side.onnx[file].graph.inputs)
