"""ONX-SHAPE: shapes that follow from the operators cannot meet, or are not what the graph declares or clients know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ....models.onnx import OnnxModel, Value
from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from .contract import Pair, What, dynamic, match, pairs, promised, show_size, symbol, unchanged
from .shapes.engine import Inferred
from .shapes.known import by_name, inferred
from .shapes.samples import Name, apart
from .shapes.terms import Shape, Term, axis_of, fixed, show, unclear

RULE = Rule(
    id="ONX-SHAPE",
    name="shapes-disagree",
    family="ONX",
    severity=Severity.ERROR,
    summary="shapes that the operators give cannot meet, or are not those that the graph declares or the old one has",
    what="Shapes of all tensors as they follow from the operators, the declared inputs, the dims of weights and small "
    "constants: operands that never fit, outputs declared with another size, and sizes that the declaration leaves "
    "open but that differ from those of the old graph: how many features the weights ask for, how long a table of "
    "positions is, and what share of the input's size an output has.",
    why="the load or every request fails, or clients get another shape than the graph promises: runtimes only warn",
    hint="export the graph again from the weights that it ships with, with dynamic axes where clients vary a size",
    exemptions=(
        "operators whose shapes are not worked out (control flow, custom ones), and what depends on them",
        "a declaration that is as wrong in the live graph",
        "an open input size that the live graph holds to the same number",
        "another formula that gives the same sizes for what clients usually send",
    ),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Operands first; where all fit, what comes out."""
    paired = {pair.new.file: pair for pair in pairs(ctx)}
    for file, model in ctx.new.onnx.items():
        found = inferred(ctx, ctx.new, model)
        for fault in found.faults[:_SHOWN]:
            yield ctx.finding(RULE, "breaks", fault.message, path=file, tensor=fault.tensor)
        if found.faults:
            continue
        pair = paired.get(file)
        if pair is None or ctx.old is None:
            yield from _alone(ctx, model, found)
        elif not unchanged(ctx, pair):
            yield from _Against(ctx, pair, inferred(ctx, ctx.old, pair.old), found).findings()


_SHOWN = 5


def _alone(ctx: Context, model: OnnxModel, found: Inferred) -> Iterator[Finding]:
    """Outputs that are not what is declared, and sizes that are declared open but are not."""
    for value in promised(model, "outputs"):
        shape = found.shape(value.name)
        if shape is None or value.shape is None:
            continue
        if len(shape) != len(value.shape):
            # Published models serve with such a declaration: their clients know what really comes.
            text = f"output '{value.name}' is declared with {len(value.shape)} dimensions, but has {len(shape)}"
            yield ctx.finding(RULE, "unproven", text, path=model.file, tensor=value.name, pointer="graph.output")
            continue
        for axis, (term, declared) in enumerate(zip(shape, value.shape, strict=True)):
            if fixed(term) not in (None, declared) and not dynamic(declared):
                text = f"output '{value.name}' axis {axis} is declared as {declared}, but is {show(term)}"
                # The runtime warns and serves what comes.
                yield ctx.finding(RULE, "unproven", text, path=model.file, tensor=value.name, pointer=_pointer(axis))
    outputs = _names(model, "outputs")
    for value, axis, number, why in _held(model, found):
        if symbol((value.shape or ())[axis]) in outputs:
            text = f"input '{value.name}' axis {axis} is declared open, but only {number} works: {why}"
            yield ctx.finding(RULE, "breaks", text, path=model.file, tensor=value.name, pointer=_pointer(axis, "input"))


def _held(model: OnnxModel, found: Inferred) -> Iterator[tuple[Value, int, int, str]]:
    """Open axes of inputs for which the graph works with one number only: (input, axis, number, why)."""
    for value in promised(model, "inputs") if found.required else ():
        for axis, size in enumerate(value.shape or ()):
            if dynamic(size) and (held := found.required.get(axis_of(value.name, axis))):
                yield value, axis, *held


def _names(model: OnnxModel, what: What) -> set[str]:
    """Names that mean something of open sizes."""
    return {symbol(size) for value in promised(model, what) for size in value.shape or ()} - {""}


def _open(model: OnnxModel) -> set[str]:
    """The axes of inputs whose size clients choose."""
    return {
        axis_of(value.name, axis)
        for value in promised(model, "inputs")
        for axis, size in enumerate(value.shape or ())
        if dynamic(size)
    }


def _scaled(old: Term, new: Term) -> bool:
    """Whether two sizes differ by a factor whatever clients send."""
    return old[0] != new[0] and old[1] == new[1] and not unclear(old)


