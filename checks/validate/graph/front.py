"""What a graph does with an input before the first trained operator: scale, layout, order of channels, quantisation."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

from ....models.onnx_flow import Step
from ....models.onnx_values import Values
from .reading import MEASURES, SHAPING, TRANSPARENT, Reading, integral

_KEEPS = TRANSPARENT | {"Clip", "Pad", "Resize", "Relu", "CenterCropPad"}
_CHANNELS = 4  # constants for up to so many are of images; more are features, whose scale was learned
_STEPS = 60


@dataclass(slots=True)
class Front:
    """`scale` is the factor applied to every value; `learned` where it is a vector over features. `turned` is the order
    in which the first trained operator `core` sees the input's axes, None where a reshape hides it. `swapped` is an
    order of channels, `quantised` the scale and zero point of the integers that a client sends, `rounded` whether
    the graph made them. `reversed` is set where large values become small ones."""

    scale: float = 1.0
    learned: bool = False
    turned: tuple[int, ...] | None = None
    swapped: tuple[int, ...] = ()
    quantised: tuple[Values, Values] | None = None
    rounded: bool = False
    reversed: bool = False
    core: str = ""


def front(reading: Reading, value: int, rank: int | None) -> Front:
    """Follow an input of a rank (None: not declared) to where several operators, or a trained one, take it."""
    found = Front(turned=None if rank is None else tuple(range(rank)))
    for _ in range(_STEPS):
        users = {id(step): (step, place) for step, place in reading.flow.users[value] if step.op not in MEASURES}
        if len(users) != 1:
            break
        step, place = next(iter(users.values()))
        if not step.outputs or not _passes(reading, step, place, found):
            found.core = step.op
            _quantised(reading, step, place, found)
            break
        value = step.outputs[0]
        if step.op == "Split":
            joined = _joined(reading, step)
            if joined is None:
                break
            found.swapped, value = joined
    return found


def compared(reading: Reading, value: int) -> set[str]:
    """The integers that an input itself is compared with: the id of padding, the sample rates that are known."""
    found: set[str] = set()
    todo = [value]
    for _ in range(_STEPS):
        if not todo:
            break
        for step, place in reading.flow.users[todo.pop()]:
            if step.op in ("Equal", "Greater", "Less") and len(step.inputs) == 2:
                other = step.inputs[1 - place]
                said = reading.values(other) if integral(reading.held(other)) else None
                found.update(f"{step.op.lower()} {each}" for each in said or ())
            elif step.op in TRANSPARENT | SHAPING and place == 0:
                todo.extend(step.outputs)
    return found


def _passes(reading: Reading, step: Step, place: int, found: Front) -> bool:
    """Whether an operator only prepares its input; notes what it does."""
    op = step.op
    if step.domain == "ai.onnx.ml":
        return op in ("Imputer", "Scaler") and (op == "Imputer" or _scaled(found, reading.setting(step, "scale"), 1))
    if step.domain and op != "DequantizeLinear":
        return False
    if op in _KEEPS:
        return place == 0
    if op in SHAPING:
        found.turned = None
        return place == 0
    if op == "Transpose":
        turn = reading.setting(step, "perm")
        if found.turned is not None:
            order = tuple(int(each) for each in turn) if turn else tuple(range(len(found.turned)))[::-1]
            whole = sorted(order) == [*range(len(found.turned))]
            found.turned = tuple(found.turned[i] for i in order) if whole else None
        return True
    if op in ("Neg", "Not"):
        found.reversed = not found.reversed
        return True
    if op in ("Add", "Sub"):
        if reading.values(step.inputs[1 - place]) is None:
            return False
        found.reversed ^= op == "Sub" and place == 1
        return True
    if op in ("Mul", "Div"):
        return (place == 0 or op == "Mul") and _scaled(
            found, reading.values(step.inputs[1 - place]), -1 if op == "Div" else 1
        )
    if op == "QuantizeLinear":
        # Numbers rounded on the way: their own integers are none of the client's.
        found.rounded = place == 0 and _scaled(found, reading.values(step.inputs[1]), -1)
        return found.rounded
    if op == "DequantizeLinear":
        return place == 0 and _quantised(reading, step, place, found)
    if op == "Split":
        return True
    return op in ("Gather", "Slice") and place == 0 and _order(reading, step, found)


def _scaled(found: Front, said: Values | None, power: int) -> bool:
    numbers = [abs(float(each)) for each in said or () if not isinstance(each, str)]
    if not numbers or not all(numbers):
        return False
    found.reversed ^= all(float(each) < 0 for each in said or ())
    if len(numbers) > _CHANNELS and len(set(numbers)) > 1:
        found.learned = True
    found.scale *= exp(power * sum(map(log, numbers)) / len(numbers))
    return True


def _quantised(reading: Reading, step: Step, place: int, found: Front) -> bool:
    """How the integers of an input are meant."""
    if step.op in ("DequantizeLinear", "QLinearConv", "QLinearMatMul") and place == 0 and len(step.inputs) > 1:
        scale = reading.values(step.inputs[1])
        zero = reading.values(step.inputs[2]) if len(step.inputs) > 2 and step.inputs[2] else None
        if scale is None:
            return False
        if not found.rounded:
            found.quantised = scale, zero or (0,)
        return _scaled(found, scale, 1)
    return False


def _order(reading: Reading, step: Step, found: Front) -> bool:
    """Whether an operator puts channels in another order."""
    if step.op == "Slice":
        steps = reading.values(step.inputs[4]) if len(step.inputs) > 4 else None
        if steps != (-1,):
            return False
        found.swapped = (-1,)
        return True
    order = reading.values(step.inputs[1])
    if order is None or len(order) < 2 or sorted(order, key=str) != [*range(len(order))]:
        return False
    found.swapped = tuple(int(each) for each in order)
    return True


def _joined(reading: Reading, step: Step) -> tuple[tuple[int, ...], int] | None:
    """The order in which a Concat joins what a Split took apart, and what it makes."""
    users = [user for output in step.outputs for user, _ in reading.flow.users[output]]
    if len(users) != len(step.outputs) or len({id(user) for user in users}) != 1 or users[0].op != "Concat":
        return None
    if not users[0].outputs or not set(users[0].inputs) <= set(step.outputs):
        return None
    return tuple(step.outputs.index(each) for each in users[0].inputs), users[0].outputs[0]
