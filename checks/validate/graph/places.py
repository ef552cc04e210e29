"""A value that is followed from an output back towards the inputs."""

from __future__ import annotations

from typing import NamedTuple

from .families import INTEGERS
from .reading import SHAPING, TRANSPARENT, Reading
from .traits import clipped

_FAR = 2000


class At(NamedTuple):
    """A value on one side, and how its axes were turned on the way from the output."""

    value: int
    turned: tuple[tuple[int, ...], ...] = ()
    shaped: bool = False
    cut: bool = False  # to whole numbers or truth values


def skip(reading: Reading, at: At) -> At:
    """The value behind casts and changes of shape."""
    for _ in range(_FAR):
        made = reading.maker(at.value)
        if made is None or (made[0].domain and made[0].op != "DequantizeLinear") or not made[0].inputs:
            break
        step = made[0]
        if step.op == "Transpose":
            at = At(step.inputs[0], (*at.turned, reading.integers(step, "perm") or ()), at.shaped)
        elif step.op in TRANSPARENT:
            whole = step.op == "Cast" and reading.number(step, "to", 1) in INTEGERS
            at = at._replace(value=step.inputs[0], cut=at.cut or whole)
        elif (behind := reading.rounded(step)) is not None:
            at = at._replace(value=behind)
        elif step.op == "Clip" and clipped(reading, step):
            at = at._replace(value=step.inputs[0])
        elif step.op in SHAPING and step.inputs[0]:
            at = At(step.inputs[0], at.turned, True)
        else:
            break
    return at