def _pointer(axis: int, what: str = "output") -> str:
    return f"graph.{what}.type.shape.dim[{axis}]"


@dataclass(slots=True)
class _Against:
    """Two graphs with what follows from each."""

    ctx: Context
    pair: Pair
    old: Inferred
    new: Inferred

    def findings(self) -> Iterator[Finding]:
        """Inputs that take fewer sizes, then outputs of other sizes."""
        held = dict(self._inputs())
        yield from held.values()
        for old, new in match(self.ctx, self.pair, "outputs").all_kept:
            yield from self._output(old, new, held)

    def _inputs(self) -> Iterator[tuple[str, Finding]]:
        """By the name of the size: what is declared open on both sides, and held to a number in NEW."""
        before = {new.name: old for old, new in match(self.ctx, self.pair, "inputs").all_kept}
        for value, axis, number, why in _held(self.pair.new, self.new):
            old = before.get(value.name)
            if old is None or old.shape is None or axis >= len(old.shape):
                continue
            size = old.shape[axis]
            known = self.old.required.get(axis_of(old.name, axis), (size if not dynamic(size) else None, ""))[0]
            known = self.old.either.get(axis_of(old.name, axis), (None, ""))[0] if known is None else known
            least = self.old.least.get(axis_of(old.name, axis), (None, ""))[0] if known is None else None
            if number in (known, least):
                continue
            # Where not all of the old graph is known, it may hold the size, too.
            doubtful = known is None and (self.old.blind if least is None else least < number)
            text = f"input '{value.name}' axis {axis} only works with another size"
            was = least if known is None and least is not None else known
            yield self._input(
                value, axis, text, show_size(size) if was is None else was, held=(number, why), doubtful=doubtful
            )
        yield from self._multiples(before)
        yield from self._looser(before)

    def _looser(self, before: dict[str, Value]) -> Iterator[tuple[str, Finding]]:
        """Open sizes that NEW takes as one number or 1, or from or up to a number."""
        for value in promised(self.pair.new, "inputs") if self.new.either or self.new.least or self.new.most else ():
            old = before.get(value.name)
            for axis, size in enumerate(value.shape or ()):
                name = axis_of(value.name, axis)
                if not dynamic(size) or name in self.new.required or old is None or axis >= len(old.shape or ()):
                    continue
                sent, held = (old.shape or ())[axis], axis_of(old.name, axis)
                exact = self.old.required.get(held) or self.old.either.get(held)
                known = sent if isinstance(sent, int) and not dynamic(sent) else exact[0] if exact else None
                least = self.old.least.get(held, (0, ""))[0]
                number, why = self.new.either.get(name, (0, ""))
                if number and known not in (1, number) and (known is not None or least != number):
                    doubtful = known is None and (self.old.blind or 0 < least < number)
                    text = f"input '{value.name}' axis {axis} only works with another size"
                    yield self._input(
                        value, axis, text, known or least or show_size(sent), held=(number, why), doubtful=doubtful
                    )
                    continue
                number, why = self.new.least.get(name, (0, ""))
                if number > (least if known is None else known):
                    text = f"input '{value.name}' axis {axis} needs a larger size"
                    yield self._input(
                        value, axis, text, known or least or show_size(sent), held=(number, why), doubtful=known is None
                    )

                number, why = self.new.most.get(name, (0, ""))
                most = known or self.old.most.get(held, (0, ""))[0]
                if 0 < number < most:
                    text = f"input '{value.name}' axis {axis} only works up to a smaller size"
                    yield self._input(value, axis, text, most, held=(number, why), doubtful=False)

    def _input(
        self, value: Value, axis: int, text: str, old: str | int, *, held: tuple[int, str], doubtful: bool
    ) -> tuple[str, Finding]:
        level: Level = "unproven" if doubtful else self.ctx.client_level("tensor")
        new, why = held
        path, place = self.pair.new.file, _pointer(axis, "input")
        return axis_of(value.name, axis), self.ctx.finding(
            RULE, level, text, old=old, new=new, why=why, path=path, tensor=value.name, pointer=place
        )

    def _multiples(self, before: dict[str, Value]) -> Iterator[tuple[str, Finding]]:
        """Open sizes that NEW can only divide into pieces of another length."""
        for value in promised(self.pair.new, "inputs") if self.new.multiples else ():
            old = before.get(value.name)
            for axis, size in enumerate(value.shape or ()):
                held = self.new.multiples.get(axis_of(value.name, axis))
                if held is None or not dynamic(size) or old is None or old.shape is None or axis >= len(old.shape):
                    continue
                sent, known = old.shape[axis], self.old.multiples.get(axis_of(old.name, axis), (1, ""))[0]
                if held[0] == known or (not dynamic(sent) and isinstance(sent, int) and sent % held[0] == 0):
                    continue
                text = f"input '{value.name}' axis {axis} only works in multiples of {held[0]}"
                level: Level = "unproven" if self.old.blind else self.ctx.client_level("tensor")
                place = _pointer(axis, "input")
                yield (
                    axis_of(value.name, axis),
                    self.ctx.finding(
                        RULE, level, text, path=self.pair.new.file, tensor=value.name, pointer=place, why=held[1]
                    ),
                )

    def _output(self, old: Value, new: Value, held: dict[str, Finding]) -> Iterator[Finding]:
        """Where the declarations differ, their own rules speak."""
        a, b = self.old.shape(old.name), self.new.shape(new.name)
        rank = len(a) if a is not None else None if old.shape is None else len(old.shape)
        if b is None or rank is None:
            return
        if len(b) != rank:
            if old.shape is None or new.shape is None or len(old.shape) == len(new.shape):
                text = f"output '{new.name}' really has {len(b)} dimensions, had {rank}"
                yield self._finding(new, self._level(a), text)
            return
        for axis, term in enumerate(b):
            declared = tuple(s.shape[axis] if s.shape and len(s.shape) == rank else None for s in (old, new))
            if not dynamic(declared[1]) and declared[0] != declared[1]:
                continue
            if (number := fixed(term)) is None:
                if a is not None and _scaled(a[axis], term) and by_name(self.ctx):
                    text = f"output '{new.name}' axis {axis} is really {show(term)}, was {show(a[axis])}"
                    yield self._finding(new, self.ctx.client_level("tensor"), text, axis)
                elif a is not None and (other := self._apart(new, axis, a[axis], term)):
                    yield other
                continue
            text = f"output '{new.name}' axis {axis} is"
            before = None if a is None else fixed(a[axis])
            if before is not None or not dynamic(declared[0]):
                before = before if before is not None else declared[0]
                if before != number:
                    yield self._finding(new, self._level(a), f"{text} really {number}, was {before}", axis)
            elif not dynamic(declared[1]) or held:
                continue  # fixed by declaration, which ONX-DIM-NARROW judges, or told as an input's size
            elif a is not None and self._sent(a, axis):
                text = f"{text} always {number}, was the size of {show(a[axis])}"
                yield self._finding(new, self.ctx.client_level("tensor"), text, axis)
            elif a is not None and (other := self._apart(new, axis, a[axis], term)):
                yield other
            elif symbol(declared[0]) in _names(self.pair.old, "inputs"):
                yield self._finding(new, "unproven", f"{text} always {number}, was declared as {declared[0]}", axis)

    def _apart(self, value: Value, axis: int, old: Term, new: Term) -> Finding | None:
        """A size that is another one for what clients send, where they choose the same sizes in both graphs."""
        if _open(self.pair.old) != _open(self.pair.new) or not by_name(self.ctx):
            return None
        names = [name for side in (self.old, self.new) for name in (*side.required, *side.either)]
        held = {axis for name in names for axis in (name.of if isinstance(name, Name) else (name,))}
        found = apart(old, new, held)
        if found is None:
            return None
        often, size, was, now = found
        text = f"output '{value.name}' axis {axis} is really {now} for an input of {size}, was {was}"
        return self._finding(value, self.ctx.client_level("tensor") if often == "always" else "unproven", text, axis)

    def _level(self, old: Shape | None) -> Level:
        """Of an output that differs from a shape of the old graph that is inferred, or only declared."""
        return "unproven" if old is None else self.ctx.client_level("tensor")

    def _sent(self, shape: Shape, axis: int) -> bool:
        """Whether an output size of the old graph is what clients send as an open size of an input, in both graphs."""
        number, names = shape[axis]
        if number != 1 or len(names) != 1 or names[0] in self.old.required:
            return False
        return names[0] in _open(self.pair.new)

    def _finding(self, new: Value, level: Level, text: str, axis: int | None = None) -> Finding:
        pointer = "graph.output" if axis is None else _pointer(axis)
        return self.ctx.finding(RULE, level, text, path=self.pair.new.file, tensor=new.name, pointer=pointer)
