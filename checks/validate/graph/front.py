"""What a graph does with an input before the first trained operator: scale, layout, order of channels, quantisation."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, isfinite, log

from ....models.onnx_flow import Step
from ....models.onnx_values import Values
from .curves import FUNCTIONS, OWN, function
from .prepared import FEW, Prepared
from .reading import MEASURES, SHAPING, TRANSPARENT, Reading, integral

_KEEPS = TRANSPARENT | {"Clip", "Pad", "Resize", "Relu", "CenterCropPad"}
_ASKS = MEASURES | {"IsNaN"}  # of a value, not for it
_BOUND = 690  # of a logarithm, short of where floats end
_STEPS = 60


@dataclass(slots=True)
class Front:
    """`scale` is the factor applied to every value; `learned` where it is a vector over features. `turned` is the order
    in which the first trained operator `core` sees the input's axes, None where a reshape hides it. `swapped` is an
    order of channels, `quantised` the scale and zero point of the integers that a client sends, `rounded` the scale
    by which the graph made them. `reversed` is set where large values become small ones. `function` is what the values
    are brought through first, or the operator that takes them; empty where that is not known."""

    scale: float = 1.0
    learned: bool = False
    turned: tuple[int, ...] | None = None
    swapped: tuple[int, ...] = ()
    quantised: tuple[Values, Values] | None = None
    rounded: float = 0.0
    reversed: bool = False
    core: str = ""
    prepared: Prepared = field(default_factory=Prepared)
    function: str = ""


def front(reading: Reading, value: int, rank: int | None) -> Front:
    """Follow an input of a rank (None: not declared) to where several operators, or a trained one, take it."""
    found = Front(turned=None if rank is None else tuple(range(rank)))
    for _ in range(_STEPS):
        users = {id(step): (step, place) for step, place in reading.flow.users[value] if step.op not in _ASKS}
        found.function = function(reading, value, list(users.values()))
        if found.prepared.many and found.function in FUNCTIONS:
            found.function = ""  # the distance to learned features is squared by what is trained
        if len(users) != 1 or found.function == OWN:
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
            found.prepared.reorder(found.swapped)
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
        return op == "Imputer" or (op == "Scaler" and _scaler(reading, step, found))
    if step.domain and op != "DequantizeLinear":
        return False
    if op in _KEEPS:
        return place == 0
    if op == "Where":
        return place == 2 and _fills(reading, step)
    if op in SHAPING:
        found.turned = None
        return place == 0
    if op == "Transpose":
        if found.turned is not None:
            order = reading.integers(step, "perm") or tuple(range(len(found.turned)))[::-1]
            whole = sorted(order) == [*range(len(found.turned))]
            found.turned = tuple(found.turned[i] for i in order) if whole else None
        return True
    if op in ("Neg", "Not"):
        found.reversed = not found.reversed
        found.prepared.multiply((-1,))
        return True
    if op in ("Add", "Sub"):
        said = reading.values(step.inputs[1 - place])
        if said is None:
            return False
        if op == "Sub" and place == 1:
            found.reversed = not found.reversed
            found.prepared.multiply((-1,))
        found.prepared.add(said, -1 if op == "Sub" and place == 0 else 1)
        return True
    if op in ("Mul", "Div"):
        return (place == 0 or op == "Mul") and _scaled(
            found, reading.values(step.inputs[1 - place]), -1 if op == "Div" else 1
        )
    if op == "BatchNormalization":
        return place == 0 and _standardised(reading, step, found)
    if op == "QuantizeLinear":
        # Numbers rounded on the way: their own integers are none of the client's.
        scale = reading.values(step.inputs[1])
        if place or not _scaled(found, scale, -1) or scale is None:
            return False
        found.rounded = abs(float(scale[0]))
        found.prepared.add(_zero(reading, step))
        return True
    if op == "DequantizeLinear":
        return place == 0 and _quantised(reading, step, place, found)
    if op == "Split":
        return True
    return op in ("Gather", "Slice") and place == 0 and _order(reading, step, found)


def _scaler(reading: Reading, step: Step, found: Front) -> bool:
    """Scaler of ai.onnx.ml: scale · (x - offset)."""
    offset = reading.setting(step, "offset")
    if offset:
        found.prepared.add(offset, -1)
    return _scaled(found, reading.setting(step, "scale"), 1)


def _standardised(reading: Reading, step: Step, found: Front) -> bool:
    """A BatchNormalization that only brings channels to a mean of zero and a deviation of one: nobody trained it."""
    said = [reading.values(each) for each in step.inputs[1:5]]
    if len(said) < 4 or any(each is None or len(each) > FEW for each in said):
        return False
    gain, bias, mean, variance = said
    if set(gain or ()) != {1.0} or set(bias or ()) != {0.0}:
        return False
    guard = reading.scalar(step, "epsilon", 1e-5)
    if isinstance(guard, str) or any(isinstance(each, str) or each + guard < 0 for each in variance or ()):
        return False
    found.prepared.add(mean, -1)
    return _scaled(found, tuple((float(each) + guard) ** 0.5 for each in variance or ()), -1)


def _fills(reading: Reading, step: Step) -> bool:
    """Whether a Where puts a constant in the place of what is missing."""
    asked = reading.maker(step.inputs[0])
    return asked is not None and asked[0].op == "IsNaN" and reading.held(step.inputs[1]) is not None


def _scaled(found: Front, said: Values | None, power: int) -> bool:
    numbers = [abs(float(each)) for each in said or () if not isinstance(each, str)]
    if not numbers or not all(each and isfinite(each) for each in numbers):
        return False
    found.prepared.multiply(said, power)
    found.reversed ^= all(float(each) < 0 for each in said or ())
    if len(numbers) > FEW and len(set(numbers)) > 1:
        found.learned = True
    # Between bounds, so that no factor, and no number of them, makes it none that can be divided by.
    factor = exp(min(max(power * sum(map(log, numbers)) / len(numbers), -_BOUND), _BOUND))
    found.scale = min(max(found.scale * factor, exp(-_BOUND)), exp(_BOUND))
    return True


def _zero(reading: Reading, step: Step) -> Values:
    """The zero point of integers."""
    said = reading.values(step.inputs[2]) if len(step.inputs) > 2 and step.inputs[2] else None
    return said or (0,)


def _quantised(reading: Reading, step: Step, place: int, found: Front) -> bool:
    """How the integers of an input are meant."""
    if step.op in ("DequantizeLinear", "QLinearConv", "QLinearMatMul") and place == 0 and len(step.inputs) > 1:
        scale = reading.values(step.inputs[1])
        if scale is None:
            return False
        if not found.rounded:
            found.quantised = scale, _zero(reading, step)
        found.prepared.add(_zero(reading, step), -1)
        return _scaled(found, scale, 1)
    return False


def _order(reading: Reading, step: Step, found: Front) -> bool:
    """Whether an operator puts channels in another order."""
    if step.op == "Slice":
        steps = reading.values(step.inputs[4]) if len(step.inputs) > 4 else None
        if steps != (-1,):
            return False
        found.swapped = (-1,)
        found.prepared.reorder(found.swapped)
        return True
    order = reading.values(step.inputs[1])
    if order is None or len(order) < 2 or sorted(order, key=str) != [*range(len(order))]:
        return False
    places = tuple(int(each) for each in order)
    if places != (*range(len(places)),):
        found.swapped = places
        found.prepared.reorder(places)
    return True


def _joined(reading: Reading, step: Step) -> tuple[tuple[int, ...], int] | None:
    """The order in which a Concat joins what a Split took apart, and what it makes."""
    users = [user for output in step.outputs for user, _ in reading.flow.users[output]]
    if len(users) != len(step.outputs) or len({id(user) for user in users}) != 1 or users[0].op != "Concat":
        return None
    if not users[0].outputs or not set(users[0].inputs) <= set(step.outputs):
        return None
    return tuple(step.outputs.index(each) for each in users[0].inputs), users[0].outputs[0]
